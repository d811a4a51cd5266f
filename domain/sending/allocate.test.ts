import test from 'ava';
import fc from 'fast-check';
import { eventually } from '../../test/harness/eventually.ts';
import { DEFAULT_SETTINGS } from './campaign/outreach-settings.ts';
import { transact } from '../platform/kernel/transact.ts';
import { createCampaign, createContact, createMailbox, enroll, type Tenant } from '../../test/harness/factories.ts';
import { createWorld, type World } from '../../test/harness/world.ts';
import { ManualClock } from '../../test/harness/manual-clock.ts';
import { newId } from '../../lib/ids.ts';
import { allocate, type Allocation, type AllocationLimits, type Candidate } from './allocate.ts';
import type { CampaignView } from './campaign/campaign-view.ts';
import { poolCapacity } from './campaign/sender-pool.ts';
import { releaseReservedSends } from './control/release.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { externalText } from '../platform/external-text.ts';

const MONDAY = new Date('2026-03-02T08:00:00Z');
const clock = new ManualClock(MONDAY);
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

interface Setup {
  tenant: Tenant;
  campaignId: string;
  mailboxIds: string[];
  candidates: Candidate[];
}

async function setup(
  leads: number,
  mailboxes: Record<string, unknown>[],
  campaign: Record<string, unknown> = {},
): Promise<Setup> {
  const tenant = await world.tenant();
  const { organizationId } = tenant;
  const mailboxIds = await Promise.all(
    mailboxes.map((fields, index) =>
      createMailbox(
        world.deps,
        organizationId,
        `m${index}@s.example.com`,
        { smtp: { host: '127.0.0.1', port: 1 } },
        fields,
      ),
    ),
  );
  const { campaignId, stepIds } = await createCampaign(
    world.deps,
    organizationId,
    [{ subject: 'S', body_plain: 'b' }],
    campaign,
  );
  const contacts: string[] = [];
  for (let n = 0; n < leads; n += 1) contacts.push(await createContact(world.deps.db, MONDAY, organizationId));
  const enrollments = await enroll(world.deps, organizationId, campaignId, contacts);
  const candidates = enrollments.map((enrollmentId, index): Candidate => ({
    enrollmentId,
    contactId: contacts[index]!,
    stepId: stepIds[0]!,
    stepRunId: null,
    attempts: 0,
    recipient: `${index}@r.example.org`,
    espProvider: '',
    contactTimezone: null,
    isFirst: true,
    stickyMailboxId: null,
    notBefore: null,
    variantId: null,
  }));
  return { tenant, campaignId, mailboxIds, candidates };
}

async function ask(
  { tenant, campaignId }: Setup,
  candidates: Candidate[],
  settings = DEFAULT_SETTINGS,
  limits: AllocationLimits = {},
): Promise<Allocation[]> {
  return transact(world.system(tenant.organizationId), async (tx) => {
    const campaign = (await tx.org.table('campaigns').where({ id: campaignId }).first()) as CampaignView;
    return allocate(tx, { campaign, settings }, candidates, limits);
  });
}

const slots = (answers: Allocation[]) => answers.flatMap((answer) => (answer.kind === 'slot' ? [answer] : []));

test.serial(
  'the daily limit of the campaign holds over several calls, and the other leads get tomorrow as their next time',
  async (t) => {
    const given = await setup(8, [{}, {}], { daily_limit: 5 });
    t.is(slots(await ask(given, given.candidates.slice(0, 3))).length, 3);
    const rest = await ask(given, given.candidates.slice(3));
    t.is(slots(rest).length, 2);
    const later = rest.filter((answer) => answer.kind === 'later');
    t.is(later.length, 3);
    t.true(
      later.every(
        (answer) => answer.at >= new Date('2026-03-03T00:00:00Z') && answer.at < new Date('2026-03-03T00:02:00Z'),
      ),
    );
  },
);

test.serial('new leads have a limit of their own', async (t) => {
  const given = await setup(3, [{}], { max_new_leads_per_day: 1 });
  const [first, second, third] = await ask(given, [
    given.candidates[0]!,
    given.candidates[1]!,
    { ...given.candidates[2]!, isFirst: false },
  ]);
  t.deepEqual([first!.kind, second!.kind, third!.kind], ['slot', 'later', 'slot']);
});

