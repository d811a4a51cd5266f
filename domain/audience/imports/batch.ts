import type { Columns } from '../../../db/rows.ts';
import type { ContactImportRow } from '../../../db/models/contact-import.ts';
import { addImportedLeads, addLeads } from '../leads/add.ts';
import type { ContactDraft } from '../../directory/contact-fields.ts';
import { addToCategories, upsertContacts } from '../contacts/upsert.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { suppressedAmong } from '../../directory/suppression-check.ts';
import { importOptOuts, unsubscribeNamed } from './opt-outs.ts';
import type { OptOut, RowReason } from './rows.ts';

/** A row that can be imported, judging by the file alone. */
export interface ImportRow {
  line: number;
  values: string[];
  draft: ContactDraft;
  categories: string[];
  optOut?: OptOut;
}

/** A row that is not imported, with the reason. */
export interface RowProblem {
  line: number;
  email: string;
  values: string[];
  reason: RowReason;
  /** Opt-out stated in the row. It is applied even though the row is not imported. */
  optOut?: OptOut;
}

/** Rows of a file that are read and committed together. */
export interface ImportBatch {
  rows: ImportRow[];
  problems: RowProblem[];
  /** `read`: number of rows read, valid or not. `readBytes`: bytes of the file read so far. */
  read: number;
  readBytes: number;
}

/** Reasons that are not faults of a row. Rows with such a reason are counted as skipped, all others as failed. */
const SKIPPED: readonly RowReason[] = ['duplicate_in_file', 'already_exists', 'suppressed'];
/** Reason that is reported for a row although the row is imported. */
const NOTED: RowReason = 'unclear_permission';

/**
 * Applies a batch and moves the checkpoint in one transaction, so that the job continues exactly at this position after
 * a crash. Suppressed addresses are reported, not imported. Opt-outs and bounces in a row are applied even if the row
 * is not imported. Contacts of a file emit no contact.created.
 * @throws AppError not_found when the import's campaign was deleted
 * @returns false when the job is no longer running, or another worker has moved its checkpoint; the batch is then not
 * applied
 */
export async function applyBatch(
  ctx: Pick<Ctx, 'config'>,
  tx: Tx,
  job: ContactImportRow,
  checkpoint: number,
  batch: ImportBatch,
): Promise<boolean> {
  const [mine] = await tx.org.sql(
    `select id from contact_imports where organization_id = :org and id = :id and status = 'running' and checkpoint = :checkpoint for update`,
    { id: job.id, checkpoint },
  );
  if (!mine) return false;

  const suppressed = await suppressedAmong(
    tx.org,
    batch.rows.map((row) => row.draft.email),
    tx.now,
  );
  const rows = suppressed.size === 0 ? batch.rows : batch.rows.filter((row) => !suppressed.has(row.draft.email));
  const optOuts = [...batch.rows, ...batch.problems].flatMap(({ optOut }) => optOut ?? []);
  // Suppressions are written before contacts everywhere. The opposite order could deadlock with a person who suppresses
  // an address.
  await importOptOuts(tx, job, optOuts);
  const stored = await upsertContacts(
    tx,
    rows.map((row) => row.draft),
    {
      existing: job.options.update_existing ? 'update' : 'keep',
      source: 'import',
      sourceDetail: job.filename,
    },
  );
  const idOf = new Map(stored.map((row) => [row.email, row.id]));
  const imported = stored.filter((row) => row.inserted).length;

  await unsubscribeNamed(tx, optOuts);
  await addToCategories(tx.org, [...idOf.values()], job.options.categories);
  await fileByTitle(tx, rows, idOf);
  await addToCampaign(ctx, tx, job, [...idOf.values()]);

  const problems = [
    ...batch.problems,
    ...batch.rows.filter((row) => suppressed.has(row.draft.email)).map((row) => asProblem(row, 'suppressed')),
    ...rows
      .filter((row) => !idOf.has(row.draft.email))
      .map((row) => asProblem(row, job.options.update_existing ? 'too_many_fields' : 'already_exists')),
    ...rows
      .filter((row) => row.optOut?.state === 'unclear' && idOf.has(row.draft.email))
      .map((row) => asProblem(row, NOTED)),
  ];
  await reportProblems(tx, job.id, problems);
  const skipped = problems.filter((problem) => SKIPPED.includes(problem.reason)).length;
  const unclear = problems.filter((problem) => problem.reason === NOTED).length;
  await moveCheckpoint(tx, job.id, batch, {
    imported,
    updated: stored.length - imported,
    skipped,
    failed: problems.length - skipped - unclear,
    unclear,
  });
  return true;
}

