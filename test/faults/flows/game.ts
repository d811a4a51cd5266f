import { setTimeout as sleep } from 'node:timers/promises';
import type { TestAssembly } from '../../harness/database.ts';
import type { Tenant } from '../../harness/factories.ts';
import type { Client, Said } from './client.ts';
import type { Flow } from './plan.ts';
import type { Shop } from './shop.ts';
import type { Workspace } from './stage.ts';

const POLL_MS = 150;

/** What a person asked for about a flow, with the answer. */
export interface Act {
  marker: string;
  what: 'approve' | 'deny' | 'cancel';
  said: Said;
}

/** One round under way. */
export interface Game {
  assembly: TestAssembly;
  client: Client;
  workspace: Workspace;
  flows: readonly Flow[];
  acts: Act[];
  /** The row of each flow that was accepted. */
  ids: Map<string, string>;
  /** What the players do by themselves; waited for before the books are read. */
  doing: Promise<void>[];
  shop: Shop;
  /** Orders of the flows that buy. */
  orders: Bought[];
}

/** An order of a flow, and what a person who looks on has noted of it. */
export interface Bought {
  marker: string;
  id: string;
  tenant: Tenant;
  /** Cents that were asked for, and that Stripe took of it on the page. */
  price: number;
  taken: number;
}

/** Repeats what needs the database until it is there. */
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
