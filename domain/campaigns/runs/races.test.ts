import test from 'ava';
import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMailbox } from '../../../test/harness/factories.ts';
import { openRunDesk, type RunDesk } from '../../../test/harness/run-desk.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { AppError } from '../../../lib/errors.ts';
import { cancelRun } from './cancel.ts';
import type { RunRow } from './states.ts';

let world: World;
let desk: RunDesk;
test.before(async () => {
  world = await createWorld();
  desk = await openRunDesk(world);
});
test.after.always(() => world?.close());

/**
 * Functions that create a run directly before the step that competes with a cancellation. This step is either the
 * checks, or the launch after a person's approval.
 */
const MOMENTS = {
  checks: () => desk.create(),
  launchAtOnce: () => desk.create({}, desk.tenant.sessionToken),
  failingChecks: () => desk.create({ steps: [{ variants: [{ subject: 'Hi' }] }] }),
  launch: () => approved(),
};

/** Returns how long (ms) the competing step takes on this machine. */
async function measureStep(at: keyof typeof MOMENTS): Promise<number> {
  const run = await MOMENTS[at]();
  const begun = performance.now();
  await desk.step(run);
  return performance.now() - begun;
}

async function approved(): Promise<RunRow> {
  const run = await desk.step(await desk.create());
  await desk.decide(run.id, 'approved');
  return desk.row(run.id);
}

test.serial(
  'a cancellation during a step is done, or it was too late; never both, and never a campaign that sends',
  async (t) => {
    const ctx = world.system(desk.tenant.organizationId);
    const seen = new Set<string>();
    const lasts = {} as Record<keyof typeof MOMENTS, number>;
    for (const at of Object.keys(MOMENTS) as (keyof typeof MOMENTS)[]) lasts[at] = await measureStep(at);
    const moment = fc.constantFrom(...(Object.keys(MOMENTS) as (keyof typeof MOMENTS)[]));
    await fc.assert(
      // Uses delays from before the step to well after it, so that the test works on a machine of any speed.
      fc.asyncProperty(moment, fc.nat(20), fc.boolean(), async (at, tenths, twice) => {
        const delayMs = (lasts[at] * tenths) / 10;
        const run = await MOMENTS[at]();
        const cancel = async () => {
          if (delayMs > 0) await sleep(delayMs);
          return cancelRun(ctx, run.id).then(
            ({ state }) => state,
            (error: unknown) => (error instanceof AppError ? error.code : Promise.reject(error)),
          );
        };
        // If Temporal repeats an activity, the same step may execute twice concurrently.
        const [answer] = await Promise.all([cancel(), desk.step(run), ...(twice ? [desk.step(run)] : [])]);
        const { state } = await desk.row(run.id);
        const campaign = await desk.campaign(run.id);
        const story = await desk.story(run.id);
        const started = story.some((line) => line.startsWith('active'));
        seen.add(`${at} ${answer} ${started ? 'after the launch' : ''}`);
        t.is(answer, state === 'cancelled' ? 'cancelled' : 'conflict', story.join(', '));
        t.true(['cancelled', 'failed'].includes(state), story.join(', '));
        t.is(campaign.status, started ? 'paused' : 'draft');
        t.is(story.filter((line) => line.startsWith('cancelled')).length, state === 'cancelled' ? 1 : 0);
        t.true(story.filter((line) => line.startsWith('active')).length <= 1);
        // Executing the step again, as after a lost result, changes nothing.
        t.is((await desk.step(run)).state, state);
      }),
      {
        numRuns: 40,
        seed: 9,
        endOnFailure: true,
        examples: [
          ['launch', 0, false],
          ['launch', 20, false],
          ['failingChecks', 20, false],
        ],
      },
    );
    for (const both of ['launch cancelled ', 'launch cancelled after the launch', 'failingChecks conflict '])
      t.true(seen.has(both), `${both} was not met: ${[...seen].join('; ')}`);
  },
);

test.serial('two runs of one campaign at once: one is created', async (t) => {
  const first = await desk.create({ intent: 'draft' });
  await desk.step(first);
  const body = desk.body({ campaign_id: first.campaign_id, name: undefined, steps: undefined });
  const answers = await Promise.all([1, 2, 3].map(() => desk.call('POST', '/runs', body)));
  t.deepEqual(answers.map(({ status }) => status).sort(), [202, 409, 409]);
});

test.serial('a policy is asked about the mailboxes that the campaign has at its launch', async (t) => {
  await desk.policy(desk.tenant.apiKeyId);
  const allowed = await desk.create();
  t.is((await desk.step(allowed)).state, 'active');
  const other = await createMailbox(world.deps, desk.tenant.organizationId, 'other@ours.test');
  const run = await desk.create();
  const senders = { senders: [{ email_account_id: other }] };
  t.is((await desk.call('PUT', `/campaigns/${run.campaign_id}/senders`, senders)).status, 200);
  const held = await desk.step(run);
  t.like(held, { state: 'awaiting_approval', policy_decision: { reasons: [{ code: 'mailbox_not_granted' }] } });
});
