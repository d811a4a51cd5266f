import test from 'ava';
import { fillWorld, NOON, type LivingWorld } from '../../bench/month-world.ts';
import { ManualClock } from '../../test/harness/manual-clock.ts';
import { createWorld, type World } from '../../test/harness/world.ts';
import { estimateRest } from '../campaigns/estimate.ts';
import { transact } from '../platform/kernel/transact.ts';
import { launchDueLeads } from './enrollment/launch.ts';
import { signalQueues, queuedRetryTime } from './enrollment/queue.ts';
import type { CampaignView } from './campaign/campaign-view.ts';
import { promoteWinners } from './outcomes/promote-variant.ts';
import { newId } from '../../lib/ids.ts';
import { DAY_MS } from '../../lib/clock.ts';
import { LIMIT_REACHED } from './allocate.ts';
import { externalText } from '../platform/external-text.ts';
import { message } from '../../messages/index.ts';

/** Tables that grow with a workspace's activity. */
const LARGE = ['enrollments', 'contacts', 'sends', 'outbox', 'step_runs', 'daily_counters', 'suppressions', 'waits'];

const clock = new ManualClock(NOON);
let world: World;
let living: LivingWorld;
test.before(async (t) => {
  t.timeout(120_000);
  world = await createWorld({ clock });
  living = await fillWorld(world.deps, { mailboxes: 500, leads: 120_000, log: () => {} });
  // With this setting off, due follow-ups are counted before new leads get slots.
  await world.deps.db('campaigns').update({ prioritize_new_leads: false });
});
test.after.always(() => world?.close());

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  Plans?: Plan[];
}

/** Runs `work` and explains each of its statements. Returns those that scan a large table sequentially. */
async function scansOf(work: () => Promise<unknown>): Promise<{ texts: string[]; scans: string[] }> {
  const { db } = world.deps;
  const sent = new Map<string, unknown[]>();
  const note = ({ sql, bindings }: { sql: string; bindings?: unknown[] }): void => void sent.set(sql, bindings ?? []);
  db.on('query', note);
  await work().finally(() => db.removeListener('query', note));
  const scans: string[] = [];
  const texts: string[] = [];
  for (const [text, values] of sent) {
    if (!/^\s*(?:select|with|update|insert|delete)\b/i.test(text)) continue;
    texts.push(text);
    const connection = await db.client.acquireConnection();
    try {
      const { rows } = await connection.query({ text: `explain (format json) ${text}`, values });
      for (const name of scansIn(rows[0]['QUERY PLAN'][0].Plan)) scans.push(`${name}: ${text.slice(0, 300)}`);
    } finally {
      await db.client.releaseConnection(connection);
    }
  }
  return { texts, scans };
}

function scansIn(plan: Plan): string[] {
  const own =
    plan['Node Type'] === 'Seq Scan' && LARGE.includes(plan['Relation Name']!) ? [plan['Relation Name']!] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(scansIn)];
}

test.serial('a turn of the launcher goes through no large table, whoever its senders are', async (t) => {
  const { everybody, explicit, tag, ramp } = living.campaigns;
  for (const { campaignId } of [everybody, explicit, tag, ramp]) {
    const found = await scansOf(async () => {
      // The first calls reset refused leads, page by page.
      for (let turn = 0; turn < 60; turn += 1) {
        const done = await launchDueLeads(world.system(living.organizationId), campaignId);
        if ('report' in done || done.launched > 0) break;
      }
    });
    t.deepEqual(found.scans, []);
    // Only this campaign has leads. The call counts due follow-ups, picks the next leads and reserves slots.
    if (campaignId !== everybody.campaignId) continue;
    for (const part of ['launch_after', 'with waiting as', 'insert into sends', 'insert into outbox'])
      t.true(
        found.texts.some((text) => text.includes(part)),
        part,
      );
  }
});

test.serial('nor does the place of a run in the queue for a daily limit, nor calling those behind', async (t) => {
  const { campaignId, stepIds } = living.campaigns.everybody;
  const lead = await world.deps
    .db('enrollments')
    .where({ campaign_id: campaignId, state: 'active' })
    .first('id', 'mailbox_id');
  await world.deps.db('campaigns').where({ id: campaignId }).update({ max_new_leads_per_day: 100 });
  const campaign = (await world.deps.db('campaigns').where({ id: campaignId }).first()) as CampaignView;
  // Makes one enrollment wait in a queue. With empty queues the call ends after a single statement.
  const waiting_for = message('wait.at_step', {
    step: externalText('step 2 of 2'),
    what: message(LIMIT_REACHED.campaign),
  });
  await world.deps
    .db('enrollments')
    .where({ id: lead.id })
    .update({ waiting_for, waiting_until: new Date(NOON.getTime() + 2 * DAY_MS) });
  const found = await scansOf(() =>
    transact(world.system(living.organizationId), async (tx) => {
      const asking = { campaign, enrollment: lead as never, run: { started_at: NOON } as never };
      for (const kind of ['campaign', 'newLeads', 'mailbox'] as const)
        await queuedRetryTime(tx, asking, stepIds[1]!, { kind, from: NOON, perDay: 50 });
      await signalQueues(tx, campaign);
    }),
  );
  t.true(found.texts.length >= 7);
  t.deepEqual(found.scans, []);
});

test.serial('nor does the estimate of what a campaign has left to send', async (t) => {
  const found = await scansOf(() =>
    estimateRest(world.system(living.organizationId), living.campaigns.everybody.campaignId, {}),
  );
  t.true(found.texts.some((text) => text.includes('campaign_flow_counts')));
  t.deepEqual(found.scans, []);
});

test.serial('nor does the comparison of the variants of a step', async (t) => {
  const { db } = world.deps;
  const { organizationId } = living;
  const { campaignId, stepIds } = living.campaigns.everybody;
  const variants = ['A', 'B'].map((name) => ({
    id: newId(),
    organization_id: organizationId,
    campaign_id: campaignId,
    step_id: stepIds[0]!,
    name,
    created_at: NOON,
    updated_at: NOON,
  }));
  await db('campaign_variants').insert(variants);
  await db('campaign_advanced')
    .insert({
      organization_id: organizationId,
      campaign_id: campaignId,
      overrides: JSON.stringify({ ab_testing: { enabled: true, auto_promote_winner: true } }),
      updated_at: NOON,
    })
    .onConflict('campaign_id')
    .merge();
  // Only a few of the many emails belong to the compared step.
  await db.raw(
    `update sends s set variant_id = (:variants::uuid[])[1 + hashtext(s.id::text) & 1]
     where s.id in (select id from sends where campaign_id = :campaign and state = 'sent' limit 1000)`,
    { variants: variants.map(({ id }) => id), campaign: campaignId },
  );
  await db.raw('analyze sends');
  const found = await scansOf(() => transact(world.system(organizationId), (tx) => promoteWinners(tx, campaignId)));
  t.true(found.texts.length >= 3);
  t.deepEqual(found.scans, []);
});
