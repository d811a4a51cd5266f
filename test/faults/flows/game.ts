import { setTimeout as sleep } from 'node:timers/promises';
import type { TestAssembly } from '../../harness/database.ts';
import type { Tenant } from '../../harness/factories.ts';
import type { Client, Said } from './client.ts';
import type { Flow } from './plan.ts';
import type { Shop } from './shop.ts';
import type { Workspace } from './stage.ts';

const POLL_MS = 150;

/** Person's request about a flow, with the answer. */
export interface Act {
  marker: string;
  what: 'approve' | 'deny' | 'cancel';
  said: Said;
}

/** State of a running round. */
export interface Game {
  assembly: TestAssembly;
  client: Client;
  workspace: Workspace;
  flows: readonly Flow[];
  acts: Act[];
  /** Row id of each accepted flow. */
  ids: Map<string, string>;
  /** Actions of people that are still in progress. They are awaited before the comparison. */
  doing: Promise<void>[];
  shop: Shop;
  /** Orders of the buying flows. */
  orders: Bought[];
}

/** Order of a flow, with the price and the amount that the provider took. */
export interface Bought {
  marker: string;
  id: string;
  tenant: Tenant;
  /** Price, and amount paid on Stripe's page (cents). */
  price: number;
  taken: number;
}

/** Repeats work that needs the database until it is reachable. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === 200) throw error;
      await sleep(POLL_MS);
    }
  }
}
