import { json } from '../../../db/connection.ts';
import type { Message } from '../../../messages/index.ts';
import { deleted } from '../../platform/changes.ts';
import { externalText } from '../../platform/external-text.ts';
import type { ContactRow } from '../../../db/models/contact.ts';
import { Suppressions, type SuppressionRow } from '../../../db/models/suppression.ts';
import { asciiAddress } from '../../../lib/address.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { likeLiteral } from '../../platform/conditions.ts';
import { announceUpdate, announceUpdates } from '../../directory/announce-contact.ts';
import { cleanText } from '../../directory/contact-fields.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { KEPT_WHERE_LISTED } from '../../sending/outcomes/suppress.ts';
import { suppressedNow } from '../../directory/suppression-check.ts';
import { parseSuppression, type SuppressionFault, type SuppressionTarget } from '../../directory/suppression-value.ts';

export type { SuppressionRow } from '../../../db/models/suppression.ts';

/**
 * Lists the entries in force, newest first. `q` is part of the address or host.
 * @throws AppError bad_request for a cursor of another list or filter
 */
export async function listSuppressions(
  ctx: Ctx,
  page: PageRequest,
  q: string | undefined,
): Promise<Page<SuppressionRow>> {
  const text = asciiAddress(cleanText(q ?? ''));
  const after = decodeIdCursor('suppressions.list', text, page.cursor);
  const query = reader(ctx)
    .query(Suppressions)
    .where((inForce) => {
      void inForce.whereNull('expires_at').orWhere('expires_at', '>', ctx.clock.now());
    })
    .orderBy('id', 'desc')
    .limit(page.limit + 1);
  if (text) void query.where('email', 'like', `%${likeLiteral(text)}%`);
  if (after) void query.where('id', '<', after);
  return pageOf(await query, page.limit, (last) => encodeCursor('suppressions.list', text, [last.id]));
}

interface SuppressionInput {
  value: string;
  reason?: string | undefined;
}

type Target = SuppressionTarget & { reason: Message | null };

/** A value that was not added. */
interface NotTaken {
  /** Position among the entries, from 0. */
  index: number;
  value: string;
  reason: SuppressionFault;
}

/**
 * Adds addresses and hosts to the suppression list. A value that is already listed keeps its source and reason.
 * Matching contacts are unsubscribed: for an address its contact, for a host all contacts with addresses at this host.
 * Values that are neither address nor host are returned in `skipped`, and in `problems` with the reason.
 */
export async function addSuppressions(
  ctx: Ctx,
  entries: readonly SuppressionInput[],
  reason: string,
): Promise<{ added: number; skipped: string[]; problems: NotTaken[] }> {
  const targets = new Map<string, Target>();
  const problems: NotTaken[] = [];
  for (const [index, { value, reason: own }] of entries.entries()) {
    const parsed = parseSuppression(value);
    if (typeof parsed === 'string') problems.push({ index, value, reason: parsed });
    else
      for (const target of parsed)
        targets.set(`${target.kind} ${target.email}`, { ...target, reason: personsReason(own || reason) });
  }
  const list = [...targets.values()];
  return transact(ctx, async (tx) => {
    if (list.length > 0) {
      await upsert(tx, list);
      announceUpdates(tx, await unsubscribe(tx, list));
      tx.audit({ action: 'create', entityType: 'suppression', metadata: { count: list.length, source: 'manual' } });
    }
    return { added: list.length, skipped: problems.map(({ value }) => value), problems };
  });
}

/** Returns a person's text as the reason of a suppression entry; null if the text is empty. */
export function personsReason(text: string): Message | null {
  const words = cleanText(text);
  return words === '' ? null : externalText(words);
}

async function upsert(tx: Tx, list: readonly Target[]): Promise<void> {
  await tx.org.sql(
    `insert into suppressions (id, organization_id, email, kind, reason, source, created_at, updated_at)
     select r.id, cast(:org as uuid), r.email, r.kind, cast(r.reason as jsonb), 'manual', :now, :now
     from unnest(cast(:ids as uuid[]), cast(:emails as text[]), cast(:kinds as text[]), cast(:reasons as text[]))
       as r(id, email, kind, reason)
     order by r.kind, r.email
     on conflict on constraint suppressions_value_key do update set ${KEPT_WHERE_LISTED}, expires_at = null, updated_at = excluded.updated_at`,
    {
      now: tx.now,
      ids: list.map(() => newId()),
      emails: list.map((target) => target.email),
      kinds: list.map((target) => target.kind),
      reasons: list.map(({ reason }) => reason && json(reason)),
    },
  );
}

/**
 * Unsubscribes the contacts of new entries, and returns their number. Each contact stores the id of the entry for its
 * address, so that removing the entry can subscribe the contact again.
 */
async function unsubscribe(tx: Tx, list: readonly SuppressionTarget[]): Promise<number> {
  const of = (kind: string) => list.filter((target) => target.kind === kind).map((target) => target.email);
  const off = async (kind: 'email' | 'domain', by: string, matched: string): Promise<number> => {
    const values = of(kind);
    if (values.length === 0) return 0;
    const [row] = await tx.org.sql<{ count: number }>(
      `with changed as (
         update contacts c set subscribed = false, unsubscribed_by = ${by}, updated_at = :now
         from suppressions s where s.organization_id = :org and s.kind = '${kind}' and s.email = any(cast(:values as text[]))
           and c.organization_id = :org and c.subscribed and ${matched} = s.email returning 1
       ) select count(*)::int as count from changed`,
      { now: tx.now, values },
    );
    return row!.count;
  };
  return (await off('email', 's.id', 'c.email')) + (await off('domain', 'null', `split_part(c.email, '@', -1)`));
}

/**
 * Removes an entry. If the entry of an address had unsubscribed its contact, the contact is subscribed again, unless
 * its host is still listed. An opt-out by the person stays. The audit row keeps value, kind and source.
 * @throws AppError not_found
 */
export async function removeSuppression(ctx: Ctx, id: string): Promise<void> {
  if (!isUuid(id)) throw notFound('suppression');
  await transact(ctx, async (tx) => {
    const [row] = await tx.org.sql<SuppressionRow>(
      'delete from suppressions where organization_id = :org and id = :id returning *',
      { id },
    );
    if (!row) throw notFound('suppression');
    const freed = await tx.org.sql<Pick<ContactRow, 'id' | 'subscribed'>>(
      `update contacts c set subscribed = not ${suppressedNow(':org', 'c.email')}, unsubscribed_by = null, updated_at = :now
       where c.organization_id = :org and c.unsubscribed_by = :id returning c.id, c.subscribed`,
      { id, now: tx.now },
    );
    for (const contact of freed) if (contact.subscribed) await announceUpdate(tx, contact.id);
    tx.audit({
      action: 'delete',
      entityType: 'suppression',
      entityId: id,
      changes: deleted({ value: row.email, kind: row.kind, source: row.source }),
    });
  });
}
