import { json } from '../../../db/connection.ts';
import { across } from '../../../db/across.ts';
import type { Columns } from '../../../db/rows.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { errorKind } from '../../../lib/error-report.ts';
import { message } from '../../../messages/index.ts';
import { start, writeIntents } from '../../../temporal/dispatch.ts';
import type { BatchReport } from '../../../workflows/webhook-batch/contract.ts';
import { webhookDeliveryWorkflow } from '../../../workflows/webhook-delivery/contract.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { engineSql } from './sql.ts';

/** Maximum number of deliveries that one call moves out of a batch, equal to the size of one claim. */
const PAGE = 500;

/**
 * Moves the unsettled deliveries out of a batch that keeps failing, and starts a workflow for each. If a delivery's own
 * workflow also fails, only that delivery is blocked, with a dead letter in its workspace. Each delivery is moved in
 * its own transaction, because the row that makes the batch fail may make the move fail as well.
 * @param cause error of the batch, whose kind is stored with the deliveries
 * @returns the number of moved deliveries as `diverted`; `more` when the batch may contain others
 * @throws the first failure, after all others were moved
 */
export async function splitBatch(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  batchId: string,
  cause: unknown,
): Promise<BatchReport> {
  // Deleting this row closes the batch, so that no further delivery can be added.
  await across(db, 'engine').table('webhook_batches').where({ id: batchId }).delete();
  const waiting = await engineSql<Columns<'webhook_deliveries', 'id' | 'organization_id' | 'endpoint_id'>>(
    db,
    'read_failing_batch',
    `select id, organization_id, endpoint_id from webhook_deliveries
     where batch_id = :batch::uuid and status in ('pending', 'in_flight', 'failed') order by (status = 'in_flight') desc, id limit ${PAGE}`,
    { batch: batchId },
  );
  const report: BatchReport = { delivered: 0, failed: 0, diverted: 0, more: waiting.length === PAGE };
  const reason = json(message('connect.batch_failing', { kind: errorKind(cause) }));
  const failures: unknown[] = [];
  for (const { id, organization_id: organizationId, endpoint_id: EndpointId } of waiting) {
    try {
      await inTransaction(db, async (trx) => {
        const moved = await across(trx, 'engine')
          .table('webhook_deliveries')
          .where({ id, batch_id: batchId })
          .whereIn('status', ['pending', 'in_flight', 'failed'])
          .update({ batch_id: null, error_reason: reason, updated_at: clock.now() });
        if (moved === 0) return;
        await writeIntents(trx, [
          start(webhookDeliveryWorkflow, { organizationId, deliveryId: id }, { attributes: { EndpointId } }),
        ]);
        report.diverted += 1;
      });
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return report;
}
