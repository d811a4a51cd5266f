import test from 'ava';
import { finishEnrollment } from '../../domain/sending/control/finish.ts';
import { launchDueLeads } from '../../domain/sending/enrollment/launch.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { HOUR_MS } from '../../lib/clock.ts';
import { createCampaign, createContact, createMailbox, enroll, type StepSpec } from '../harness/factories.ts';
import { createMondayWorld } from '../harness/lead.ts';
import { assertStatus, call } from '../harness/world.ts';

/* Tests a contact who is a lead of two active campaigns. */

const { world, clock } = await createMondayWorld(test);

const EMAIL: StepSpec = { subject: 'Hello', body_plain: 'Hello' };
const EVENT: StepSpec = {
  kind: 'action',
  action: { type: 'wait_for_event', wait_event_name: 'order.paid', timeout_minutes: 60, on_timeout: 'continue' },
};

/** Creates two active campaigns with the same contacts and a mailbox. The second campaign begins with `first`. */
async function scene(mode: string | null, first: StepSpec = EMAIL) {
  const tenant = await world.tenant();
  const { organizationId: org, apiKey: token } = tenant;
  await createMailbox(world.deps, org, 'm@s.example.com');
  if (mode !== null)
    await call(world, 'PATCH', '/v1/outreach/settings', { token, body: { settings: { campaign_overlap: { mode } } } });
  const one = await createCampaign(world.deps, org, [EMAIL, EMAIL], { name: 'First' });
  const two = await createCampaign(world.deps, org, [first, EMAIL], { name: 'Second' });
  const contacts = [
    await createContact(world.deps.db, clock.now(), org),
    await createContact(world.deps.db, clock.now(), org),
  ];
  const ctx = world.system(org);
  const launch = async (campaignId: string) => {
    for (let turns = 0; turns < 10; turns += 1) if ('report' in (await launchDueLeads(ctx, campaignId))) return;
  };
  const leads = (campaignId: string) =>
    world.deps.db('enrollments').where({ campaign_id: campaignId }).orderBy('contact_id');
  return { ctx, org, token, one: one.campaignId, two: two.campaignId, contacts: contacts.sort(), launch, leads };
}

for (const first of [EMAIL, EVENT]) {
  test.serial(
    `with "hold" a lead waits for the other campaign, in sight, and then starts (${first.kind ?? 'email'})`,
    async (t) => {
      const { ctx, org, token, one, two, contacts, launch, leads } = await scene('hold', first);
      const [busy, free] = contacts as [string, string];
      const [enrollment] = await enroll(world.deps, org, one, [busy]);
      await enroll(world.deps, org, two, [busy, free]);
      await launch(one);
      await launch(two);
      const [held, started] = await leads(two);
      t.like(started, { contact_id: free, state: 'active' });
      t.like(held, { contact_id: busy, state: 'pending', hold_source: 'other_campaign' });
      t.deepEqual(held.hold_until, new Date(clock.now().getTime() + HOUR_MS));
      const shown = await call(world, 'GET', `/v1/campaigns/${two}/leads`, { token });
      t.like(
        shown.body.data.find(({ contact_id }: { contact_id: string }) => contact_id === busy),
        {
          status: 'paused',
          hold: { source: 'other_campaign', reason: 'Waits until the campaign First is done with this contact' },
        },
      );
      // After an hour the hold is renewed and keeps its start time.
      clock.advance(HOUR_MS);
      await launch(two);
      const [again] = await leads(two);
      t.like(again, { state: 'pending', hold_since: held.hold_since });
      await transact(ctx, (tx) => finishEnrollment(tx, enrollment!, 'completed'));
      clock.advance(HOUR_MS);
      await launch(two);
      t.is((await leads(two))[0].state, 'active');
    },
  );
}

test.serial('a person who ends the hold has the contact start in both', async (t) => {
  const { org, token, one, two, contacts, launch, leads } = await scene('hold');
  await enroll(world.deps, org, one, contacts);
  await enroll(world.deps, org, two, contacts);
  await launch(one);
  await launch(two);
  const resume = `/v1/campaigns/${two}/leads/${contacts[0]}/resume`;
  assertStatus(t, await call(world, 'POST', resume, { token }), 200);
  await launch(two);
  t.deepEqual(
    (await leads(two)).map(({ state }) => state),
    ['active', 'pending'],
  );
});

test.serial('a campaign that is paused or has not begun with the contact holds nobody', async (t) => {
  const { org, one, two, contacts, launch, leads } = await scene('hold');
  const [paused, waiting] = contacts as [string, string];
  await enroll(world.deps, org, one, [paused]);
  await launch(one);
  await world.deps.db('campaigns').where({ id: one }).update({ status: 'paused' });
  await enroll(world.deps, org, one, [waiting]);
  await enroll(world.deps, org, two, contacts);
  await launch(two);
  t.deepEqual(
    (await leads(two)).map(({ state }) => state),
    ['active', 'active'],
  );
});

test.serial('without a setting, and with "off", a lead starts in both', async (t) => {
  for (const mode of [null, 'warn', 'off']) {
    const { org, one, two, contacts, launch, leads } = await scene(mode);
    await enroll(world.deps, org, one, contacts);
    await enroll(world.deps, org, two, contacts);
    await launch(one);
    await launch(two);
    for (const campaign of [one, two])
      t.deepEqual(
        (await leads(campaign)).map(({ state }) => state),
        ['active', 'active'],
      );
  }
});

test.serial('of two campaigns that start the same contacts at once, one has each', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const { org, one, two, contacts, launch, leads } = await scene('hold');
    await enroll(world.deps, org, one, contacts);
    await enroll(world.deps, org, two, contacts);
    await Promise.all([launch(one), launch(two)]);
    const [first, second] = [await leads(one), await leads(two)];
    for (const [index, lead] of first.entries())
      t.deepEqual([lead.state, second[index].state].sort(), ['active', 'pending']);
  }
});
