import { rm } from 'node:fs/promises';
import type { ColumnMapping } from '../../../db/models/contact-import.ts';
import { badRequest } from '../../../lib/errors.ts';
import { runInThread } from '../../../lib/thread.ts';
import { message } from '../../../messages/index.ts';
import type { Inspected, Inspection, InspectionAnswer, Outcome, ReadingChoices } from './inspect.ts';

const THREAD = new URL('./inspect-thread', import.meta.url);

/** A file, its detected format, and the expected result of an import. */
export interface ImportPreview extends Inspected {
  outcome: Outcome;
}

/**
 * Reads a whole file once and returns its columns, first rows, suggested mapping, and rows that would be lost.
 * @param mapping the person's mapping; defaults to the suggested one
 * @throws AppError bad_request when it is empty, or no table
 */
export async function previewFile(
  path: string,
  choices: ReadingChoices = {},
  mapping?: readonly ColumnMapping[],
): Promise<ImportPreview> {
  const inspected = await inspectInThread({ path, choices, preview: { mapping } });
  if (inspected.sheet) await rm(inspected.sheet.path, { force: true });
  return { ...inspected, outcome: inspected.outcome! };
}

/**
 * Detects the layout of a file. Writes the sheet of a workbook to a CSV file, which the caller must delete.
 * @param most maximum rows, without the header
 * @throws AppError bad_request when the file is empty, no table, or has too many rows
 */
export async function inspectForImport(path: string, choices: ReadingChoices, most: number): Promise<Inspected> {
  const inspected = await inspectInThread({ path, choices, most });
  if (inspected.rows <= most) return inspected;
  if (inspected.sheet) await rm(inspected.sheet.path, { force: true });
  throw badRequest(message('imports.refused'), [
    { path: 'body.file', message: message('imports.too_many_rows', { most }) },
  ]);
}

/** Inspects a file in a thread, because parsing takes one second per 20 MB and would block the event loop. */
async function inspectInThread(inspection: Inspection): Promise<Inspected> {
  const answer = await runInThread<Inspection, InspectionAnswer>(THREAD, inspection);
  if ('refused' in answer) throw badRequest(message('imports.refused'), [answer.refused]);
  return answer.inspected;
}
