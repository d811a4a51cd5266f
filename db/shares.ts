import type { Knex } from 'knex';
import type { Claim } from '../lib/fair-queue.ts';
import type { Db } from './connection.ts';
import { knexOf } from './raw.ts';
import type { SharedClient } from './shared-pool.ts';

/**
 * Returns a view of a pool for the work of one organization, such as one request. Connections of the view count against
 * the organization's share. Work that has an open transaction gets another connection without waiting for the share. A
 * transaction is returned unchanged.
 * @param options.isUrgent true for work that stops something, such as a pause. It does not wait for other work of its
 * organization
 * @throws ShareUsedUp from a statement that waits too long for a connection
 */
export function ofOrganization(db: Db, organizationId: string, { isUrgent = false } = {}): Db {
  return view(db, { tenant: organizationId, ...(isUrgent ? { precedence: 'urgent' as const } : {}) });
}

/**
 * Returns a view for an organization's searches and reports, which have a smaller share. `db` must be a view returned
 * by {@link ofOrganization}; a pool is returned unchanged.
 */
export function askingOnly(db: Db): Db {
  const { pooled, claim } = knexOf(db).client as SharedClient & { claim?: Claim };
  return claim ? view(db, { ...claim, group: { name: 'questions', share: pooled.questions } }) : db;
}

function view(db: Db, claim: Claim): Db {
  const pool = knexOf(db);
  const { pooled } = pool.client as Partial<SharedClient>;
  if (!pooled) return db;
  let transactions = 0;
  const client = Object.assign(Object.create(pooled) as SharedClient, {
    claim,
    acquireConnection: () => pooled.acquireFor(transactions > 0 ? { ...claim, precedence: 'nested' } : claim),
  });
  const ofTable = (name: string) => client.queryBuilder().table(name);
  return Object.assign(ofTable, {
    client,
    userParams: pool.userParams,
    queryBuilder: () => client.queryBuilder(),
    count: (column: string) => client.queryBuilder().count(column),
    raw: (...args: unknown[]) => client.raw(...args),
    destroy: () => pool.destroy(),
    transaction(work: (trx: Knex.Transaction) => Promise<unknown>, config: object = {}) {
      const counted = async (trx: Knex.Transaction) => {
        transactions += 1;
        try {
          return await work(trx);
        } finally {
          transactions -= 1;
        }
      };
      return client.transaction(counted, { ...config, userParams: pool.userParams, doNotRejectOnRollback: true }, null);
    },
  }) as unknown as Db;
}