test.serial('mailboxes take turns, keep their gap, and stop at their own cap', async (t) => {
  const given = await setup(7, [
    { min_wait_time: 600, campaign_limit: 3 },
    { min_wait_time: 600, campaign_limit: 3 },
  ]);
  const answers = await ask(given, given.candidates);
  const taken = slots(answers);
  t.is(taken.length, 6);
  t.is(answers.at(-1)!.kind, 'later');
  for (const mailboxId of given.mailboxIds) {
    const times = taken
      .filter((slot) => slot.mailboxId === mailboxId)
      .map((slot) => slot.at.getTime())
      .sort((a, b) => a - b);
    t.is(times.length, 3);
    for (let i = 1; i < times.length; i += 1) t.true(times[i]! - times[i - 1]! >= 600_000);
  }
});

test.serial('slots lie inside the window, and a closed window says when it opens', async (t) => {
  const inside = await setup(1, [{}], { start_time: '09:00', end_time: '17:00', timezone: 'Europe/Berlin' });
  const [open] = await ask(inside, inside.candidates);
  t.is(open!.kind, 'slot');
  const closed = await setup(1, [{}], { start_time: '09:00', end_time: '17:00', timezone: 'Pacific/Auckland' });
  const [shut] = await ask(closed, closed.candidates);
  t.true(shut!.kind === 'slot' || shut!.kind === 'later');
  t.true((shut as { at: Date }).at >= new Date('2026-03-02T20:00:00Z'), 'nine in the morning in Auckland');
});

test.serial('without a usable mailbox the answer is a hold; an ended campaign never sends', async (t) => {
  const none = await setup(1, [{ status: 'inactive' }]);
  t.deepEqual(await ask(none, none.candidates), [{ kind: 'hold', why: 'no_mailbox', concerns: 'campaign' }]);
  const ended = await setup(1, [{}], { end_date: new Date('2026-03-01T00:00:00Z') });
  t.deepEqual(await ask(ended, ended.candidates), [{ kind: 'never', why: 'campaign_ended' }]);
});

test.serial('a conversation stays with its mailbox', async (t) => {
  const given = await setup(4, [{}, {}, {}]);
  const own: string = given.mailboxIds[2]!;
  const answers = slots(
    await ask(
      given,
      given.candidates.map((candidate) => ({ ...candidate, isFirst: false, stickyMailboxId: own })),
    ),
  );
  t.deepEqual([...new Set(answers.map((answer) => answer.mailboxId))], [own]);
});

test.serial('esp_match_mode strict takes matching mailboxes only, prefer falls back', async (t) => {
  const candidate = (given: Setup) => [{ ...given.candidates[0]!, espProvider: 'gmail' }];
  const strict = await setup(1, [{}], { esp_match_mode: 'strict' });
  t.is((await ask(strict, candidate(strict)))[0]!.kind, 'hold');
  const prefer = await setup(1, [{}, { provider: 'gmail' }], { esp_match_mode: 'prefer' });
  t.is(slots(await ask(prefer, candidate(prefer)))[0]!.mailboxId, prefer.mailboxIds[1]!);
});

test.serial('concurrent callers never exceed a cap or share a slot', async (t) => {
  const given = await setup(
    40,
    [
      { min_wait_time: 1, campaign_limit: 12 },
      { min_wait_time: 1, campaign_limit: 12 },
    ],
    { daily_limit: 20 },
  );
  const parts = Array.from({ length: 8 }, (_, i) => given.candidates.slice(i * 5, i * 5 + 5));
  const taken = slots((await Promise.all(parts.map((part) => ask(given, part)))).flat());
  t.is(taken.length, 20);
  const keys = taken.map((slot) => `${slot.mailboxId}/${slot.at.getTime()}`);
  t.is(new Set(keys).size, 20);
});

test.serial('released slots can be given out again, and the counters end where they began', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 4 }), async (leads, limit) => {
      const given = await setup(leads, [{ campaign_limit: limit }]);
      const first = slots(await ask(given, given.candidates)).length;
      const released = await transact(world.system(given.tenant.organizationId), (tx) =>
        releaseReservedSends(tx, { campaignId: given.campaignId }),
      );
      t.is(released, first);
      const counters = await world.deps
        .db('daily_counters')
        .where({ organization_id: given.tenant.organizationId })
        .sum({ n: 'count' })
        .first();
      t.is(Number(counters!.n), 0);
      t.is(slots(await ask(given, given.candidates)).length, first);
    }),
    { numRuns: 8 },
  );
});