async function addToCampaign(
  { config }: Pick<Ctx, 'config'>,
  tx: Tx,
  { id, options: { campaign_id: campaignId, requested_by: credential } }: ContactImportRow,
  ids: readonly string[],
): Promise<void> {
  if (!campaignId || ids.length === 0) return;
  if (credential) await addImportedLeads(tx, campaignId, ids, id);
  else await addLeads(tx, config, campaignId, ids, 'import');
}

/** Advances the checkpoint past a batch, and adds the batch's counts. */
async function moveCheckpoint(
  tx: Tx,
  importId: string,
  { read, readBytes }: Pick<ImportBatch, 'read' | 'readBytes'>,
  counts: Record<'imported' | 'updated' | 'skipped' | 'failed' | 'unclear', number>,
): Promise<void> {
  await tx.org.sql(
    `update contact_imports set checkpoint = checkpoint + :read, total = total + :read, imported = imported + :imported,
       updated = updated + :updated, skipped = skipped + :skipped, failed = failed + :failed, unclear = unclear + :unclear,
       read_bytes = greatest(read_bytes, :readBytes), updated_at = :now
     where organization_id = :org and id = :id`,
    { id: importId, now: tx.now, read, readBytes, ...counts },
  );
}

function asProblem(row: ImportRow, reason: RowReason): RowProblem {
  return { line: row.line, email: row.draft.email, values: row.values, reason };
}

/** Adds contacts to the existing categories named in their row. Unknown titles are ignored. */
async function fileByTitle(tx: Tx, rows: readonly ImportRow[], idOf: Map<string, string>): Promise<void> {
  if (!rows.some((row) => row.categories.length > 0)) return;
  const labels = await tx.org.sql<Columns<'labels', 'id' | 'title'>>(
    `select id, lower(title) as title from labels where organization_id = :org and registry = 'category'`,
  );
  for (const label of labels) {
    const ids = rows.filter((row) => row.categories.includes(label.title)).map((row) => idOf.get(row.draft.email));
    await addToCategories(
      tx.org,
      ids.filter((id) => id !== undefined),
      [label.id],
    );
  }
}

async function reportProblems(tx: Tx, importId: string, problems: readonly RowProblem[]): Promise<void> {
  if (problems.length === 0) return;
  await tx.org.sql(
    `insert into contact_import_problems (import_id, organization_id, line, email, row_values, reason)
     select :id, cast(:org as uuid), r.line, r.email, array(select jsonb_array_elements_text(cast(r.row_values as jsonb))), r.reason
     from unnest(cast(:lines as integer[]), cast(:emails as text[]), cast(:values as text[]), cast(:reasons as text[]))
       as r(line, email, row_values, reason)
     on conflict do nothing`,
    {
      id: importId,
      lines: problems.map((problem) => problem.line),
      emails: problems.map((problem) => clean(problem.email)),
      // Uses JSON, because PostgreSQL arrays of arrays cannot contain lists of different lengths.
      values: problems.map((problem) => JSON.stringify(problem.values.map(clean))),
      reasons: problems.map((problem) => problem.reason),
    },
  );
}

function clean(text: string): string {
  return text.replaceAll('\0', '');
}
