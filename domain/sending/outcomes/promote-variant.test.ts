import test from 'ava';
import fc from 'fast-check';
import { compareRates } from './compare-rates.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../../../test/harness/factories.ts';
import { createSend } from '../../../test/harness/inbound.ts';
import { react } from '../../../test/harness/reactions.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { advanceEnrollment } from '../enrollment/advance.ts';
import { createVariant, listVariants, updateVariant } from '../../campaigns/variants.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { registerSubscribers } from '../../platform/events/register.ts';
import { SUBSCRIBERS } from '../../operations/subscribers/index.ts';
import { newId } from '../../../lib/ids.ts';
import { seeded } from '../../../test/faults/random.ts';

const NOW = new Date('2026-11-20T08:00:00Z');
const clock = new ManualClock(NOW);
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(() => world?.close());

test('a difference beyond chance is found, and small ones are not called', (t) => {
  t.deepEqual(
    compareRates([
      { sent: 400, successes: 12 },
      { sent: 400, successes: 48 },
    ]),
    { best: 1 },
  );
  t.is(
    compareRates([
      { sent: 100, successes: 4 },
      { sent: 100, successes: 7 },
    ]),
    null,
  );
  t.is(
    compareRates([
      { sent: 500, successes: 0 },
      { sent: 500, successes: 0 },
    ]),
    null,
  );
  t.is(
    compareRates([
      { sent: 5, successes: 0 },
      { sent: 5, successes: 3 },
    ]),
    null,
  );
});

