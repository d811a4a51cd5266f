import test from 'ava';
import fc from 'fast-check';
import { buildSteps } from '../../campaigns/build-steps.ts';
import {
  conditionsSchema,
  defaultConditions,
  factsAfter,
  firstStep,
  graphProblems,
  matchingBranch,
  normalSuccessor,
  retargetConditions,
  type Branch,
  type Condition,
  type Facts,
  type GraphStep,
  type Outcome,
} from './graph.ts';
import { stepInputSchema } from '../../campaigns/input.ts';
import type { Message } from '../../../messages/index.ts';

const OUTCOMES: Outcome[] = ['sent', 'skipped', 'elapsed', 'event', 'timeout', 'success', 'error', 'done'];

function facts(over: Partial<Facts> = {}): Facts {
  return { ...factsAfter('sent'), ...over };
}

function step(id: string, branches: Branch[] = [], over: Partial<GraphStep> = {}): GraphStep {
  return { id, position: 0, kind: 'email', action: null, conditions: { branches }, ...over };
}

function holds(condition: Condition, known: Partial<Facts>): boolean {
  return matchingBranch(step('a', [{ to: 'b', when: [condition] }]), facts(known)) !== null;
}

/** Returns the step that follows `current`, or null if the flow ends. */
function following<S extends GraphStep>(steps: readonly S[], current: S, known: Partial<Facts> = {}): S | null {
  const to = matchingBranch(current, facts(known))?.to;
  return steps.find(({ id }) => id === to) ?? null;
}

const outcomeIs = (value: Outcome): Condition => ({ field: 'node_outcome', operator: 'equals', value });

test('the first branch whose conditions all hold is taken, for every outcome and order of branches', (t) => {
  const branch = fc.record({
    to: fc.option(fc.constantFrom('b', 'c', 'gone'), { nil: null }),
    wants: fc.array(fc.constantFrom(...OUTCOMES), { maxLength: 2 }),
  });
  fc.assert(
    fc.property(fc.array(branch, { maxLength: 5 }), fc.constantFrom(...OUTCOMES), (branches, outcome) => {
      const from = step(
        'a',
        branches.map(({ to, wants }) => ({ to, when: wants.map(outcomeIs) })),
      );
      const expected = branches.find(({ wants }) => wants.every((want) => want === outcome));
      t.is(matchingBranch(from, facts({ outcome }))?.to, expected?.to);
    }),
  );
});

test('a branch without conditions is a plain link, and no branch ends the flow', (t) => {
  const steps = [step('a', [{ to: 'b' }]), step('b')];
  for (const outcome of OUTCOMES) t.is(following(steps, steps[0]!, { outcome })?.id, 'b');
  t.is(following(steps, steps[1]!), null);
  t.is(matchingBranch(steps[1]!, facts()), null);
});

test('links by default: app_action on success only, wait_for_event by on_timeout, end nowhere', (t) => {
  const app = { type: 'app_action', app_connection_id: 'x', path: '/', output_key: 'k', inputs: {} } as const;
  const wait = (on_timeout: 'continue' | 'stop') =>
    ({ type: 'wait_for_event', wait_event_name: 'e', timeout_minutes: 1, on_timeout }) as const;
  const goesOn = (action: GraphStep['action'], outcome: Outcome) =>
    matchingBranch(step('a', defaultConditions(action, 'b').branches, { action }), facts({ outcome }))?.to === 'b';
  t.true(goesOn(app, 'success'));
  t.false(goesOn(app, 'error'));
  t.true(goesOn(wait('continue'), 'event') && goesOn(wait('continue'), 'timeout'));
  t.true(goesOn(wait('stop'), 'event'));
  t.false(goesOn(wait('stop'), 'timeout'));
  t.false(goesOn({ type: 'end' }, 'done'));
  t.true(goesOn(null, 'skipped'));
});

test('operators over contact fields, custom fields, app values and event data', (t) => {
  const known: Partial<Facts> = {
    opened: true,
    contact: { first_name: 'Zoë', company: '', custom_fields: { 'Plan.name': 'Pro', seats: '12', __proto__x: '' } },
    app: { order: { total: 90, tags: ['vip', 7] } },
    event: { amount: 10, paid: true },
  };
  const yes = (field: string, operator: Condition['operator'], value?: unknown) =>
    t.true(holds({ field, operator, value }, known), `${field} ${operator} ${String(value)}`);
  const no = (field: string, operator: Condition['operator'], value?: unknown) =>
    t.false(holds({ field, operator, value }, known), `${field} ${operator} ${String(value)}`);
  yes('opened', 'equals', true);
  no('clicked', 'equals', true);
  yes('contact.first_name', 'contains', 'ZO');
  yes('contact.company', 'not_exists');
  yes('contact.custom.Plan.name', 'equals', 'Pro');
  yes('contact.custom.seats', 'equals', 12);
  yes('contact.custom.seats', 'gt', 9);
  no('contact.custom.seats', 'lt', 9);
  no('contact.custom.none', 'gt', 0);
  yes('contact.custom.none', 'not_equals', 'x');
  yes('app.order.total', 'lt', '100');
  yes('app.order.tags', 'contains', 7);
  no('app.order', 'equals', '[object Object]');
  no('app.constructor', 'exists');
  no('contact.custom.toString', 'exists');
  yes('event.paid', 'equals', true);
  no('event.amount', 'gt', 'many');
});

