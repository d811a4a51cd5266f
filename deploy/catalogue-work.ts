import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CatalogueBusy, CatalogueWriter, type CatalogueStatus } from '../db/catalogue/writer.ts';
import {
  CatalogueFileError,
  indexCatalogue,
  loadCatalogue,
  type LoadReport,
} from '../domain/audience/prospect-catalogue/load.ts';
import { COMPANY_COLUMNS, PERSON_COLUMNS } from '../domain/audience/prospect-catalogue/records.ts';
import { sampleLines } from '../domain/audience/prospect-catalogue/sample.ts';
import type { Config } from '../lib/config/index.ts';
import { OperatorError } from './waiting.ts';

/** Maximum number of faulty lines printed; the rest are counted. */
const SHOWN_REFUSED = 1_000;

/**
 * `heron catalogue load`: loads a file and reports progress and skipped lines on standard error.
 * @throws OperatorError
 */
export async function loadFile(
  config: Config,
  file: string,
  options: { format?: 'csv' | 'jsonl'; source?: string; period?: string },
  say: (line: string) => void,
): Promise<LoadReport> {
  let shown = 0;
  const report = await explained(() =>
    loadCatalogue({
      ...ownerOf(config),
      file,
      format: options.format,
      source: options.source,
      sourcePeriod: options.period,
      onRefused(line, faults) {
        shown += 1;
        if (shown <= SHOWN_REFUSED) say(`line ${line} is left out: ${faults.join(', ')}`);
      },
      onProgress: (progress, step) =>
        say(step ?? `${progress.people + progress.companies} stored, up to line ${progress.linesDone}`),
    }),
  );
  if (shown > SHOWN_REFUSED) say(`... and ${shown - SHOWN_REFUSED} more lines`);
  return report;
}

/** `heron catalogue index`: creates missing indexes and lists them. */
export async function indexMissing(config: Config, say: (line: string) => void): Promise<{ made: string[] }> {
  return { made: await explained(() => indexCatalogue(ownerOf(config), say)) };
}

/** `heron catalogue status`: reports the catalogue's size and its loads. */
export async function catalogueStatus(config: Config): Promise<CatalogueStatus> {
  return explained(async () => {
    const { url, reader } = ownerOf(config);
    const writer = await CatalogueWriter.open(url, { person: PERSON_COLUMNS, company: COMPANY_COLUMNS }, reader);
    try {
      return await writer.status();
    } finally {
      await writer.close();
    }
  });
}

/** `heron catalogue sample`: writes a file of fictitious people and companies. */
export async function writeSample(file: string, people: number, companies: number): Promise<void> {
  await pipeline(Readable.from(sampleLines(people, companies)), createWriteStream(file));
}

function ownerOf(config: Config): { url: string; reader: string | undefined } {
  const url = config.PROSPECT_OWNER_DB ?? config.PROSPECT_DB;
  if (!url) throw new OperatorError('No catalogue is set: PROSPECT_DB names it (docs/guides/prospect-catalogue.md)');
  const reader = config.PROSPECT_DB ? decodeURIComponent(new URL(config.PROSPECT_DB).username) : '';
  return { url, reader: reader || undefined };
}

async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CatalogueBusy || error instanceof CatalogueFileError) throw new OperatorError(error.message);
    const { code, message } = error as { code?: string; message?: string };
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR') throw new OperatorError(message!);
    if (code === '42501' || code === '25006')
      throw new OperatorError('The role may not write the catalogue: PROSPECT_OWNER_DB names the role that owns it');
    if (code !== undefined && /^(28|3D|08|57)|^E[A-Z]+$/.test(code))
      throw new OperatorError(`The catalogue cannot be reached: ${message}`);
    throw error;
  }
}
