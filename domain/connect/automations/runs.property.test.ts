import test from 'ava';
import fc from 'fast-check';
import type { AutomationGraph, AutomationNode } from '../../../db/json-columns.ts';
import { newId } from '../../../lib/ids.ts';
import { act, ask, draw, openAutomationDesk } from '../../../test/harness/automations.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { registerSubscribers } from '../../platform/events/register.ts';
import { SUBSCRIBERS } from '../../operations/subscribers/index.ts';
import { advanceAutomation } from './advance.ts';

const MINUTE = 60_000;
const clock = new ManualClock(new Date('2026-05-04T10:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(() => world?.close());

/** Reference implementation that follows the edges of a graph from the trigger, without sorting the nodes. */
function plainly({ nodes, edges }: AutomationGraph, intent: string, broken: ReadonlySet<string>): Map<string, string> {
  const status = new Map<string, string>();
  const follow = (id: string): void => {
    if (status.has(id)) return;
    const node = nodes.find((each) => each.id === id)!;
    if (node.type === 'condition') status.set(id, node.condition!.value === intent ? 'branch_true' : 'branch_false');
    else status.set(id, broken.has(id) ? 'error' : 'success');
    const said = status.get(id)!;
    for (const edge of edges.filter(({ source }) => source === id))
      if ((said === 'success' && edge.when === '') || said === `branch_${edge.when}`) follow(edge.target);
  };
  follow('trigger');
  for (const { id } of nodes) if (!status.has(id)) status.set(id, 'skipped');
  return status;
}

const INTENTS = ['positive', 'negative', 'neutral'] as const;
const drawnGraph = fc
  .array(
    fc.record({
      kind: fc.constantFrom('condition', 'tag', 'broken', 'wait'),
      intent: fc.constantFrom(...INTENTS),
      from: fc.array(fc.tuple(fc.nat(), fc.boolean()), { minLength: 1, maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 9 },
  )
  .map((specs) => {
    const nodes: AutomationNode[] = [];
    const links = new Set<string>();
    for (const [index, { kind, intent, from }] of specs.entries()) {
      const id = `n${index}`;
      for (const [at, side] of from) {
        const source = at % (index + 1) === 0 ? undefined : nodes[(at % (index + 1)) - 1];
        links.add(`${source?.id ?? 'trigger'}>${id}${source?.type === 'condition' ? `:${side}` : ''}`);
      }
      if (kind === 'condition') nodes.push(ask(id, 'intent', 'eq', intent));
      else if (kind === 'wait') nodes.push(act(id, 'wait', { wait_minutes: 1 + index }));
      else if (kind === 'broken') nodes.push(act(id, 'add_to_campaign', { campaign_id: newId() }));
      else nodes.push(act(id, 'notify', { message: id }));
    }
    return {
      graph: draw(nodes, [...links]),
      broken: new Set(specs.flatMap(({ kind }, i) => (kind === 'broken' ? [`n${i}`] : []))),
    };
  });

test.serial('drawn graphs and events: what the runs did is what a plain walk through the graph says', async (t) => {
  const { org, ctx, automate, reply, settle, runs, events } = await openAutomationDesk(world);
  await fc.assert(
    fc.asyncProperty(
      fc.array(drawnGraph, { minLength: 1, maxLength: 3 }),
      fc.array(fc.constantFrom(...INTENTS), { minLength: 1, maxLength: 3 }),
      async (graphs, intents) => {
        await world.deps.db('automations').where({ organization_id: org }).update({ enabled: false });
        const drawn = await Promise.all(graphs.map(async (each) => ({ ...each, id: await automate(each.graph) })));
        for (const intent of intents) await reply({ intent });
        await settle();
        for (let left = 12; left > 0; left -= 1) {
          clock.advance(10 * MINUTE);
          for (const { id } of drawn)
            for (const run of await runs(id)) if (run.status === 'running') await advanceAutomation(ctx, run.id);
        }
        const notified = await events('automation.notified');
        for (const { id, graph, broken } of drawn) {
          const made = await runs(id);
          t.deepEqual(
            made.map((run) => run.data.intent),
            intents,
            'one run for each event, in their order',
          );
          for (const run of made) {
            const expected = plainly(graph, run.data.intent, broken);
            t.deepEqual(
              Object.fromEntries(
                run.node_results.map((line: { node_id: string; status: string }) => [line.node_id, line.status]),
              ),
              Object.fromEntries(expected),
            );
            t.is(run.status, [...expected.values()].includes('error') ? 'error' : 'success');
            const told = graph.nodes.filter(
              (node) => node.action === 'sendsets.notify' && expected.get(node.id) === 'success',
            );
            t.deepEqual(
              notified
                .filter((data) => data.run_id === run.id)
                .map((data) => data.node_id)
                .sort(),
              told.map((node) => node.id).sort(),
            );
          }
        }
      },
    ),
    { numRuns: 12 },
  );
});
