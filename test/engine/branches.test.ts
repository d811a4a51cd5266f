import test from 'ava';
import { createLead, createMondayWorld, MONDAY } from '../harness/lead.ts';

const DAY = 86_400_000;
const stage = await createMondayWorld(test);
const { clock } = stage;

interface Step {
  waitAfter: number;
  wait?: number;
  branches?: { to: number | null; opened?: boolean }[];
}

/** Creates a contact whose first email was just sent, in a campaign whose branches name steps by position. */
async function mailed(steps: Step[]) {
  const { advance, db, enrollmentId, stepIds } = await createLead(
    stage,
    steps.map(({ waitAfter, wait }) => ({
      body_plain: 'b',
      subject: 'S',
      wait_after: waitAfter,
      ...(wait === undefined ? {} : { kind: 'wait' as const, action: { type: 'wait', wait_minutes: wait } }),
    })),
  );
  for (const [index, { branches }] of steps.entries()) {
    if (!branches) continue;
    const conditions = {
      branches: branches.map(({ to, opened }) => ({
        to: to === null ? null : stepIds[to],
        ...(opened === undefined ? {} : { when: [{ field: 'opened', operator: 'equals', value: opened }] }),
      })),
    };
    await db('campaign_steps')
      .where({ id: stepIds[index] })
      .update({ conditions: JSON.stringify(conditions) });
  }
  const leave = async () => {
    await advance();
    await db('sends')
      .where({ enrollment_id: enrollmentId, state: 'reserved' })
      .update({ state: 'sent', sent_at: clock.now() });
  };
  await leave();
  const at = async () =>
    stepIds.indexOf((await db('enrollments').where({ id: enrollmentId }).first()).current_step_id as string);
  const open = () => db('sends').where({ enrollment_id: enrollmentId }).update({ opened_at: clock.now() });
  return { advance, at, open, leave };
}

const days = (n: number) => clock.set(new Date(MONDAY.getTime() + n * DAY));
const OPENED_OR_NOT: Step[] = [
  {
    waitAfter: 0,
    branches: [
      { to: 1, opened: true },
      { to: 2, opened: false },
    ],
  },
  { waitAfter: 2, branches: [] },
  { waitAfter: 3, branches: [] },
];

test.serial('an email opened days after it left takes the branch for it, when that step falls due', async (t) => {
  const lead = await mailed(OPENED_OR_NOT);
  t.like(await lead.advance(), { kind: 'wait', until: MONDAY.getTime() + 2 * DAY });
  t.is(await lead.at(), 0);
  days(1.5);
  await lead.open();
  t.like(await lead.advance(), { kind: 'wait', until: MONDAY.getTime() + 2 * DAY }, 'asking early changes nothing');
  days(2);
  t.regex((await lead.advance()).kind, /^(slot|send)$/);
  t.is(await lead.at(), 1);
});

test.serial('an email not opened when its step falls due takes the other branch; an open at last counts', async (t) => {
  const lead = await mailed(OPENED_OR_NOT);
  await lead.advance();
  days(2);
  t.like(await lead.advance(), { kind: 'wait', until: MONDAY.getTime() + 3 * DAY });
  days(3);
  t.regex((await lead.advance()).kind, /^(slot|send)$/);
  t.is(await lead.at(), 2);

  clock.set(MONDAY);
  const late = await mailed(OPENED_OR_NOT);
  await late.advance();
  days(2.9);
  await late.open();
  await late.advance();
  t.is(await late.at(), 1, 'its step is due already');
});

test.serial('the flow does not end before the last step that might follow is due', async (t) => {
  const only = await mailed([
    { waitAfter: 0, branches: [{ to: 1, opened: true }] },
    { waitAfter: 4, branches: [] },
  ]);
  t.like(await only.advance(), { kind: 'wait', until: MONDAY.getTime() + 4 * DAY });
  days(4);
  t.deepEqual(await only.advance(), { kind: 'done', outcome: 'completed' });

  clock.set(MONDAY);
  const ends = await mailed([
    {
      waitAfter: 0,
      branches: [{ to: null, opened: true }, { to: 1 }],
    },
    { waitAfter: 1, branches: [] },
  ]);
  await ends.advance();
  await ends.open();
  days(1);
  t.deepEqual(await ends.advance(), { kind: 'done', outcome: 'completed' }, 'opened: it ends');
});

test.serial('a branch after a wait asks of the latest email', async (t) => {
  const steps: Step[] = [
    { waitAfter: 0, branches: [{ to: 1 }] },
    {
      waitAfter: 0,
      wait: 60,
      branches: [
        { to: 2, opened: true },
        { to: 3, opened: false },
      ],
    },
    { waitAfter: 0, branches: [] },
    { waitAfter: 0, branches: [] },
  ];
  for (const [opens, step] of [
    [true, 2],
    [false, 3],
  ] as const) {
    clock.set(MONDAY);
    const lead = await mailed(steps);
    t.like(await lead.advance(), { kind: 'wait' });
    if (opens) await lead.open();
    clock.advance(61 * 60_000);
    await lead.advance();
    t.is(await lead.at(), step);
  }
});

test.serial('a step without branches on reactions goes on at once', async (t) => {
  const lead = await mailed([{ waitAfter: 0 }, { waitAfter: 3 }]);
  t.like(await lead.advance(), { kind: 'wait', until: MONDAY.getTime() + 3 * DAY });
  t.is(await lead.at(), 1);
});
