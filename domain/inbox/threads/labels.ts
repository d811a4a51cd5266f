import type { LabelRow } from '../../../db/models/label.ts';
export type { LabelRow } from '../../../db/models/label.ts';
import { notFound, refuseProblems, type Problem } from '../../../lib/errors.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { existingIds, unknownIdProblems } from '../../platform/references.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { assertThread } from './exists.ts';
import { message } from '../../../messages/index.ts';

/**
 * Returns the categories of a conversation.
 * @throws AppError not_found for a conversation without a message the caller may read
 */
export async function readThreadLabels(ctx: Ctx, threadId: string): Promise<LabelRow[]> {
  await assertThread(ctx, threadId);
  return labelsOf(reader(ctx), threadId);
}

/**
 * Sets the categories of a conversation.
 * @throws AppError not_found; bad_request naming ids that are not categories
 */
export async function replaceThreadLabels(
  ctx: Ctx,
  threadId: string,
  categoryIds: readonly string[],
): Promise<LabelRow[]> {
  return transact(ctx, async (tx) => {
    await assertThread({ ...ctx, trx: tx.trx }, threadId);
    refuseProblems(await categoryProblems(tx.org, categoryIds));
    await tx.org.table('thread_labels').where({ thread_id: threadId }).delete();
    if (categoryIds.length > 0)
      await tx.org.insert(
        'thread_labels',
        [...new Set(categoryIds.map((id) => id.toLowerCase()))].map((label_id) => ({
          thread_id: threadId,
          label_id,
          created_at: tx.now,
        })),
      );
    await announceThread(tx, threadId);
    return labelsOf(tx.org, threadId);
  });
}

/**
 * Adds a category to a conversation, if the conversation does not have it.
 * @throws AppError not_found for a conversation without a message; bad_request for an id that is not a category
 */
export async function addThreadLabel(tx: Tx, threadId: string, categoryId: string): Promise<void> {
  refuseProblems(await categoryProblems(tx.org, [categoryId]));
  const [message] = await tx.org.sql(
    'select 1 from inbound_messages where organization_id = :org and thread_id = :thread limit 1',
    { thread: threadId },
  );
  if (!message) throw notFound('thread');
  const [filed] = await tx.org.sql(
    `insert into thread_labels (organization_id, thread_id, label_id, created_at) values (:org, :thread, :label, :now)
     on conflict do nothing returning 1`,
    { thread: threadId, label: categoryId, now: tx.now },
  );
  if (filed) await announceThread(tx, threadId);
}

/** Returns problems for ids that are not categories of the workspace. */
export async function categoryProblems(org: OrgScope, categoryIds: readonly string[]): Promise<Problem[]> {
  const known = await existingIds(org, 'labels', categoryIds, { registry: 'category' });
  return unknownIdProblems(
    categoryIds,
    known,
    (index) => `body.category_ids.${index}`,
    message('directory.unknown_category'),
  );
}

async function labelsOf(org: OrgScope, threadId: string): Promise<LabelRow[]> {
  return org.sql<LabelRow>(
    `select l.* from labels l join thread_labels k on k.label_id = l.id
     where k.organization_id = :org and l.organization_id = :org and k.thread_id = :thread order by l.position, l.id`,
    { thread: threadId },
  );
}

/** Emits an event for the newest message of a conversation, which says that the categories have changed. */
async function announceThread(tx: Tx, threadId: string): Promise<void> {
  const [message] = await tx.org.sql<{ id: string; mailbox_id: string }>(
    'select id, mailbox_id from inbound_messages where organization_id = :org and thread_id = :thread order by id desc limit 1',
    { thread: threadId },
  );
  if (!message) throw notFound('thread');
  tx.emit('inbox.email_updated', { email_id: message.id, email_account_id: message.mailbox_id, change: 'labels' });
}
