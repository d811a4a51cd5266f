import { randomUUID } from 'node:crypto';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { across } from '../../../db/across.ts';
import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { inSnapshot } from '../../../db/transaction.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { storeBlob } from '../../platform/blobs.ts';
import { sendClaimedMail } from '../../platform/claimed-mail.ts';
import { organizationOf, type Ctx } from '../../platform/kernel/context.ts';
import { reader, singleStatement, transact } from '../../platform/kernel/transact.ts';
import { toFileObject, type FileRow } from '../../sending/control/file-rows.ts';
import { workspaceExportMail } from '../mails.ts';
import { EXPORT_PARTS, PART_SQL } from './parts.ts';

/** Number of days for which a file is kept. */
const KEPT_DAYS = 7;
/** Number of rows read from the database at once. A row may contain a long text. */
const BATCH = 200;
/** Maximum run time (ms) of a statement. */
const STATEMENT_MS = 60_000;

/**
 * Writes the file of an export, if it is not yet complete, and emails the member who requested it. An interrupted
 * attempt stores nothing, so the next one writes the file from its beginning. Only one batch of rows is in memory at a
 * time.
 * @throws MailFailure when the mail server temporarily refused the email; the next attempt sends it
 */
export async function makeExport(ctx: Ctx, id: string, signal: AbortSignal): Promise<{ kind: 'done'; why: string }> {
  const [open] = await singleStatement(ctx).sql<Columns<'workspace_exports', 'id'>>(
    `update workspace_exports set status = 'running', blocked_reason = null, parts_done = 0, row_count = 0,
       started_at = coalesce(started_at, :now)
     where organization_id = :org and id = :id and status in ('queued', 'running') returning id`,
    { id, now: ctx.clock.now() },
  );
  if (open) await makeFile(ctx, id, signal);
  return mailLink(ctx, id);
}

async function makeFile(ctx: Ctx, id: string, signal: AbortSignal): Promise<void> {
  const file = await openUnnamed();
  try {
    const rows = await writeFile(ctx, id, file, signal);
    const { size } = await file.stat();
    await transact(ctx, async (tx) => {
      const [mine] = await tx.org.sql(
        `select id from workspace_exports where organization_id = :org and id = :id and status = 'running' for update`,
        { id },
      );
      if (!mine) return;
      // Deletes earlier files: a workspace keeps only one. It is not counted in the quota of stored files.
      await tx.org.table('workspace_exports').where({ status: 'completed' }).delete();
      const blobId = await storeBlob(tx, file, size);
      await tx.org
        .table('workspace_exports')
        .where({ id })
        .update({
          status: 'completed',
          parts_done: EXPORT_PARTS.length,
          row_count: rows,
          blob_id: blobId,
          size_bytes: size,
          ended_at: tx.now,
          expires_at: new Date(tx.now.getTime() + KEPT_DAYS * DAY_MS),
        });
    });
  } finally {
    await file.close();
  }
}

/** Opens a temporary file that has no name, so that the system deletes it even if this process is killed. */
async function openUnnamed(): Promise<FileHandle> {
  const path = join(tmpdir(), `heron-export-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await rm(path);
  return file;
}

/** Writes one snapshot of the workspace as lines of JSON, compressed by gzip. Returns the number of lines. */
async function writeFile(ctx: Ctx, id: string, file: FileHandle, signal: AbortSignal): Promise<number> {
  let rows = 0;
  const progress = (parts: number) =>
    singleStatement(ctx).sql(
      `update workspace_exports set parts_done = :parts, row_count = :rows
       where organization_id = :org and id = :id and status = 'running'`,
      { id, parts, rows },
    );
  async function* lines(org: OrgScope): AsyncGenerator<string> {
    yield `${JSON.stringify({ type: 'workspace', ...(await workspaceOf(ctx)), exported_at: ctx.clock.now() })}\n`;
    rows += 1;
    for (const [index, sql] of PART_SQL.entries()) {
      for await (const batch of org.inBatches<FileRow>(sql, {}, BATCH)) {
        signal.throwIfAborted();
        rows += batch.length;
        yield batch.map((row) => `${JSON.stringify({ type: row.part, ...toFileObject(row) })}\n`).join('');
      }
      await progress(index + 1);
    }
  }
  await inSnapshot(ctx.db, { signal, statementMs: STATEMENT_MS }, async (trx) => {
    const source = Readable.from(lines(reader({ ...ctx, trx })), { objectMode: true, highWaterMark: 1 });
    const store = async (compressed: AsyncIterable<Buffer>) => {
      for await (const bytes of compressed) await file.writeFile(bytes);
    };
    await pipeline(source, createGzip(), store, { signal });
  });
  return rows;
}

async function workspaceOf(ctx: Ctx): Promise<Record<string, unknown>> {
  const {
    id: _id,
    created_by: _by,
    ...workspace
  } = (await across(ctx.db, 'maintenance').table('organizations').where('id', organizationOf(ctx)).first())!;
  return workspace;
}

interface Addressee extends Columns<'users', 'email' | 'language'> {
  workspace: string;
}

/**
 * Emails the link once. An email with an unknown result is not sent again, because the person can also find the file on
 * the page of exports.
 */
async function mailLink(ctx: Ctx, id: string): Promise<{ kind: 'done'; why: string }> {
  const mail = (state: WorkspaceMail) =>
    reader(ctx).table('workspace_exports').where({ id }).update({ mail: state, blocked_reason: null });
  const [claimed] = await singleStatement(ctx).sql<Columns<'workspace_exports', 'user_id'> & { was: WorkspaceMail }>(
    `with before as (
       select id, mail from workspace_exports where organization_id = :org and id = :id and status = 'completed' and mail in ('due', 'sending') for update
     )
     update workspace_exports e set mail = case before.mail when 'due' then 'sending' else 'uncertain' end
     from before where e.organization_id = :org and e.id = before.id returning e.user_id, before.mail as was`,
    { id },
  );
  if (!claimed) return { kind: 'done', why: 'nothing is left to do' };
  if (claimed.was === 'sending') return { kind: 'done', why: 'mailed at an earlier attempt' };
  const [to] = await reader(ctx).sql<Addressee>(
    `select u.email, coalesce(u.language, o.language) as language, o.name as workspace from memberships m join users u on u.id = m.user_id
       join organizations o on o.id = m.organization_id where m.organization_id = :org and m.user_id = :user`,
    { user: claimed.user_id },
  );
  if (!to) {
    await mail('left_out');
    return { kind: 'done', why: 'nobody to write to' };
  }
  const failure = await sendClaimedMail(
    ctx,
    workspaceExportMail(ctx, { to: to.email, workspace: to.workspace, days: KEPT_DAYS }, to),
    { update: ({ state }) => mail(state), delete: () => mail('due') },
    { exportId: id },
  );
  if (failure !== undefined) throw failure;
  return { kind: 'done', why: 'written and mailed' };
}

type WorkspaceMail = Columns<'workspace_exports', 'mail'>['mail'];
