import test from 'ava';
import { newId } from '../../../lib/ids.ts';
import { createCampaign, createContact, enroll } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { recordMeeting, type MeetingReport } from './record.ts';
import { awaitLockWaits } from '../../../test/harness/statements.ts';

const clock = new ManualClock(new Date('2026-03-02T12:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

const at = (minute: number) => new Date(clock.now().getTime() + minute * 60_000);

const news = (id: string, minute: number, more: Partial<MeetingReport> = {}): MeetingReport => ({
  externalEventId: id,
  kind: more.replaces ? 'rescheduled' : 'booked',
  occurredAt: at(minute),
  inviteeEmail: 'Ada@lead.test',
  inviteeName: 'Ada',
  eventName: 'Call',
  eventType: '',
  scheduledFor: at(10_000 + minute),
  endTime: null,
  joinUrl: '',
  location: '',
  cancelUrl: '',
  rescheduleUrl: '',
  canceledReason: '',
  ...more,
});

const record = (org: string, each: MeetingReport) =>
  transact(world.system(org), (tx) => recordMeeting(tx, { source: 'calendly', connectionId: null }, each));

/** Returns all permutations of a list. */
function orders<T>(list: readonly T[]): T[][] {
  if (list.length === 0) return [[]];
  return list.flatMap((first, index) => orders(list.toSpliced(index, 1)).map((rest) => [first, ...rest]));
}

test('of a meeting that was moved twice and called off, any order of news leaves one meeting in its last state', async (t) => {
  const { organizationId: org } = await world.tenant();
  let count = 0;
  for (const last of [3, 4]) {
    for (const places of orders([0, 1, 2, 3].slice(0, last))) {
      count += 1;
      const id = (name: string) => `${name}${count}`;
      const chain = [
        news(id('a'), 0),
        news(id('b'), 1, { replaces: id('a') }),
        news(id('c'), 2, { replaces: id('b') }),
        news(id('c'), 3, { kind: 'canceled' }),
      ];
      for (const place of places) await record(org, chain[place]!);
      const rows = await world.deps.db('meetings').where({ organization_id: org, invitee_name: 'Ada' });
      t.deepEqual(
        rows.map((row) => ({ id: row.external_event_id, status: row.status, replaced: row.replaced_ids.toSorted() })),
        [{ id: id('c'), status: last === 4 ? 'canceled' : 'rescheduled', replaced: [id('a'), id('b')] }],
        places.join(),
      );
      await world.deps.db('meetings').where({ organization_id: org }).update({ invitee_name: 'seen' });
    }
  }
});

test('two moves of one meeting that arrive at one moment leave one meeting', async (t) => {
  const { organizationId: org } = await world.tenant();
  let second: Promise<unknown> | undefined;
  await transact(world.system(org), async (tx) => {
    await recordMeeting(tx, { source: 'calendly', connectionId: null }, news('b', 1, { replaces: 'a' }));
    second = record(org, news('c', 2, { replaces: 'b' }));
    await awaitLockWaits(world.deps.db, { like: '%advisory%' });
  });
  await second;
  const rows = await world.deps.db('meetings').where({ organization_id: org });
  t.deepEqual(
    rows.map((row) => row.external_event_id),
    ['c'],
  );
});

test('what is booked while its contact is being deleted is a meeting with nobody that is known', async (t) => {
  const { organizationId: org } = await world.tenant();
  const contactId = await createContact(world.deps.db, clock.now(), org, { email: 'ada@lead.test' });
  let booked: Promise<unknown> | undefined;
  await transact(world.system(org), async (tx) => {
    await tx.org.table('contacts').where({ id: contactId }).delete();
    booked = record(org, news('x', 0));
    await awaitLockWaits(world.deps.db, { like: '%contacts%' });
  });
  t.is(await booked, 'booked');
  t.like(await world.deps.db('meetings').where({ organization_id: org }).first(), { contact_id: null });
});

test('a meeting that is booked ends its contact in the campaigns that stop on a reply, and in no other', async (t) => {
  const { organizationId: org } = await world.tenant();
  const { deps } = world;
  const contactId = await createContact(deps.db, clock.now(), org, { email: 'ada@lead.test' });
  const otherId = await createContact(deps.db, clock.now(), org, { email: 'bob@lead.test' });
  const stops = await createCampaign(deps, org, [{ subject: 'Hello', body_plain: 'b' }]);
  const goesOn = await createCampaign(deps, org, [{ subject: 'Hello', body_plain: 'b' }]);
  await deps.db('campaigns').where({ id: stops.campaignId }).update({ stop_on_reply: true });
  await deps.db('campaigns').where({ id: goesOn.campaignId }).update({ stop_on_reply: false });
  await enroll(deps, org, stops.campaignId, [contactId, otherId]);
  await enroll(deps, org, goesOn.campaignId, [contactId, otherId]);
  const states = async () =>
    (await deps.db('enrollments').where({ organization_id: org }))
      .map((row) => {
        const campaign = row.campaign_id === stops.campaignId ? 'stops' : 'goes on';
        return `${row.contact_id === contactId ? 'ada' : 'bob'} ${campaign}: ${row.state}`;
      })
      .toSorted();
  const before = await states();
  await record(org, news('x', 0, { kind: 'canceled' }));
  t.deepEqual(await states(), before, 'one that was called off ends nothing');
  await record(org, news(newId(), 1));
  t.deepEqual(
    await states(),
    before.map((line) => line.replace(/^(ada stops): .*/, '$1: completed')),
  );
  const [ended] = await deps.db('enrollments').where({ contact_id: contactId, campaign_id: stops.campaignId });
  t.is(ended.failure_reason.code, 'ended.meeting');
});
