import type { Trx } from '../../../db/connection.ts';
import { signal, type Intent } from '../../../temporal/dispatch.ts';
import { webhookEndpointWorkflow } from '../../../workflows/webhook-endpoint/contract.ts';
import { engineSql } from './sql.ts';

/**
 * Minimum time (ms) between two signals to the workflow of an endpoint's open batch. The workflow is signalled again in
 * case a signal was lost.
 */
const REMIND_MS = 60_000;

/**
 * Returns intents that signal the workflows of endpoints' own batches, to which this transaction adds deliveries. A
 * workflow that was signalled recently gets no intent, because it cannot end before this transaction.
 */
export async function endpointBatchIntents(trx: Trx, endpointIds: readonly string[], now: Date): Promise<Intent[]> {
  if (endpointIds.length === 0) return [];
  const rows = await engineSql<{ id: string; due: boolean; organization_id: string | null }>(
    trx,
    'wake',
    `insert into webhook_batches as b (id, opened_at) select id, :now::timestamptz from unnest(:ids::uuid[]) as t(id) order by id
     on conflict (id) do update set opened_at = case when b.opened_at < :before::timestamptz then excluded.opened_at else b.opened_at end
     returning id, opened_at = :now::timestamptz as due, (select e.organization_id from webhook_endpoints e where e.id = b.id)`,
    { ids: [...endpointIds], now, before: new Date(now.getTime() - REMIND_MS) },
  );
  return rows
    .filter(({ due }) => due)
    .map(({ id, organization_id: OrganizationId }) =>
      signal(
        webhookEndpointWorkflow,
        { endpointId: id },
        'more',
        { cause: 'diverted' },
        { attributes: { EndpointId: id, ...(OrganizationId ? { OrganizationId } : {}) } },
      ),
    );
}
