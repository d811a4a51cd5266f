import { signal, start, writeIntents } from '../../temporal/dispatch.ts';
import { webhookBatchWorkflow } from '../../workflows/webhook-batch/contract.ts';
import { webhookEndpointWorkflow } from '../../workflows/webhook-endpoint/contract.ts';
import type { Deps } from '../kernel/context.ts';
import { inTransaction } from '../kernel/transact.ts';

/** A delivery of a batch that nobody has touched for so long (ms) has no run any more: an operator ended it. */
const FORGOTTEN_MS = 30 * 60_000;
const MAX_BATCHES = 1_000;

/**
 * Starts again the runs of batches whose deliveries wait and are forgotten. A run that is open after all is left alone.
 * Returns how many batches that were.
 */
export async function rescueBatches({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<number> {
  return inTransaction(db, async (trx) => {
    const batches = (await trx('webhook_deliveries')
      .distinct('batch_id as batchId')
      .select(trx.raw('batch_id = endpoint_id as lane'))
      .whereNotNull('batch_id')
      .whereIn('status', ['pending', 'in_flight'])
      .where('updated_at', '<', new Date(clock.now().getTime() - FORGOTTEN_MS))
      .limit(MAX_BATCHES)) as { batchId: string; lane: boolean }[];
    await writeIntents(
      trx,
      batches.map(({ batchId, lane }) =>
        lane
          ? signal(webhookEndpointWorkflow, { endpointId: batchId }, 'more', { cause: 'sweep' })
          : start(webhookBatchWorkflow, { batchId }),
      ),
    );
    return batches.length;
  });
}
