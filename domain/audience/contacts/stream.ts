import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import type { Bindings } from '../../../db/statement.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { inSnapshot } from '../../../db/transaction.ts';
import { tooManyRequests } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import { organizationOf, type Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';

/** Maximum number of rows of an export. */
const MAX_ROWS = 50_000;
const BATCH = 500;
/** Maximum number of open exports of a process. Each export uses a pool connection while its client reads. */
const MAX_OPEN = 4;
/** Maximum number of open exports per workspace, so that slow clients of one workspace do not block others. */
const MAX_OPEN_EACH = 2;
/** Time (ms) without reading after which a client is treated as disconnected. */
const STALLED_MS = 30_000;
/** Maximum run time (ms) of a statement of an export. */
const STATEMENT_MS = 15_000;
/** Maximum duration (ms) of an export. */
const MAX_MS = 5 * 60_000;
/** Maximum number of custom fields; the most frequent ones are exported. */
const MAX_FIELDS = 500;

/** Workspace ids of open exports, one entry per export. */
const open: string[] = [];

interface ContactExport<Row> {
  /** SQL of the form `from … where …`, with the alias `c` for contacts and a condition on `:org`. */
  found: string;
  bindings: Bindings;
  /** SQL of the selected columns. */
  select: string;
  /** SQL of the order of the rows. */
  order: string;
  /** Records the export and its number of rows in the audit log. Called before the first row. */
  record: (rows: number) => Promise<void>;
  /** Returns the text before the rows. `fields` are the keys of custom fields. */
  begin: (fields: readonly string[]) => string;
  lines: (batch: readonly Row[], fields: readonly string[]) => string;
  /** Text that follows the rows. */
  end?: string;
}

/**
 * Exports contacts from one snapshot, at most 50,000. Rows are read as fast as the client accepts them; a disconnected
 * client ends the query.
 * @returns the number of rows, and the text as a stream
 * @throws AppError rate_limit_exceeded while too many exports run in this process
 */
export async function streamContacts<Row>(
  ctx: Ctx,
  { found, bindings, select, order, ...write }: ContactExport<Row>,
): Promise<{ rows: number; text: Readable }> {
  const { begun: rows, text } = await streamSnapshot(ctx, {
    async begin(org) {
      const [counted] = await org.sql<{ rows: number }>(
        `select count(*)::int as rows from (select ${found} limit ${MAX_ROWS}) listed` as `${string}:org${string}`,
        bindings,
      );
      await write.record(counted!.rows);
      return counted!.rows;
    },
    async write(org, put) {
      const keys = await org.sql<{ key: string }>(
        `select k.key from (select c.custom_fields ${found} limit ${MAX_ROWS}) listed
         cross join lateral jsonb_object_keys(listed.custom_fields) as k(key) group by k.key order by count(*) desc, k.key limit ${MAX_FIELDS}` as `${string}:org${string}`,
        bindings,
      );
      const fields = keys.map(({ key }) => key).sort();
      await put(write.begin(fields));
      const statement = `select ${select} ${found} order by ${order} limit ${MAX_ROWS}` as `${string}:org${string}`;
      for await (const batch of org.inBatches<Row & object>(statement, bindings, BATCH))
        await put(write.lines(batch, fields));
      await put(write.end ?? '');
    },
  });
  return { rows, text };
}

interface SnapshotStream<Begun> {
  /** Called before the first byte is sent, so that its errors become errors of the request. */
  begin: (org: OrgScope) => Promise<Begun>;
  /** Writes the text; `put` waits while the client does not read. */
  write: (org: OrgScope, put: (text: string) => Promise<void>) => Promise<void>;
}

/**
 * Streams text that is read from one database snapshot, as fast as the client accepts it. The query ends when the
 * client disconnects or stops reading.
 * @returns the result of `begin`, and the text
 * @throws AppError rate_limit_exceeded while too many exports run in this process; errors of `begin`
 */
export async function streamSnapshot<Begun>(
  ctx: Ctx,
  { begin, write }: SnapshotStream<Begun>,
): Promise<{ begun: Begun; text: Readable }> {
  const workspace = organizationOf(ctx);
  if (open.length >= MAX_OPEN || open.filter((each) => each === workspace).length >= MAX_OPEN_EACH)
    throw tooManyRequests(5_000, message('audience.exports_running'));
  open.push(workspace);
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), MAX_MS);
  const text = new PassThrough();
  text.once('close', () => end.abort());
  return new Promise((resolve, reject) => {
    let hasBegun = false;
    inSnapshot(ctx.db, { signal: end.signal, statementMs: STATEMENT_MS }, async (trx) => {
      const org = reader({ ...ctx, trx });
      const begun = await begin(org);
      hasBegun = true;
      resolve({ begun, text });
      await write(org, async (piece) => {
        if (!text.write(piece))
          await once(text, 'drain', { signal: AbortSignal.any([end.signal, AbortSignal.timeout(STALLED_MS)]) });
      });
    })
      .then(
        () => text.end(),
        (error: Error) => {
          reject(error);
          // Passes an error to the stream only if the stream has begun. Before, nobody listens to it, and the error
          // would end the process.
          text.destroy(hasBegun && !end.signal.aborted ? error : undefined);
        },
      )
      .finally(() => {
        clearTimeout(timer);
        open.splice(open.indexOf(workspace), 1);
      });
  });
}
