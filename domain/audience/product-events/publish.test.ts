import test from 'ava';
import { createWaitingLead, type WaitingLead } from '../../../test/harness/standing-leads.ts';
import fc from 'fast-check';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createContact } from '../../../test/harness/factories.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { finishEnrollment } from '../../sending/control/finish.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { publishEvent } from './publish.ts';

const NOON = new Date('2026-03-02T12:00:00Z');
const clock = new ManualClock(NOON);
const at = (seconds: number) => new Date(NOON.getTime() + seconds * 1000);
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

interface Waiting {
  organizationId: string;
  contactId: string;
  waits: WaitingLead[];
}

/** Creates a contact that waits for order.paid in several campaigns. Times are in seconds from noon. */
async function waiting(specs: { opened: number; deadline: number | null; event?: string }[]): Promise<Waiting> {
  const { organizationId } = await world.tenant();
  const contactId = await createContact(world.deps.db, NOON, organizationId);
  const waits: Waiting['waits'] = [];
  for (const { opened, deadline, event } of specs)
    waits.push(
      await createWaitingLead(world.deps, organizationId, contactId, {
        ...(event ? { event } : {}),
        openedAt: at(opened),
        deadline: deadline === null ? null : at(deadline),
      }),
    );
  return { organizationId, contactId, waits };
}

const publish = ({ organizationId, contactId }: Waiting, occurred?: number, name = 'order.paid') =>
  publishEvent(world.system(organizationId), {
    name,
    contactId,
    data: { total: 7 },
    ...(occurred === undefined ? {} : { occurredAt: at(occurred) }),
  });
const readState = async (id: string) => (await world.deps.db('waits').where({ id }).first()).state as string;

test.serial(
  'an event resumes what waits for it: occurred after the wait began, before its deadline, by name',
  async (t) => {
    const given = await waiting([
      { opened: -10, deadline: 60 },
      { opened: -10, deadline: null },
      { opened: -10, deadline: 0 },
      { opened: -2, deadline: 60 },
      { opened: -10, deadline: 60, event: 'order.refunded' },
    ]);
    const { event, resumed } = await publish(given, -5);
    t.deepEqual(resumed.map((run) => run.run_id).sort(), [given.waits[0]!.runId, given.waits[1]!.runId].sort());
    t.deepEqual(await Promise.all(given.waits.map(({ waitId }) => readState(waitId))), [
      'resumed',
      'resumed',
      'open',
      'open',
      'open',
    ]);
    t.like(await world.deps.db('waits').where({ id: given.waits[0]!.waitId }).first(), {
      event_id: event.id,
      settled_at: NOON,
    });
    t.is(
      (await world.deps.db('step_runs').where({ id: given.waits[0]!.runId }).first()).state,
      'waiting',
      'the engine completes the step',
    );
    for (const [index, { campaignId }] of given.waits.entries()) {
      const intents = await world.deps
        .db('outbox')
        .where({ workflow_id: `enrollment/${campaignId}/${given.contactId}` });
      t.is(intents.length, index < 2 ? 1 : 0);
    }
    t.is((await publish(given, -5)).resumed.length, 0, 'a wait resumes once');
  },
);

test.serial('an event of another contact or workspace resumes nothing', async (t) => {
  const [mine, other] = [
    await waiting([{ opened: -10, deadline: 60 }]),
    await waiting([{ opened: -10, deadline: 60 }]),
  ];
  await publish(other);
  t.is(await readState(mine.waits[0]!.waitId), 'open');
  await t.throwsAsync(
    publishEvent(world.system(other.organizationId), { name: 'order.paid', contactId: mine.contactId, data: {} }),
    { message: /No contact/ },
  );
  t.is(await readState(mine.waits[0]!.waitId), 'open');
});

/** A change of a wait that is made at the same time as an event arrives. */
type Rival = 'timeout' | 'reply' | 'none';

test.serial('of event, timeout and reply exactly one wins each wait, and the answer tells what happened', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom<Rival>('timeout', 'timeout', 'reply', 'none'), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.nat(5), { minLength: 8, maxLength: 8 }),
      async (rivals, events, delays) => {
        const given = await waiting(rivals.map(() => ({ opened: -10, deadline: 60 })));
        const ctx = world.system(given.organizationId);
        const later = async <T>(index: number, work: () => Promise<T>): Promise<T> => {
          await new Promise((resolve) => setTimeout(resolve, delays[index]));
          return work();
        };
        const timedOut: string[] = [];
        const published = Promise.all(Array.from({ length: events }, (_, n) => later(n, () => publish(given))));
        const rivalry = Promise.all(
          given.waits.map((wait, n) =>
            later(events + n, async () => {
              if (rivals[n] === 'timeout') {
                const rows = await transact(ctx, (tx) =>
                  tx.org.sql(
                    `update waits set state = 'timed_out', settled_at = :now where organization_id = :org and id = :id and state = 'open' returning id`,
                    { id: wait.waitId, now: tx.now },
                  ),
                );
                if (rows.length > 0) timedOut.push(wait.waitId);
              }
              if (rivals[n] === 'reply')
                await transact(ctx, (tx) => finishEnrollment(tx, wait.enrollmentId, 'replied'));
            }),
          ),
        );
        const answers = await published;
        await rivalry;
        const claimed = answers.flatMap(({ event, resumed }) => resumed.map((run) => [run.run_id, event.id] as const));
        t.is(new Set(claimed.map(([runId]) => runId)).size, claimed.length, 'no wait is resumed twice');
        for (const [n, wait] of given.waits.entries()) {
          const row = await world.deps.db('waits').where({ id: wait.waitId }).first();
          const claim = claimed.find(([runId]) => runId === wait.runId);
          t.is(row.state === 'resumed', claim !== undefined);
          t.is(row.event_id, claim?.[1] ?? null);
          t.is(row.state === 'timed_out', timedOut.includes(wait.waitId));
          t.not(row.state, 'open');
          if (rivals[n] === 'none') t.is(row.state, 'resumed');
        }
      },
    ),
    { numRuns: 40 },
  );
});

test.serial('data of more than 64 KiB is refused with its path', async (t) => {
  const { organizationId, contactId } = await waiting([]);
  const error = await t.throwsAsync(
    publishEvent(world.system(organizationId), { name: 'a', contactId, data: { text: 'x'.repeat(64 * 1024) } }),
  );
  t.like(error, { code: 'bad_request', problems: [{ path: 'body.data' }] });
  await t.notThrowsAsync(
    publishEvent(world.system(organizationId), { name: 'a', contactId, data: { text: 'x'.repeat(64 * 1024 - 11) } }),
  );
});