test.serial('the ramp raises what a day may hold', async (t) => {
  const given = await setup(10, [{}], { ramp_enabled: true, ramp_start: 2, ramp_increment: 3, ramp_ceiling: 50 });
  t.is(slots(await ask(given, given.candidates)).length, 2);
  clock.set(new Date('2026-03-03T08:00:00Z'));
  t.teardown(() => clock.set(MONDAY));
  t.is(slots(await ask(given, given.candidates.slice(2))).length, 5);
});

/** Reserves a slot of a mailbox at a time (ISO 8601), as another campaign would. */
async function occupy(given: Setup, mailboxId: string, at: string): Promise<void> {
  const { organizationId } = given.tenant;
  const id = newId();
  await world.deps.db('sends').insert({
    id,
    organization_id: organizationId,
    mailbox_id: mailboxId,
    state: 'reserved',
    recipient: 'other@r.example.org',
    slot_at: new Date(at),
    slot_day: at.slice(0, 10),
    created_at: MONDAY,
    updated_at: MONDAY,
  });
}

/** Counts emails of a mailbox for other campaigns on the first day. */
async function count(given: Setup, mailboxId: string, emails: number): Promise<void> {
  await world.deps.db('daily_counters').insert({
    organization_id: given.tenant.organizationId,
    scope: 'mailbox',
    scope_id: mailboxId,
    day: '2026-03-02',
    count: emails,
  });
}

test.serial('a busy mailbox with the least load does not keep the pool waiting', async (t) => {
  const given = await setup(3, [
    { min_wait_time: 3600, campaign_limit: 50 },
    { min_wait_time: 60, campaign_limit: 50 },
  ]);
  const [busy, free] = given.mailboxIds as [string, string];
  // The first mailbox has not sent today but has a reserved slot in the next minutes. The second has sent emails and is
  // free.
  await occupy(given, busy, '2026-03-02T08:20:00Z');
  await count(given, free, 10);
  const [slot] = slots(await ask(given, given.candidates.slice(0, 1)));
  t.is(slot!.mailboxId, free);
  t.is(slot!.at.getTime(), MONDAY.getTime());
});

test.serial('a slot reserved for later leaves the time before it to others', async (t) => {
  const given = await setup(1, [{ min_wait_time: 600, campaign_limit: 50 }]);
  await occupy(given, given.mailboxIds[0]!, '2026-03-02T20:00:00Z');
  t.is(slots(await ask(given, given.candidates))[0]?.at.getTime(), MONDAY.getTime());
});

test.serial('a cap that is used up today counts for today: the next UTC day is another', async (t) => {
  // Sydney is eleven hours ahead: 10:00 there is 23:00 UTC of the previous day.
  clock.set(new Date('2026-03-02T23:00:00Z'));
  t.teardown(() => clock.set(MONDAY));
  const given = await setup(1, [{ campaign_limit: 1 }], {
    timezone: 'Australia/Sydney',
    start_time: '09:00',
    end_time: '17:00',
  });
  await count(given, given.mailboxIds[0]!, 1);
  t.is(slots(await ask(given, given.candidates))[0]?.at.toISOString(), '2026-03-03T00:00:00.000Z');
});

test.serial('prefer takes another mailbox where those that match have nothing left', async (t) => {
  const given = await setup(2, [{}, { provider: 'gmail', campaign_limit: 1 }], { esp_match_mode: 'prefer' });
  const answers = slots(
    await ask(
      given,
      given.candidates.map((candidate) => ({ ...candidate, espProvider: 'gmail' })),
    ),
  );
  t.deepEqual(
    answers.map((slot) => slot.mailboxId),
    [given.mailboxIds[1]!, given.mailboxIds[0]!],
  );
});

test.serial('the ramp holds for each mailbox, not for their sum', async (t) => {
  const given = await setup(4, [{}, {}], { ramp_enabled: true, ramp_start: 1, ramp_increment: 1, ramp_ceiling: 50 });
  const [first] = given.mailboxIds;
  // All conversations must be continued by the same mailbox.
  const bound = given.candidates.map((candidate) => ({ ...candidate, isFirst: false, stickyMailboxId: first! }));
  t.is(slots(await ask(given, bound)).length, 1);
});

