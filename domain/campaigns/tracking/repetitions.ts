import type { Columns } from '../../../db/rows.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import type { MachineReason } from './machine.ts';

/** A recorded open or click, with the facts by which a repetition is recognized. */
export interface RecordedHit {
  id: string;
  organizationId: string;
  sentAt: Date | null;
  reason: MachineReason | null;
}

/** Adds numbers of repetitions to recorded opens and clicks. Reports count each repetition. */
export async function addRepetitions(
  deps: Deps,
  organizationId: string,
  repetitions: readonly { id: string; times: number }[],
  requestId: string,
): Promise<void> {
  await transact(systemCtx(deps, organizationId, requestId), async (tx) => {
    const emails = await tx.org.sql<Columns<'engagement_events', 'campaign_id' | 'send_id'>>(
      `update engagement_events e set times = e.times + t.times
       from unnest(:ids::uuid[], :times::int[]) as t(id, times)
       where e.organization_id = :org and e.id = t.id
       returning e.campaign_id, e.send_id`,
      { ids: repetitions.map(({ id }) => id), times: repetitions.map(({ times }) => times) },
    );
    const counted = new Map(emails.map(({ send_id, campaign_id }) => [send_id, campaign_id]));
    for (const [sendId, campaignId] of counted)
      if (sendId && campaignId) tx.emit('engagement.counted', { campaign_id: campaignId, task_id: sendId });
  });
}
