import { setTimeout as sleep } from 'node:timers/promises';
import type { Tenant } from '../test/harness/factories.ts';
import type { BenchContext, Helper } from './context.ts';
import { launchCampaign, makeCampaign } from './data.ts';
import { percentile } from './measure.ts';

/** Number of tenants whose emails are timed. */
export const TENANTS = 19;
/** Gap (seconds) between two emails of a mailbox. */
const GAP_SECONDS = 4;
const BODY = 'Hi {{.FirstName}}, I saw what {{.Company}} does in {{.City}}. Would you have ten minutes next week?';
/** Maximum lateness (ms). An email that is not sent by then counts with this lateness. */
const PATIENCE_MS = 120_000;

/**
 * Runs a campaign for each of `tenants` concurrently, with `leads` leads each. Returns the time (ms) between the slot
 * and the sending of each email.
 */
export async function lateness(
  { assembly }: BenchContext,
  sink: Helper,
  leads: number,
  tenants = TENANTS,
): Promise<number[]> {
  const { db } = assembly.deps;
  const campaigns: { tenant: Tenant; campaignId: string }[] = [];
  for (let n = 0; n < tenants; n += 1)
    campaigns.push(
      await makeCampaign(assembly, {
        contacts: leads,
        mailboxes: 1,
        gapSeconds: GAP_SECONDS,
        smtpPort: sink.port,
        steps: [{ subject: 'A question for {{.Company}}', body_plain: BODY }],
      }),
    );
  for (const { tenant, campaignId } of campaigns) await launchCampaign(assembly, tenant, campaignId);
  const ids = campaigns.map(({ campaignId }) => campaignId);
  const deadline = Date.now() + leads * GAP_SECONDS * 1_000 + PATIENCE_MS;
  const left = async () =>
    Number(
      (await db('enrollments').whereIn('campaign_id', ids).whereIn('state', ['pending', 'active']).count().first())!
        .count,
    );
  while ((await left()) > 0 && Date.now() < deadline) await sleep(500);
  const rows: { slot_at: Date; sent_at: Date | null }[] = await db('sends')
    .whereIn('campaign_id', ids)
    .select('slot_at', 'sent_at');
  const late = rows.map(({ slot_at, sent_at }) => Math.max(0, (sent_at?.getTime() ?? Date.now()) - slot_at.getTime()));
  // A lead without a slot counts with the maximum lateness.
  while (late.length < leads * tenants) late.push(PATIENCE_MS);
  return late;
}

export function describeLateness(late: readonly number[]): string {
  const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) => percentile(late, share).toFixed(0));
  return `p50 ${p50} ms, p90 ${p90} ms, p99 ${p99} ms (${late.length} emails)`;
}
