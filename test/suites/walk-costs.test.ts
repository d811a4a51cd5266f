import test from 'ava';
import { z } from 'zod';
import type { AnyRoute } from '../../api/http/route.ts';
import { routes } from '../../api/routes.ts';
import type { Tenant } from '../harness/factories.ts';
import { countStatements, sumOf, type StatementCounter } from '../harness/statement-counter.ts';
import { createWorld, type Answer, type World } from '../harness/world.ts';
import { differences } from '../costs/table.ts';
import { makeRows } from './foreign-ids.ts';
import { isList, rowOf, rowsIn } from './lists.ts';
import { each, send, wellFormed } from './walk.ts';

/** Numbers of rows in a short and in a long list. */
const FEW = 2;
const MANY = 20;

let world: World;
let counter: StatementCounter;
test.before(async () => {
  world = await createWorld();
  counter = countStatements(world.deps.db);
});
test.after.always(() => world?.close());

const guarded = routes.filter((spec) => spec.scope !== 'public');

/** Calls a route and counts its statements. */
async function counted(
  spec: AnyRoute,
  tenant: Tenant,
  params: Record<string, string>,
): Promise<{ answer: Answer; statements: number; ran: string[] }> {
  const request = wellFormed(spec);
  const isPaged = spec.query instanceof z.ZodObject && 'limit' in spec.query.shape;
  counter.take();
  const answer = await send(world, spec, {
    ...request,
    query: { ...request.query, ...(isPaged ? { limit: String(MANY) } : {}) },
    token: tenant.sessionToken,
    params,
  });
  const counts = counter.take();
  const ran = Object.values(counts).flatMap((labels) => Object.entries(labels));
  return { answer, statements: sumOf(counts), ran: ran.map(([label, count]) => `${count} × ${label}`) };
}

interface Walked {
  /**
   * Undefined if the route refuses the suite's request, for example because a mailbox or a provider would have to
   * answer.
   */
  statements?: number;
  fault?: string;
}

/** Counts the statements of a route in a new workspace. A list is read with few rows and with many. */
async function walk(spec: AnyRoute): Promise<Walked> {
  const tenant = await world.tenant();
  const params = await makeRows(spec.path, world, tenant);
  const make = rowOf(spec);
  const fill = async (count: number) => {
    for (let made = 0; made < count; made += 1) await make?.({ world, tenant, parents: { ...params } });
  };
  await fill(FEW);
  const few = await counted(spec, tenant, params);
  if (few.answer.status >= 300) return {};
  const { statements } = few;
  const rows = rowsIn(few.answer);
  if (rows === undefined || !isList(spec)) return { statements };
  await fill(MANY - FEW);
  const many = await counted(spec, tenant, params);
  const more = rowsIn(many.answer)!;
  if (more < Math.min(MANY, rows + MANY - FEW))
    return { statements, fault: `${rows} rows, then ${more}: put what makes one into test/suites/list-rows.ts` };
  if (many.statements === statements) return { statements };
  const grown = `${statements} statements for ${rows} rows, ${many.statements} for ${more}`;
  return { statements, fault: `${grown}: ${many.ran.join(', ')}` };
}

test('no list asks the database more for a longer page; each route as much as bench/route-costs.json says', async (t) => {
  t.timeout(180_000);
  const measured: Record<string, number> = {};
  await each(t, guarded, async (spec) => {
    const { statements, fault } = await walk(spec);
    if (statements !== undefined) measured[spec.operationId] = statements;
    return fault ? [fault] : [];
  });
  const lines = differences('bench/route-costs.json', measured);
  if (lines.length === 0) t.pass();
  else t.fail(lines.join('\n'));
});