test.serial(
  'a mailbox that has given its share of a day is known for it, until one of its slots is given back',
  async (t) => {
    const given = await setup(4, [{}, {}], { ramp_enabled: true, ramp_start: 1, ramp_increment: 1, ramp_ceiling: 50 });
    const [one, two, three, four] = given.candidates as [Candidate, Candidate, Candidate, Candidate];
    const known = async (): Promise<number[]> =>
      (await world.deps.db('mailboxes').whereIn('id', given.mailboxIds).orderBy('id')).map(
        ({ spent_days: days }) => days.length,
      );
    const [first] = await ask(given, [one]);
    t.is(
      (await known()).reduce((sum, n) => sum + n),
      1,
    );
    t.is(slots(await ask(given, [two, three])).length, 1);
    t.deepEqual(await known(), [1, 1]);
    t.is(first!.kind, 'slot');
    const { sendId, mailboxId } = first as Extract<Allocation, { kind: 'slot' }>;
    await transact(world.system(given.tenant.organizationId), (tx) => releaseReservedSends(tx, { sendId }));
    t.like(await ask(given, [four]), [{ kind: 'slot', mailboxId }]);
    // Changing the share changes the cache key, so an edit of the campaign need not clear `spent_days`.
    await world.deps.db('campaigns').where({ id: given.campaignId }).update({ ramp_level: 2 });
    t.is(slots(await ask(given, [three])).length, 1);
  },
);

test.serial('a mailbox that rests for a while keeps its conversations', async (t) => {
  const until = new Date('2026-03-02T12:00:00Z');
  const given = await setup(1, [
    {},
    { hold_code: 'sender_refused', hold_reason: externalText('too many'), hold_until: until },
  ]);
  const [answer] = await ask(given, [
    { ...given.candidates[0]!, isFirst: false, stickyMailboxId: given.mailboxIds[1]! },
  ]);
  t.like(answer, { kind: 'later', at: until });
});

test.serial('a mailbox whose reading rests for a while keeps its conversations', async (t) => {
  const until = new Date('2026-03-02T12:00:00Z');
  const given = await setup(1, [
    {},
    { imap_hold_code: 'imap_auth_failed', imap_hold_reason: externalText('refused'), imap_hold_until: until },
  ]);
  const [answer] = await ask(given, [
    { ...given.candidates[0]!, isFirst: false, stickyMailboxId: given.mailboxIds[1]! },
  ]);
  t.like(answer, { kind: 'later', at: until });
});

test.serial(
  'what a pool can give in a day is the sum of its mailboxes, and no more than the daily limit',
  async (t) => {
    const given = await setup(1, [{ campaign_limit: 3 }, { campaign_limit: 40 }, { campaign_limit: 0 }]);
    const org = world.system(given.tenant.organizationId);
    const pool = { id: given.campaignId, sender_strategy: 'tags' as const, email_tags: [] };
    const capacity = (limit: number) => transact(org, (tx) => poolCapacity(tx.org, pool, limit));
    t.deepEqual([await capacity(2), await capacity(10), await capacity(100)], [2, 10, 43]);
  },
);

test.serial('a contact whose mailbox is decided locks no other', async (t) => {
  const given = await setup(1, [{}, {}, {}]);
  const [own, other] = given.mailboxIds as [string, string];
  const { db } = world.deps;
  // Another transaction holds the lock of a second mailbox of the pool.
  await db.transaction(async (trx) => {
    await trx('mailboxes').where({ id: other }).forUpdate().first();
    const bound = [{ ...given.candidates[0]!, isFirst: false, stickyMailboxId: own }];
    // The call must not wait for that mailbox, because the transaction with its lock waits for the call.
    t.not(await Promise.race([ask(given, bound), sleep(60_000, 'waits', { ref: false })]), 'waits');
  });
});

test.serial(
  'the only free mailbox is waited for while somebody else holds it, and one that is free is taken at once',
  async (t) => {
    const given = await setup(2, [{}, {}]);
    const [held, free] = given.mailboxIds as [string, string];
    const { db } = world.deps;
    let second!: Promise<Allocation[]>;
    await db.transaction(async (trx) => {
      await trx('mailboxes').where({ id: held }).forUpdate().first();
      t.like(await ask(given, [given.candidates[0]!]), [{ kind: 'slot', mailboxId: free }]);
      await db('mailboxes').where({ id: free }).update({ status: 'inactive' });
      second = ask(given, [given.candidates[1]!]);
      await eventually(async () => {
        const { rows } = (await db.raw(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%for no key update of m%'`,
        )) as { rows: unknown[] };
        return rows.length > 0;
      });
    });
    t.like(await second, [{ kind: 'slot', mailboxId: held }]);
  },
);

