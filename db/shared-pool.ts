import type { Knex } from 'knex';
import { FairQueue, type Claim } from '../lib/fair-queue.ts';

/** Maximum time (ms) that a statement waits for a connection. */
const WAIT_MS = 10_000;

/** knex's client of a pool, with a method that takes a connection for an organization. */
export interface SharedClient {
  acquireConnection(): Promise<object>;
  releaseConnection(connection: object): Promise<void>;
  queryBuilder(): Knex.QueryBuilder;
  raw(...args: unknown[]): Knex.Raw;
  transaction(work: unknown, config: object, outer: null): Promise<unknown>;
  acquireFor(claim: Claim): Promise<object>;
  /** knex's client of the whole pool. */
  pooled: SharedClient;
  /** Number of connections that one organization may hold for its searches and reports. */
  questions: number;
}

/**
 * Divides the connections of a pool among organizations (`ofOrganization`). One organization may hold at most three
 * quarters of them, and at most an eighth for its searches and reports (`askingOnly`).
 * @param max number of connections
 */
export function sharePool(pool: Knex, max: number): void {
  const client = pool.client as SharedClient;
  const queue = new FairQueue({ total: max, share: Math.max(1, max - Math.ceil(max / 4)), waitMs: WAIT_MS });
  const leaves = new WeakMap<object, () => void>();
  const acquire = client.acquireConnection.bind(client);
  const release = client.releaseConnection.bind(client);
  client.pooled = client;
  client.questions = Math.max(1, Math.floor(max / 8));
  client.acquireFor = async (claim) => {
    const leave = await queue.enter(claim);
    try {
      const connection = await acquire();
      leaves.set(connection, leave);
      return connection;
    } catch (error) {
      leave();
      throw error;
    }
  };
  client.acquireConnection = () => client.acquireFor({});
  client.releaseConnection = async (connection) => {
    await release(connection);
    leaves.get(connection)?.();
  };
}
