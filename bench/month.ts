import { systemCtx } from '../domain/kernel/context.ts';
import { transact } from '../domain/kernel/transact.ts';
import type { CampaignView } from '../domain/engine/campaign/campaign-view.ts';
import { launchTurn } from '../domain/engine/enrollment/launch.ts';
import { allocate, type Candidate } from '../domain/engine/sending/allocate.ts';
import { DEFAULT_SETTINGS } from '../domain/records/outreach-settings.ts';
import { createCampaign, createTenant } from '../test/harness/factories.ts';
import { median, percentile, timed } from './measure.ts';
import type { BenchContext, BenchResult } from './context.ts';

/** What one slot costs with very many mailboxes, and one turn of the launcher with very many leads. */
export async function run(context: BenchContext): Promise<BenchResult> {
  const mailboxes = context.quick ? 1_000 : 10_000;
  const leads = context.quick ? 10_000 : 1_000_000;
  const rounds = context.quick ? 50 : 500;
  const { deps } = context.assembly;
  const { organizationId } = await createTenant(deps, 'Month');
  const { campaignId, stepIds } = await createCampaign(deps, organizationId, [{ subject: 'Hello', body_plain: 'Hi' }]);
  await deps.db.raw(
    `insert into mailboxes (id, organization_id, email, smtp, credentials, min_wait_time, campaign_limit, created_at, updated_at)
     select gen_random_uuid(), :org, 'm' || n || '@bench.example.com', '{}', '', 600, 50, now(), now() from generate_series(1, :n) n`,
    { org: organizationId, n: mailboxes },
  );
  await deps.db.raw(
    `with people as (
       insert into contacts (id, organization_id, email, created_at, updated_at)
       select gen_random_uuid(), :org, 'c' || n || '@lead.example.com', now(), now() from generate_series(1, :n) n returning id
     )
     insert into enrollments (id, organization_id, campaign_id, contact_id, entered_at, last_activity_at)
     select gen_random_uuid(), :org, :campaign, id, now() - random() * interval '30 days', now() from people`,
    { org: organizationId, campaign: campaignId, n: leads },
  );
  await deps.db.raw('analyze mailboxes');
  await deps.db.raw('analyze enrollments');
  await deps.db.raw('analyze contacts');
  const ctx = systemCtx(deps, organizationId, 'bench');
  const people = (await deps
    .db('enrollments')
    .where({ campaign_id: campaignId })
    .limit(rounds)
    .select('id', 'contact_id')) as {
    id: string;
    contact_id: string;
  }[];
  const slots: number[] = [];
  for (const { id, contact_id: contactId } of people) {
    const candidate: Candidate = {
      enrollmentId: id,
      contactId,
      stepId: stepIds[0]!,
      stepRunId: null,
      attempts: 0,
      recipient: `${contactId}@lead.example.com`,
      espProvider: '',
      contactTimezone: null,
      isFirst: false,
      stickyMailboxId: null,
      notBefore: null,
      variantId: null,
    };
    await transact(ctx, async (tx) => {
      const campaign = (await tx.org.table('campaigns').where({ id: campaignId }).first()) as unknown as CampaignView;
      slots.push(
        await timed(async () => {
          const [answer] = await allocate(tx, { campaign, settings: DEFAULT_SETTINGS }, [candidate]);
          if (answer!.kind !== 'slot') throw new Error(`no slot: ${JSON.stringify(answer)}`);
        }),
      );
    });
  }
  await deps.db('sends').where({ campaign_id: campaignId }).update({ state: 'sent', sent_at: new Date() });
  await deps
    .db('enrollments')
    .whereIn(
      'id',
      people.map(({ id }) => id),
    )
    .update({ state: 'completed' });
  const turns: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    turns.push(await timed(() => launchTurn(ctx, campaignId)));
    await deps
      .db('sends')
      .where({ campaign_id: campaignId, state: 'reserved' })
      .update({ state: 'sent', sent_at: new Date() });
  }
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  const [p50, p99] = [median(slots), percentile(slots, 0.99)];
  const slowest = Math.max(...turns);
  return {
    figures: [
      {
        label: `one slot with ${mailboxes} mailboxes, median and p99 of ${slots.length}`,
        value: `${ms(p50)}, ${ms(p99)}`,
      },
      {
        label: `a launcher's turn with ${leads} leads (due pick, 100 slots, 100 runs), median and slowest of ${turns.length}`,
        value: `${ms(median(turns))}, ${ms(slowest)}`,
      },
    ],
    targets: [
      { what: `one slot with ${mailboxes} mailboxes, p99`, target: '< 10 ms', got: ms(p99), met: p99 < 10 },
      {
        what: `launcher's turn with ${leads} leads, slowest`,
        target: '< 200 ms',
        got: ms(slowest),
        met: slowest < 200,
      },
    ],
    raw: { slots, turns },
  };
}
