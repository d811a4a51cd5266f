import type { Columns } from '../../../db/rows.ts';
import { ContactImports, type ContactImportRow } from '../../../db/models/contact-import.ts';
import { OrgScope } from '../../../db/tenancy.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { organizationOf } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { announceEnd, type EndedImport } from './announce.ts';
import { settleLeads } from './settle-leads.ts';
import { AddressSet } from './address-set.ts';
import { applyBatch, type ImportBatch, type ImportRow, type RowProblem } from './batch.ts';
import { deleteBlob, readBlob } from '../../platform/blobs.ts';
import { decodeText } from './encoding.ts';
import { csvRecords, isFilled, type CsvRecord } from './records.ts';
import { rowReader, type RowReader } from './rows.ts';
import { json } from '../../../db/connection.ts';
import type { Message } from '../../../messages/index.ts';

const BATCH_ROWS = 1000;

interface RunOptions {
  /**
   * Heartbeat, called after every committed batch with the number of processed rows. An error from it stops the run.
   */
  onProgress?: (rows: number) => void;
  /** Stops the run between batches. */
  signal?: AbortSignal;
}

/**
 * Reads an import's file and applies it batch by batch, from the checkpoint of an earlier attempt. Returns without
 * error if the job was cancelled or another worker took it over. Deletes the file when the job has ended.
 */
export async function runImport(ctx: Ctx, importId: string, options: RunOptions = {}): Promise<void> {
  const job = await begin(ctx, importId);
  if (job && (await applyFile(ctx, job, options))) await end(ctx, importId, 'completed', null);
  await dropFileOfEnded(ctx, importId);
}

/** Ends an import as failed, with a reason for people. Does nothing if the job has already ended. */
export async function failImport(ctx: Ctx, importId: string, reason: Message): Promise<void> {
  await end(ctx, importId, 'failed', reason);
  await dropFileOfEnded(ctx, importId);
}

/** Marks the job as running; undefined if the job has ended. */
async function begin(ctx: Ctx, importId: string): Promise<ContactImportRow | undefined> {
  return transact(ctx, async (tx) => {
    await tx.org.sql(
      `update contact_imports set status = 'running', blocked_reason = null, started_at = coalesce(started_at, :now), updated_at = :now
       where organization_id = :org and id = :id and status in ('queued', 'running')`,
      { id: importId, now: tx.now },
    );
    return tx.org.query(ContactImports).findById(importId).where({ status: 'running' });
  });
}

async function end(ctx: Ctx, importId: string, status: 'completed' | 'failed', error: Message | null): Promise<void> {
  await transact(ctx, async (tx) => {
    const [ended] = await tx.org.sql<EndedImport & Pick<ContactImportRow, 'options'>>(
      `update contact_imports set status = :status, error = cast(:error as jsonb), ended_at = :now, updated_at = :now,
         read_bytes = case when :status = 'completed' then total_bytes else read_bytes end
       where organization_id = :org and id = :id and status in ('queued', 'running') returning id, options, imported, updated, skipped, failed`,
      { id: importId, status, error: error && json(error), now: tx.now },
    );
    if (!ended) return;
    await settleLeads(ctx, tx, ended);
    announceEnd(tx, ended, status);
  });
}

async function dropFileOfEnded(ctx: Ctx, importId: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const [row] = await tx.org.sql<Columns<'contact_imports', 'blob_id'>>(
      `select blob_id from contact_imports
       where organization_id = :org and id = :id and status in ('completed', 'failed', 'cancelled') for update`,
      { id: importId },
    );
    if (!row?.blob_id) return;
    await tx.org.query(ContactImports).findById(importId).patch({ blob_id: null });
    await deleteBlob(tx.org, row.blob_id);
  });
}

/**
 * Applies the rows after the checkpoint. Reads the next batch while one is applied. Returns false if another worker has
 * taken over the job.
 */
async function applyFile(ctx: Ctx, job: ContactImportRow, { onProgress, signal }: RunOptions): Promise<boolean> {
  const org = new OrgScope(ctx.db, organizationOf(ctx));
  const reader = rowReader(job.options);
  const seen = new AddressSet();
  let bytes = 0;
  const file = counted(readBlob(org, ctx.blobs, job.blob_id!), (read) => (bytes += read));
  let header = job.options.has_header;
  let toSkip = Number(job.checkpoint);
  let checkpoint = toSkip;
  let batch = emptyBatch();
  /** Result of applying the previous batch, while the next one is read. */
  let applied = Promise.resolve(true);

  const apply = async (full: ImportBatch): Promise<boolean> => {
    if (!(await transact(ctx, (tx) => applyBatch(ctx, tx, job, checkpoint, full)))) return false;
    checkpoint += full.read;
    onProgress?.(checkpoint);
    return true;
  };
  const flush = async (): Promise<boolean> => {
    const full = { ...batch, readBytes: bytes };
    batch = emptyBatch();
    if (!(await applied)) return false;
    signal?.throwIfAborted();
    applied = apply(full);
    // Marks an error as handled. The next flush throws it.
    applied.catch(() => undefined);
    return true;
  };

  try {
    for await (const records of csvRecords(decodeText(file, job.options.encoding), job.options)) {
      for (const record of records) {
        if (record.line <= job.options.skip_rows) continue;
        if (header) {
          header = false;
          continue;
        }
        if (!isFilled(record)) continue;
        const row = readRow(record, reader, seen);
        if (toSkip > 0) {
          // Skips a row that an earlier attempt has applied, after its address was added to the search for duplicates.
          toSkip -= 1;
          continue;
        }
        if ('draft' in row) batch.rows.push(row);
        else batch.problems.push(row);
        batch.read += 1;
        if (batch.read === BATCH_ROWS && !(await flush())) return false;
      }
      if (toSkip > 0) onProgress?.(checkpoint - toSkip);
    }
    if (batch.read > 0 && !(await flush())) return false;
    return await applied;
  } finally {
    await Promise.allSettled([applied]);
  }
}

function readRow(record: CsvRecord, reader: RowReader, seen: AddressSet): ImportRow | RowProblem {
  const { line } = record;
  const values = record.values ?? [record.raw.slice(0, 1000)];
  const read = reader.read(record);
  if ('reason' in read) return { line, values, ...read };
  const { draft, categories, ...optOut } = read;
  if (!seen.add(draft.email)) return { line, email: draft.email, values, reason: 'duplicate_in_file', ...optOut };
  return { line, values, draft, categories, ...optOut };
}

function emptyBatch(): ImportBatch {
  return { rows: [], problems: [], read: 0, readBytes: 0 };
}

async function* counted(chunks: AsyncIterable<Buffer>, add: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    add(chunk.length);
    yield chunk;
  }
}
