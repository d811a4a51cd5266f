import type { Columns } from '../../db/rows.ts';
import { Mailboxes, type MailboxRow } from '../../db/models/mailbox.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../lib/cursor.ts';
import { notFound } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { likeLiteral } from '../platform/conditions.ts';
import { cleanText } from '../directory/contact-fields.ts';
import { isSender } from '../sending/campaign/sender-pool.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';
import { message, type Message } from '../../messages/index.ts';
import { holdTitle } from '../sending/control/hold-codes.ts';

/** A mailbox with its tags and its reading progress, for API responses. */
export interface MailboxView {
  mailbox: MailboxRow;
  tags: string[];
  lastUid: number;
  lastSyncedAt: Date | null;
}

/** Reason and end of a hold. If `until` is null, the hold lasts until a person ends it. */
interface MailboxRest {
  code: string;
  reason: Message;
  until: Date | null;
}

/**
 * Returns the hold of a mailbox for sending or reading. Of two holds, returns the one that ends later. Includes expired
 * holds.
 */
export function holdOf(mailbox: MailboxRow): MailboxRest | null {
  const holds = [
    { code: mailbox.hold_code, reason: mailbox.hold_reason, until: mailbox.hold_until },
    { code: mailbox.imap_hold_code, reason: mailbox.imap_hold_reason, until: mailbox.imap_hold_until },
  ].flatMap(({ code, reason, until }) => (code === null ? [] : [{ code, reason: reason ?? holdTitle(code), until }]));
  const lasts = ({ until }: MailboxRest): number => until?.getTime() ?? Infinity;
  return holds.reduce<MailboxRest | null>(
    (longer, hold) => (longer && lasts(longer) >= lasts(hold) ? longer : hold),
    null,
  );
}

/** Describes the status of an inactive mailbox. */
export function statusMessage(status: MailboxRow['status']): Message {
  return message(status === 'revoked' ? 'mailboxes.is_revoked' : 'mailboxes.is_off');
}

/** A campaign that may send from a mailbox. */
export interface SendingCampaign {
  id: string;
  name: string;
  status: string;
}

export type MailboxError = Columns<
  'mailbox_errors',
  'id' | 'error_code' | 'severity' | 'message' | 'created_at' | 'resolved_at'
>;

export interface MailboxDetail extends MailboxView {
  campaigns: SendingCampaign[];
  recentErrors: MailboxError[];
}

const MAX_CAMPAIGNS = 100;
const MAX_ERRORS = 10;

/**
 * Lists mailboxes, newest first. `q` matches part of address or name; `tag` is a tag id. A key restricted to mailboxes
 * lists only those.
 * @throws AppError bad_request for the cursor of another list or filter
 */
export async function listMailboxes(
  ctx: Ctx,
  page: PageRequest,
  filter: { q?: string | undefined; tag?: string | undefined },
): Promise<Page<MailboxView>> {
  const text = cleanText(filter.q ?? '').toLowerCase();
  const narrow = [text, filter.tag ?? null];
  const after = decodeIdCursor('mailboxes.list', narrow, page.cursor);
  const org = reader(ctx);
  const query = org
    .query(Mailboxes)
    .orderBy('id', 'desc')
    .limit(page.limit + 1);
  if (ctx.actor.allowedMailboxes) void query.whereIn('id', [...ctx.actor.allowedMailboxes]);
  if (text) {
    const part = `%${likeLiteral(text)}%`;
    void query.where((either) => void either.where('email', 'like', part).orWhere('name', 'ilike', part));
  }
  if (filter.tag) {
    void query.whereRaw('id in (select mailbox_id from mailbox_tags where organization_id = ? and label_id = ?)', [
      org.organizationId,
      filter.tag,
    ]);
  }
  if (after) void query.where('id', '<', after);
  const { rows, nextCursor } = pageOf(await query, page.limit, (last) =>
    encodeCursor('mailboxes.list', narrow, [last.id]),
  );
  return { rows: await view(org, rows), nextCursor };
}

/**
 * Returns a mailbox with the campaigns that it sends for and its latest errors (GET /emails/:id).
 * @throws AppError not_found
 */
export async function getMailbox(ctx: Ctx, id: string): Promise<MailboxDetail> {
  const org = reader(ctx);
  const mailbox = await findMailbox(org, id);
  const [seen] = await view(org, [mailbox]);
  return { ...seen!, campaigns: await findSendingCampaigns(org, id), recentErrors: await findMailboxErrors(org, id) };
}

/**
 * Returns the row of a mailbox.
 * @throws AppError not_found for an unknown or malformed id, or the id of another workspace's mailbox
 */
export async function findMailbox(
  org: OrgScope,
  id: string,
  lock: 'none' | 'for update' = 'none',
): Promise<MailboxRow> {
  if (!isUuid(id)) throw notFound('mailbox');
  const query = org.query(Mailboxes).findById(id);
  if (lock === 'for update') void query.forUpdate();
  const mailbox = await query;
  if (!mailbox) throw notFound('mailbox');
  return mailbox;
}

/** Returns a mailbox if its new mail must be read, or undefined if it was deleted or disabled. */
export async function watchedMailbox(ctx: Ctx, mailboxId: string): Promise<MailboxRow | undefined> {
  return reader(ctx).query(Mailboxes).findOne({ id: mailboxId, status: 'active' });
}

/** Returns unfinished campaigns whose pool includes the mailbox, newest first. */
export async function findSendingCampaigns(org: OrgScope, mailboxId: string): Promise<SendingCampaign[]> {
  return org.sql<SendingCampaign>(
    `select k.id, k.name, k.status from campaigns k join mailboxes m on m.organization_id = k.organization_id and m.id = :id
       left join campaign_senders c on c.campaign_id = k.id and c.mailbox_id = m.id
     where k.organization_id = :org and k.status <> 'completed'
       and ${isSender({ id: 'k.id', tags: 'k.email_tags', strategy: 'k.sender_strategy' })}
     order by k.id desc limit :limit`,
    { id: mailboxId, limit: MAX_CAMPAIGNS },
  );
}

/** Returns the latest errors of a mailbox, including resolved ones. */
export async function findMailboxErrors(org: OrgScope, mailboxId: string): Promise<MailboxError[]> {
  return org.sql<MailboxError>(
    `select id, error_code, severity, message, created_at, resolved_at from mailbox_errors
     where organization_id = :org and mailbox_id = :id order by id desc limit :limit`,
    { id: mailboxId, limit: MAX_ERRORS },
  );
}

/** Adds tags and reading progress to rows, in the same order. */
export async function view(org: OrgScope, mailboxes: readonly MailboxRow[]): Promise<MailboxView[]> {
  const ids = mailboxes.map(({ id }) => id);
  const rows = await org.sql<{ id: string; tags: string[]; last_uid: number | null; last_synced_at: Date | null }>(
    `select m.id, y.last_uid, y.last_synced_at,
       (select coalesce(json_agg(l.id order by l.position, l.id), '[]') from mailbox_tags t join labels l on l.id = t.label_id where t.mailbox_id = m.id) as tags
     from mailboxes m left join mailbox_sync y on y.mailbox_id = m.id and y.folder = 'INBOX' where m.organization_id = :org and m.id = any(cast(:ids as uuid[]))`,
    { ids },
  );
  const extra = new Map(rows.map((row) => [row.id, row]));
  return mailboxes.map((mailbox) => {
    const { tags = [], last_uid: lastUid = null, last_synced_at: lastSyncedAt = null } = extra.get(mailbox.id) ?? {};
    return { mailbox, tags, lastUid: lastUid ?? 0, lastSyncedAt };
  });
}