test.serial('a pool that has given what the ramp allows says when the next mailbox comes back', async (t) => {
  const until = new Date('2026-03-02T12:00:00Z');
  const given = await setup(
    3,
    [{}, { hold_code: 'sender_refused', hold_reason: externalText('too many'), hold_until: until }],
    {
      ramp_enabled: true,
      ramp_start: 1,
      ramp_increment: 1,
      ramp_ceiling: 50,
    },
  );
  const [one, two, three] = given.candidates as [Candidate, Candidate, Candidate];
  t.like(await ask(given, [one]), [{ kind: 'slot', mailboxId: given.mailboxIds[0] }]);
  t.like(await ask(given, [two]), [{ kind: 'later', at: until }]);
  await world.deps.db('mailboxes').where({ id: given.mailboxIds[1] }).update({ hold_code: null, hold_until: null });
  t.like(await ask(given, [two]), [{ kind: 'slot', mailboxId: given.mailboxIds[1] }]);
  t.like(await ask(given, [three]), [{ kind: 'later', why: { code: 'wait.limit_mailboxes', values: {} } }]);
});

test.serial('new leads leave follow-ups of the day the room in the mailboxes they are bound to', async (t) => {
  const given = await setup(4, [
    { campaign_limit: 2, min_wait_time: 60 },
    { campaign_limit: 2, min_wait_time: 60 },
  ]);
  const [kept, other] = given.mailboxIds as [string, string];
  const keepBack = (emails: number, full: string[], until = Infinity) => ({
    emails,
    mailboxes: new Map([[kept, emails]]),
    full,
    until,
  });
  const ask2 = (from: number, limits: AllocationLimits) =>
    ask(given, given.candidates.slice(from, from + 2), DEFAULT_SETTINGS, limits);
  t.deepEqual(
    slots(await ask2(0, { keepBack: keepBack(1, []) }))
      .map(({ mailboxId }) => mailboxId)
      .sort(),
    [kept, other].sort(),
  );
  // Each mailbox has one email left. The email of the first mailbox is reserved.
  const [slot, later] = await ask2(2, { keepBack: keepBack(1, [kept]) });
  t.like(slot, { kind: 'slot', mailboxId: other });
  t.like(later, { kind: 'later', at: new Date(MONDAY.getTime() + 3_600_000) });
  // The contacts for whom the email is reserved request slots in twenty minutes. After that the reserved email may be
  // free.
  const soon = MONDAY.getTime() + 20 * 60_000;
  t.like((await ask2(3, { keepBack: keepBack(1, [kept], soon) }))[0], { kind: 'later', at: new Date(soon + 1_000) });
  t.like((await ask2(3, {}))[0], { kind: 'slot', mailboxId: kept });
});

test.serial('the part of a day that lies on the next UTC day counts when gaps are lengthened', async (t) => {
  // No quota is left on this UTC day. Eight hours and eight emails are left on the campaign's day.
  clock.set(new Date('2026-03-02T23:00:00Z'));
  t.teardown(() => clock.set(MONDAY));
  // The growth of gaps is random, so one iteration would prove nothing.
  for (let world = 0; world < 10; world += 1) {
    const given = await setup(8, [{ campaign_limit: 8, min_wait_time: 3600 }], {
      timezone: 'Australia/Sydney',
      start_time: '09:00',
      end_time: '19:00',
    });
    await count(given, given.mailboxIds[0]!, 8);
    t.is(slots(await ask(given, given.candidates)).length, 8);
  }
});

test.serial('a contact whose hour ends before a mailbox is free keeps no other waiting', async (t) => {
  // No quota is left on this UTC day. The next day begins in five minutes, when the first contact's last hour ends.
  clock.set(new Date('2026-03-02T23:55:00Z'));
  t.teardown(() => clock.set(MONDAY));
  const given = await setup(2, [{ campaign_limit: 1 }], { timezone: 'Asia/Tokyo' });
  await count(given, given.mailboxIds[0]!, 1);
  const settings = {
    ...DEFAULT_SETTINGS,
    send_time_optimization: { ...DEFAULT_SETTINGS.send_time_optimization, enabled: true, preferred_hours: [16, 17] },
  };
  const [ending, going] = await ask(
    given,
    given.candidates.map((one, index) => ({ ...one, contactTimezone: index === 0 ? 'Etc/GMT+6' : 'Etc/GMT+7' })),
    settings,
  );
  t.like(ending, { kind: 'later', concerns: 'contact' });
  t.is((going as { at: Date }).at.toISOString(), '2026-03-03T00:00:00.000Z');
});
