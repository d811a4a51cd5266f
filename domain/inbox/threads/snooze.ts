import type { Columns } from '../../../db/rows.ts';
import { refuseProblems, type Problem } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { assertThread } from './exists.ts';
import { message } from '../../../messages/index.ts';

/** A conversation that is hidden for a while. */
export type Snooze = Columns<
  'thread_snoozes',
  'id' | 'owner_id' | 'thread_id' | 'snoozed_until' | 'created_at' | 'updated_at'
>;

/**
 * Returns the id under which the caller's snoozes are stored: that of the person, or that of the API key or application
 * if there is no person.
 */
export function snoozeOwner({ userId, apiKeyId, oauthGrantId, organizationId }: Actor): string {
  return userId ?? apiKeyId ?? oauthGrantId ?? organizationId!;
}

/** Lists the caller's active snoozes, beginning with the one that ends first. */
export async function listSnoozes(ctx: Ctx): Promise<Snooze[]> {
  return reader(ctx).sql<Snooze>(
    `select id, owner_id, thread_id, snoozed_until, created_at, updated_at from thread_snoozes
     where organization_id = :org and owner_id = :owner and snoozed_until > :now order by snoozed_until limit 1000`,
    { owner: snoozeOwner(ctx.actor), now: ctx.clock.now() },
  );
}

/**
 * Hides a conversation from the caller until a given time. A second call replaces the time.
 * @throws AppError not_found; bad_request for a time in the past
 */
export async function snoozeThread(ctx: Ctx, threadId: string, until: Date): Promise<Snooze> {
  return transact(ctx, async (tx) => {
    await assertThread({ ...ctx, trx: tx.trx }, threadId);
    refuseProblems(snoozeProblems(until, tx.now));
    const [row] = await tx.org.sql<Snooze>(
      `insert into thread_snoozes (id, organization_id, owner_id, thread_id, snoozed_until, created_at, updated_at)
       values (:id, :org, :owner, :thread, :until, :now, :now)
       on conflict (organization_id, owner_id, thread_id) do update set snoozed_until = excluded.snoozed_until, updated_at = excluded.updated_at
       returning id, owner_id, thread_id, snoozed_until, created_at, updated_at`,
      { id: newId(), owner: snoozeOwner(ctx.actor), thread: threadId, until, now: tx.now },
    );
    return row!;
  });
}

/** Returns a problem if the time until which a conversation is hidden is not in the future. */
export function snoozeProblems(until: Date, now: Date): Problem[] {
  return until <= now ? [{ path: 'body.snoozed_until', message: message('field.not_future') }] : [];
}

/** Shows a conversation again. Does nothing if it was not snoozed. */
export async function unsnoozeThread(ctx: Ctx, threadId: string): Promise<void> {
  await transact(ctx, async (tx) => {
    await tx.org
      .table('thread_snoozes')
      .where({ thread_id: threadId, owner_id: snoozeOwner(ctx.actor) })
      .delete();
  });
}
