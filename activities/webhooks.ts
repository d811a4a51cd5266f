import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { dissolveBatch } from '../domain/delivery/dissolve-batch.ts';
import type { DeliveryEngine } from '../domain/delivery/engine.ts';
import { attemptDelivery } from '../domain/delivery/retry.ts';
import { runBatch } from '../domain/delivery/run-batch.ts';
import type { WebhookBatchActivities } from '../workflows/webhook-batch/contract.ts';
import type { WebhookDeliveryActivities } from '../workflows/webhook-delivery/contract.ts';
import { orBlock, orGiveUp } from './blocking.ts';
import { withPulse } from './pulse.ts';

/** The retry delay (ms) of an attempt that is due already; zero would mean the retry policy's own delay. */
const MIN_WAIT_MS = 10;

/** Activities of webhook runs. A receiver may take long; the heartbeat distinguishes a slow receiver from a dead worker. */
export function createWebhookActivities(engine: DeliveryEngine): WebhookBatchActivities & WebhookDeliveryActivities {
  return {
    async deliverBatch({ batchId, lane = false }) {
      const context = Context.current();
      const report = await orGiveUp(
        engine.deps,
        () => withPulse(() => runBatch(engine, batchId, { lane, signal: context.cancellationSignal })),
        (error) => withPulse(() => dissolveBatch(engine.deps, batchId, error)),
      );
      if (context.cancellationSignal.aborted)
        throw ApplicationFailure.create({ message: 'the worker stops; another one goes on', type: 'worker_stops' });
      return report;
    },

    async deliverWebhook(args) {
      const report = await orBlock(engine.deps, args.organizationId, () =>
        withPulse(() => attemptDelivery(engine, args)),
      );
      if (report.state === 'settled') return { why: report.why };
      throw ApplicationFailure.create({
        message: report.why,
        type: 'delivery_waits',
        category: ApplicationFailureCategory.BENIGN,
        nextRetryDelay: Math.max(MIN_WAIT_MS, report.at - Date.now()),
      });
    },

    attemptDelivery: (args) => withPulse(() => attemptDelivery(engine, args)),
  };
}
