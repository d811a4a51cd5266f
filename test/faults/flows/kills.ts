import { setTimeout as sleep } from 'node:timers/promises';
import type { Part, Parts } from '../parts.ts';
import type { Flow, KillOrder, Kind, Victim } from './plan.ts';

/** Executed kill. */
export interface FlowKill {
  marker: string;
  kind: Kind;
  state: string;
  /** Victim named by the order; another process is killed if that one is already down. */
  ordered: Victim;
  victim: string;
}

/** Executes the kill orders of a round. */
interface Killer {
  done: FlowKill[];
  /** Reports that a flow has reached a state. */
  onStep(flow: Flow, state: string): void;
  /** Waits until all killed processes serve again. */
  settle(): Promise<void>;
}

/**
 * Creates a killer that kills parts of an installation when flows reach the states of their orders. Each order is
 * executed once.
 */
export function createKiller(parts: Parts, log: (line: string) => void): Killer {
  const done: FlowKill[] = [];
  const open: Promise<void>[] = [];
  const carried = new Set<string>();
  const kinds: Record<Victim, Part[]> = {
    worker: parts.workers,
    api: [parts.api],
    temporal: [parts.temporal],
    postgres: [parts.postgres],
  };
  const all = Object.values(kinds).flat();

  const carryOut = async (flow: Flow, order: KillOrder): Promise<void> => {
    if (order.afterMs > 0) await sleep(order.afterMs);
    const from = all.indexOf(kinds[order.victim][0]!);
    const victim = [...all.slice(from), ...all.slice(0, from)].find(({ pid }) => pid !== undefined);
    if (!victim) return;
    done.push({
      marker: flow.marker,
      kind: flow.kind,
      state: order.state,
      ordered: order.victim,
      victim: victim.name,
    });
    await victim.kill();
    log(`${flow.marker} is in ${order.state}: killed ${victim.name}, down ${order.downMs} ms at least`);
    await sleep(order.downMs);
    await victim.restart();
  };

  return {
    done,
    onStep(flow, state) {
      if (flow.kill?.state !== state || carried.has(flow.marker)) return;
      carried.add(flow.marker);
      open.push(carryOut(flow, flow.kill));
    },
    async settle() {
      // Kills may begin while earlier ones are awaited, so the length is read in each iteration.
      for (let waited = 0; waited < open.length; waited += 1) await open[waited];
    },
  };
}
