import { BY_CLOCK } from '../../lib/cost-paths.ts';
import type { StatementCounts } from '../harness/statement-counter.ts';
import { readHistories, type HistoryCost } from './histories.ts';
import { readRows, type RowCounts } from './rows.ts';
import type { Stage } from './stage.ts';
import type { ReceivedRequest } from '../harness/receiver.ts';
import type { Answer } from '../harness/world.ts';

/** Cost of a scenario as exact counts. */
export interface PlayCost {
  /** Requests to Heron's servers, by name. */
  requests: Record<string, { statements: Record<string, number>; bytes: number }>;
  /** Statements of the worker, by code path. */
  statements: StatementCounts;
  /** Rows written by servers and worker. */
  rows: RowCounts;
  workflows: Record<string, HistoryCost>;
  /** Messages and commands that Heron sends to other servers, by name. */
  wire: Record<string, number>;
}

/** Functions with which a scenario performs and counts its work. */
interface Player {
  /** Calls one of Heron's servers, and counts the request under a name. */
  ask(name: string, work: () => Promise<Answer>): Promise<Answer>;
  /** Waits until all committed work is processed. */
  settle(): Promise<void>;
  /** Counts messages received by other servers. */
  wire(name: string, count: number): void;
  /** Counts HTTP requests of Heron. */
  received(name: string, requests: readonly ReceivedRequest[]): void;
}

/** Runs a scenario and measures its cost. Preparations of the caller are not counted. */
export async function measure(stage: Stage, play: (player: Player) => Promise<void>): Promise<PlayCost> {
  const { counters, engine, mail, world } = stage;
  const { servers } = counters;
  const requests: PlayCost['requests'] = {};
  const wire: PlayCost['wire'] = {};
  const add = (name: string, count: number) => void (wire[name] = (wire[name] ?? 0) + count);
  const messages = mail.messages.length;
  const before = { rows: await readRows(world.deps.db), workflows: await readHistories(engine.temporal, stage.runs) };
  counters.engine.take();
  counters.engine.takeBytes();
  await play({
    async ask(name, work) {
      servers.take();
      const answer = await work();
      requests[name] = { statements: merged(servers.take()), bytes: Buffer.byteLength(answer.text) };
      // Writes the use of API keys now, which a timer does otherwise.
      await Promise.all([world.usage.flush(), world.actors.flush()]);
      return answer;
    },
    settle: () => stage.settle(),
    wire: add,
    received(name, got) {
      add(`${name} requests`, got.length);
      for (const { raw } of got) add(`${name} bytes`, raw.length);
    },
  });
  const { [BY_CLOCK]: _clock, ...statements } = counters.engine.take();
  const { claim: claimBytes = 0 } = counters.engine.takeBytes();
  if (claimBytes > 0) add('PostgreSQL text bytes of claims', claimBytes);
  for (const { raw, envelope } of mail.messages.slice(messages)) {
    add('SMTP messages', 1);
    add('SMTP recipients', envelope.to.length);
    add('SMTP bytes', raw.length);
  }
  const workflows = await readHistories(engine.temporal, stage.runs);
  return {
    requests,
    statements,
    rows: growth(before.rows, await readRows(world.deps.db)),
    workflows: Object.fromEntries(
      Object.entries(workflows)
        .map(([type, cost]) => [type, growth({ ...before.workflows[type] }, { ...cost })] as const)
        .filter(([, cost]) => Object.keys(cost).length > 0)
        .map(([type, cost]) => [type, cost as unknown as HistoryCost]),
    ),
    wire,
  };
}

/** Merges the statements of one request over all code paths. */
function merged(counts: StatementCounts): Record<string, number> {
  const all: Record<string, number> = {};
  for (const labels of Object.values(counts))
    for (const [label, count] of Object.entries(labels)) all[label] = (all[label] ?? 0) + count;
  return all;
}

/** Returns the increases of counts, without unchanged ones. */
function growth(before: Record<string, number>, after: Record<string, number>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after)
      .map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
      .filter(([, more]) => more !== 0),
  );
}
