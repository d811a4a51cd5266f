import test from 'ava';
import { createSentLead } from '../../../test/harness/standing-leads.ts';
import { rawDb } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createCampaign, createMailbox } from '../../../test/harness/factories.ts';
import { react } from '../../../test/harness/reactions.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { recordComplaint, recordSendBounce } from '../../sending/outcomes/effects.ts';
import { lockSubject } from '../../sending/outcomes/subject.ts';
import { pauseCampaign } from '../../sending/control/status.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { applyNextEvents } from '../../platform/events/apply-events.ts';
import { enterEvents } from '../../platform/events/enter-events.ts';
import { registerSubscribers } from '../../platform/events/register.ts';
import { SUBSCRIBERS } from './index.ts';
import { fanOut } from '../../../test/harness/webhooks.ts';
import { declareSubscriber } from '../../platform/events/subscriber.ts';
import { EVENT_TYPES, INTERNAL_EVENTS } from '../../platform/kernel/events.ts';
import { pauseOnSpike } from '../../sending/outcomes/pause-on-spike.ts';
import { externalText } from '../../platform/external-text.ts';

const NOW = new Date('2026-11-20T08:00:00Z');
let world: World;
test.before(async () => {
  world = await createWorld({ clock: new ManualClock(NOW) });
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(() => world?.close());

/** Creates an active campaign with sent emails, some of which will bounce or get complaints. */
async function scene(emails: number, settings: Record<string, unknown> = {}) {
  const { organizationId: org } = await world.tenant();
  const { db } = world.deps;
  await db('outreach_settings').insert({
    organization_id: org,
    settings: JSON.stringify({ bounce_pipeline: settings }),
    updated_at: NOW,
  });
  const email = 'sam@ours.test';
  const id = await createMailbox(world.deps, org, email);
  const { campaignId, stepIds } = await createCampaign(world.deps, org, [{ subject: 'Hello' }]);
  await db('campaigns').where({ id: campaignId }).update({ status: 'active' });
  const sends: { id: string }[] = [];
  for (let n = 0; n < emails; n += 1) {
    const lead = await createSentLead(world.deps, org, { campaignId, stepId: stepIds[0]!, mailbox: { id, email } });
    sends.push({ id: lead.sendId });
  }
  return {
    org,
    campaignId,
    bounce: (index: number) =>
      transact(world.system(org), (tx) =>
        recordSendBounce(tx, sends[index]!, { hard: true, reason: externalText('550 5.1.1'), source: 'smtp' }),
      ),
    complain: (index: number) =>
      transact(world.system(org), async (tx) =>
        recordComplaint(tx, (await lockSubject(tx, sends[index]!.id))!, {
          reason: externalText('abuse'),
          source: 'arf',
        }),
      ),
    status: async () => (await db('campaigns').where({ id: campaignId }).first()).status as string,
    count: async (type: string) => (await db('domain_events').where({ organization_id: org, type })).length,
  };
}

test.serial('a spike warns at half the threshold once and pauses the campaign past it', async (t) => {
  const { bounce, count, status } = await scene(100);
  const settle = () => react(world.deps, SUBSCRIBERS);
  await bounce(0);
  await bounce(1);
  await settle();
  t.is(await count('campaign.deliverability_warning'), 0);
  await bounce(2);
  await settle();
  t.is(await count('campaign.deliverability_warning'), 1);
  await bounce(3);
  await settle();
  t.is(await count('campaign.deliverability_warning'), 1);
  t.is(await status(), 'active');
  await bounce(4);
  t.is(await status(), 'active', 'the engine itself pauses nothing');
  await settle();
  t.is(await status(), 'paused');
  t.is(await count('campaign.paused'), 1);
});

test.serial('complaints count by themselves; many events of a campaign at once are one look', async (t) => {
  const { complain, count, status } = await scene(60, { pause_complaint_rate_threshold: 4 });
  await Promise.all([0, 1, 2].map((index) => complain(index)));
  await react(world.deps, SUBSCRIBERS);
  t.is(await status(), 'paused');
  t.is(await count('campaign.deliverability_warning'), 1);
  t.is(await count('campaign.paused'), 1);
});

for (const [title, settings] of [
  ['auto_pause_campaign_on_spike is off', { auto_pause_campaign_on_spike: false }],
  ['the pipeline is off', { enabled: false }],
] as const)
  test.serial(`nothing is paused where ${title}`, async (t) => {
    const { bounce, status } = await scene(50, settings);
    for (let index = 0; index < 10; index += 1) await bounce(index);
    await react(world.deps, SUBSCRIBERS);
    t.is(await status(), 'active');
  });

test.serial('a campaign below the smallest sample is never paused', async (t) => {
  const { bounce, status } = await scene(49);
  for (let index = 0; index < 20; index += 1) await bounce(index);
  await react(world.deps, SUBSCRIBERS);
  t.is(await status(), 'active');
});

test.serial(
  'the pause still comes, once, when processes die between the bounce and the end of the reaction',
  async (t) => {
    const { org, bounce, count, status } = await scene(50);
    for (let index = 0; index < 5; index += 1) await bounce(index);
    // Simulates that no process was running when the bounces were committed. The first check fails after its work and
    // before the commit.
    await fanOut(world.deps);
    await enterEvents(world.deps, SUBSCRIBERS);
    const dying = declareSubscriber({
      name: pauseOnSpike.name,
      types: ['campaign.email_bounced', 'deliverability.complaint'],
      startsFrom: 'now',
      async applyBatch(tx, events, ctx) {
        await pauseOnSpike.applyBatch!(tx, events, ctx);
        const [row] = await tx.org.sql<{ status: string }>('select status from campaigns where organization_id = :org');
        t.is(row!.status, 'paused');
        await rawDb(tx.trx).raw('select pg_terminate_backend(pg_backend_pid())');
      },
    });
    await t.throwsAsync(applyNextEvents(world.deps, dying, org));
    t.is(await status(), 'active');
    t.is(await count('campaign.paused'), 0);
    const stream = await world.deps.db('reaction_streams').where({ organization_id: org }).first();
    t.like(stream, { attempts: 0 }, 'that a process dies is no failure of the event');
    await react(world.deps, SUBSCRIBERS);
    t.is(await status(), 'paused');
    t.is(await count('campaign.paused'), 1);
    await react(world.deps, SUBSCRIBERS);
    t.is(await count('campaign.paused'), 1);
  },
);

test.serial('a campaign that was paused and deleted meanwhile is no failure', async (t) => {
  const { org, campaignId, bounce } = await scene(50);
  for (let index = 0; index < 5; index += 1) await bounce(index);
  await transact(world.system(org), (tx) => pauseCampaign(tx, campaignId, 'paused', externalText('by hand')));
  await world.deps.db('campaigns').where({ id: campaignId }).delete();
  await react(world.deps, SUBSCRIBERS);
  t.is(
    await world.deps.db('reaction_streams').where({ organization_id: org }).whereRaw('head > position').first(),
    undefined,
  );
});

test.serial('subscribers have names that can be kept, and take events of the catalogue', (t) => {
  t.is(new Set(SUBSCRIBERS.map(({ name }) => name)).size, SUBSCRIBERS.length);
  for (const { name, types } of SUBSCRIBERS) {
    t.regex(name, /^[a-z][a-z0-9_]*$/);
    for (const type of types) t.true(type in EVENT_TYPES || INTERNAL_EVENTS.some((each) => each === type), type);
  }
});