test('the winner has the highest rate, and better than it wins too', (t) => {
  const sample = fc.record({
    sent: fc.integer({ min: 50, max: 2000 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(sample, { minLength: 2, maxLength: 4 }), (drawn) => {
      const samples = drawn.map(({ sent, share }) => ({ sent, successes: Math.floor(sent * share) }));
      const verdict = compareRates(samples);
      if (!verdict) return;
      const best = samples[verdict.best]!;
      t.true(samples.every(({ sent, successes }) => successes / sent <= best.successes / best.sent));
      const better = samples.with(verdict.best, { ...best, successes: best.sent });
      t.deepEqual(compareRates(better), verdict);
    }),
  );
});

test('looking after every email calls a winner where there is none in at most 5 of 100 tests', (t) => {
  const random = seeded(7);
  let called = 0;
  for (let run = 0; run < 400; run += 1) {
    const [a, b] = [
      { sent: 0, successes: 0 },
      { sent: 0, successes: 0 },
    ];
    for (let n = 0; n < 1500; n += 1) {
      const one = random.next() < 0.5 ? a : b;
      one.sent += 1;
      if (random.next() < 0.05) one.successes += 1;
      if (a.sent >= 30 && b.sent >= 30 && compareRates([a, b])) {
        called += 1;
        break;
      }
    }
  }
  t.true(called <= 400 * 0.05, `${called} of 400`);
});

/** Creates a campaign with two variants of its first email, and sent emails of each. */
async function scene(settings: Record<string, unknown>, outcomes: { sent: number; replied: number }[]) {
  const { organizationId } = await world.tenant();
  const { db } = world.deps;
  await db('outreach_settings').insert({
    organization_id: organizationId,
    settings: JSON.stringify({ ab_testing: settings }),
    updated_at: clock.now(),
  });
  const mailboxId = await createMailbox(world.deps, organizationId, 'm@s.example.com', {
    smtp: { host: '127.0.0.1', port: 1 },
  });
  const { campaignId, stepIds } = await createCampaign(world.deps, organizationId, [{ subject: 'S', body_plain: 'b' }]);
  const ctx = world.system(organizationId);
  const variants: string[] = [];
  for (const [index, { sent, replied }] of outcomes.entries()) {
    const { variant } = await createVariant(ctx, campaignId, { name: `V${index}`, body_plain: 'x' } as never);
    variants.push(variant.id);
    const contactId = await createContact(db, clock.now(), organizationId, { email: `${newId()}@lead.test` });
    const [enrollmentId] = await enroll(world.deps, organizationId, campaignId, [contactId]);
    await db('enrollments').where({ id: enrollmentId }).update({ state: 'completed' });
    for (let n = 0; n < sent; n += 1)
      await createSend(
        world.deps,
        organizationId,
        { campaignId, enrollmentId: enrollmentId!, contactId, mailboxId, recipient: 'x@lead.test' },
        { variant_id: variant.id, ...(n < replied ? { replied_at: clock.now() } : {}) },
      );
  }
  const settle = async () => {
    await transact(ctx, async (tx) =>
      tx.emit('campaign.email_opened', {
        campaign_id: campaignId,
        step_id: stepIds[0]!,
        contact_id: newId(),
        contact_email: 'x@lead.test',
        email_account_id: mailboxId,
        task_id: newId(),
        message_id: '<x@y>',
        opened_at: clock.now().toISOString(),
        client: '',
        device_type: '',
      } as never),
    );
    await react(world.deps, SUBSCRIBERS);
  };
  /** Returns the variants assigned to the next contacts. */
  const given = async (contacts: number) => {
    const got = new Set<string>();
    for (let n = 0; n < contacts; n += 1) {
      const contactId = await createContact(db, clock.now(), organizationId, { email: `${newId()}@lead.test` });
      const [enrollmentId] = await enroll(world.deps, organizationId, campaignId, [contactId]);
      await advanceEnrollment(ctx, enrollmentId!);
      got.add((await db('sends').where({ enrollment_id: enrollmentId }).first()).variant_id);
    }
    return got;
  };
  const promoted = async () =>
    (await listVariants(ctx, campaignId)).filter((row) => row.promoted_at).map(({ id }) => id);
  const logs = () => db('campaign_logs').where({ campaign_id: campaignId, event_type: 'variant_promoted' });
  return { ctx, campaignId, stepIds, variants, settle, given, promoted, logs };
}

const CLEAR = [
  { sent: 60, replied: 0 },
  { sent: 60, replied: 30 },
];

test.serial(
  'the winner is kept, logged, and sent to every lead from then on; a new variant opens the test again',
  async (t) => {
    const s = await scene({ auto_promote_winner: true, min_sample_size: 50 }, CLEAR);
    t.is((await s.given(12)).size, 2);
    await s.settle();
    t.deepEqual(await s.promoted(), [s.variants[1]]);
    const logs = await s.logs();
    t.is(logs.length, 1);
    t.like(logs[0].metadata, { rule: 'reply_rate', variant_id: s.variants[1] });
    t.deepEqual([...(await s.given(12))], [s.variants[1]]);
    // The other variants have no step, so they also apply to the first email.
    await createVariant(s.ctx, s.campaignId, {
      name: 'C',
      subject: 'C',
      body_plain: 'z',
      step_id: s.stepIds[0],
    } as never);
    t.deepEqual(await s.promoted(), []);
  },
);

test.serial('emails with the old words of a variant say nothing of the new ones', async (t) => {
  const s = await scene({ auto_promote_winner: true, min_sample_size: 50 }, CLEAR);
  await s.settle();
  t.deepEqual(await s.promoted(), [s.variants[1]]);
  clock.advance(11 * 60_000);
  await updateVariant(s.ctx, s.campaignId, s.variants[0]!, { body_plain: 'better' });
  await s.settle();
  t.deepEqual(await s.promoted(), []);
});

for (const [what, settings, outcomes] of [
  ['the setting is off', { auto_promote_winner: false, min_sample_size: 50 }, CLEAR],
  ['one has too few emails', { auto_promote_winner: true, min_sample_size: 61 }, CLEAR],
  [
    'it may be chance',
    { auto_promote_winner: true, min_sample_size: 50 },
    [
      { sent: 60, replied: 3 },
      { sent: 60, replied: 5 },
    ],
  ],
] as const)
  test.serial(`nothing is promoted where ${what}`, async (t) => {
    const s = await scene(settings, [...outcomes]);
    await s.settle();
    t.deepEqual(await s.promoted(), []);
  });