test("equals and not_equals, exists and not_exists, are each other's opposite", (t) => {
  const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constant({ a: 1 }));
  fc.assert(
    fc.property(value, fc.oneof(fc.string(), fc.integer(), fc.boolean()), (actual, wanted) => {
      const known = { app: { x: actual } };
      t.not(
        holds({ field: 'app.x', operator: 'equals', value: wanted }, known),
        holds({ field: 'app.x', operator: 'not_equals', value: wanted }, known),
      );
      t.not(
        holds({ field: 'app.x', operator: 'exists' }, known),
        holds({ field: 'app.x', operator: 'not_exists' }, known),
      );
    }),
  );
});

test('circles and links to strangers are found, and nothing else', (t) => {
  const link = fc.record({ from: fc.integer({ min: 0, max: 5 }), to: fc.integer({ min: 0, max: 6 }) });
  fc.assert(
    fc.property(fc.array(link, { maxLength: 12 }), (links) => {
      const steps = [0, 1, 2, 3, 4, 5].map((n) =>
        step(
          String(n),
          links.filter(({ from }) => from === n).map(({ to }) => ({ to: String(to) })),
          { position: n },
        ),
      );
      const problems = graphProblems(steps, ({ id }) => `steps.${id}`);
      t.is(
        problems.filter(({ message }) => (message as Message).code === 'steps.not_of_campaign').length,
        links.filter(({ to }) => to === 6).length,
      );
      t.is(
        problems.some(({ message }) => (message as Message).code === 'steps.circle'),
        hasCircle(links),
      );
    }),
  );
});

/**
 * Detects cycles by brute force: repeatedly removes nodes without outgoing links. Any remaining node leads into a
 * cycle.
 */
function hasCircle(links: readonly { from: number; to: number }[]): boolean {
  let left = links.filter(({ to }) => to < 6);
  for (;;) {
    const next = left.filter(({ to }) => left.some(({ from }) => from === to));
    if (next.length === left.length) return left.length > 0;
    left = next;
  }
}

test('rewiring keeps conditions and other keys, and links that lead out end the flow', (t) => {
  const conditions = {
    branches: [{ to: 'a', when: [outcomeIs('event')], label: 'yes' }, { to: 'b' }, { to: null }],
    layout: { x: 1 },
  };
  t.deepEqual(
    retargetConditions(conditions, (to) => (to === 'a' ? 'A' : undefined)),
    {
      branches: [{ to: 'A', when: [outcomeIs('event')], label: 'yes' }, { to: null }, { to: null }],
      layout: { x: 1 },
    } as never,
  );
});

test('steps are connected in order, with the default spacing and threading', (t) => {
  const build = (inputs: object[]) => buildSteps(inputs.map((input) => stepInputSchema.parse(input)));
  const { steps, problems } = build([
    { subject: 'Hello', body_plain: 'a' },
    { body_plain: 'b' },
    { subject: 're: hello'.replace('h', 'H'), body_plain: 'c' },
    { subject: 'Another', body_plain: 'd', wait_after: 9 },
    { subject: 'Another again', body_plain: 'e', thread_reply: true },
  ]);
  t.deepEqual(problems, []);
  t.deepEqual(
    steps.map(({ wait_after }) => wait_after),
    [0, 3, 3, 9, 3],
  );
  t.deepEqual(
    steps.map(({ thread_reply }) => thread_reply),
    [false, true, true, false, true],
  );
  const path: string[] = [];
  for (let at: GraphStep | null = firstStep(steps); at; at = following(steps, at)) path.push(at.id);
  t.deepEqual(
    path,
    steps.map(({ id }) => id),
  );
});

test('a given branch may name its target by place; a place that is not there is a problem with its path', (t) => {
  const wait = { type: 'wait_for_event', wait_event_name: 'order.paid', timeout_minutes: 60, on_timeout: 'stop' };
  const inputs = [
    {
      kind: 'wait',
      action: wait,
      conditions: { branches: [{ to: 2, when: [outcomeIs('event')] }, { to: 1 }, { to: 9 }] },
    },
    { subject: 'Late', body_plain: 'x', conditions: { branches: [] } },
    { subject: 'Paid', body_plain: 'y' },
  ].map((input) => stepInputSchema.parse(input));
  const { steps, problems } = buildSteps(inputs);
  t.deepEqual(
    problems.map(({ path }) => path),
    ['body.steps.0.conditions.branches.2.to'],
  );
  t.is(following(steps, steps[0]!, { outcome: 'event' })?.subject, 'Paid');
  t.is(following(steps, steps[0]!, { outcome: 'timeout' })?.subject, 'Late');
  t.is(normalSuccessor(steps[0]!), steps[2]!.id);
});

test('conditions of a request must be ones the engine knows', (t) => {
  const refuses = (condition: object) =>
    t.false(
      conditionsSchema.safeParse({ branches: [{ to: null, when: [condition] }] }).success,
      JSON.stringify(condition),
    );
  refuses({ field: 'weather', operator: 'exists' });
  refuses({ field: 'opened', operator: 'resembles', value: 1 });
  refuses({ field: 'opened', operator: 'equals' });
  refuses({ field: 'contact.password', operator: 'exists' });
  t.true(
    conditionsSchema.safeParse({
      branches: [{ to: null, when: [{ field: 'app.a.b', operator: 'not_exists' }] }],
      layout: 1,
    }).success,
  );
});
