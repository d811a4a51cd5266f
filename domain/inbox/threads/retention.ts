import { across } from '../../../db/across.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { deleteUnusedCopies } from '../../sending/control/sent-content.ts';

const PAGE = 100;
const CONTENTS_PAGE = 5_000;

/**
 * Deletes the content of attachments that were received or sent more than ATTACHMENT_RETENTION_DAYS days ago. Their
 * names stay in the conversation. The files of a draft that was not changed for that long are deleted too. An email
 * that has not been sent keeps its files. Runs in pages, each in its own transaction.
 * @returns number of messages and drafts whose files were deleted
 */
export async function expireFiles({ db, clock, config }: Pick<Deps, 'db' | 'clock' | 'config'>): Promise<number> {
  if (config.ATTACHMENT_RETENTION_DAYS === 0) return 0;
  const now = clock.now();
  const before = new Date(now.getTime() - config.ATTACHMENT_RETENTION_DAYS * DAY_MS);
  let done = 0;
  for (const statement of [RECEIVED, SENT, DRAFTED])
    for (;;) {
      const { rowCount } = await across(db, 'maintenance').run(statement, { before, now });
      done += rowCount;
      if (rowCount < PAGE) break;
    }
  return done;
}

const RECEIVED = `
  with old as materialized (
    select id, blob_id from inbound_attachments where blob_id is not null and created_at <= :before limit ${PAGE} for update skip locked
  ), gone as (
    delete from blobs b using old where b.id = old.blob_id
  )
  update inbound_attachments a set blob_id = null, left_out = 'expired' from old where a.id = old.id`;

const SENT = `
  with old as materialized (
    select id, attachments from direct_sends
    where finished_at <= :before and attachments <> '[]' and files_deleted_at is null limit ${PAGE} for update skip locked
  ), gone as (
    delete from blobs b using (select (file ->> 'blob_id')::uuid as id from old, jsonb_array_elements(attachments) file) f where b.id = f.id
  )
  update direct_sends d set files_deleted_at = :now from old where d.id = old.id`;

const DRAFTED = `
  with old as materialized (
    select id, attachments from email_drafts where updated_at <= :before and attachments <> '[]' limit ${PAGE} for update skip locked
  ), gone as (
    delete from blobs b using (select (file ->> 'blob_id')::uuid as id from old, jsonb_array_elements(attachments) file) f where b.id = f.id
  )
  update email_drafts d set attachments = '[]' from old where d.id = old.id`;

/**
 * Deletes the contents of sent emails that are older than the workspace's setting `inbox.keep_sent_days`. Then deletes
 * base texts that no content uses any more. Runs in pages, each in its own transaction.
 * @returns number of deleted contents and copies
 */
export async function expireSentContents({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<number> {
  let done = 0;
  for (;;) {
    const { rowCount } = await across(db, 'maintenance').run(
      `delete from sent_contents where send_id = any(array(
         select e.send_id from outreach_settings o cross join lateral (select (o.settings -> 'inbox' ->> 'keep_sent_days')::int as days) kept
         join sent_contents e on e.organization_id = o.organization_id and e.created_at <= cast(:now as timestamptz) - kept.days * interval '1 day'
         where kept.days > 0 limit ${CONTENTS_PAGE}))`,
      { now: clock.now() },
    );
    done += rowCount;
    if (rowCount < CONTENTS_PAGE) break;
  }
  return done + (await deleteUnusedCopies({ db }));
}
