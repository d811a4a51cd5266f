import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { DeliveryEngine } from '../domain/delivery/engine.ts';
import { attemptDelivery } from '../domain/delivery/retry.ts';
import { runBatch } from '../domain/delivery/run-batch.ts';
import type { WebhookBatchActivities } from '../workflows/webhook-batch/contract.ts';
import type { WebhookDeliveryActivities } from '../workflows/webhook-delivery/contract.ts';

const HEARTBEAT_MS = 3_000;

/** Activities of webhook runs. A receiver may take its time; the heartbeat tells a slow receiver from a dead worker. */
export function createWebhookActivities(engine: DeliveryEngine): WebhookBatchActivities & WebhookDeliveryActivities {
  return {
    async deliverBatch({ batchId, lane = false }) {
      const context = Context.current();
      const report = await beating(() => runBatch(engine, batchId, { lane, signal: context.cancellationSignal }));
      if (context.cancellationSignal.aborted)
        throw ApplicationFailure.create({ message: 'the worker stops; another one goes on', type: 'worker_stops' });
      return report;
    },

    attemptDelivery: (args) => beating(() => attemptDelivery(engine, args)),
  };
}

async function beating<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const pulse = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(pulse);
  }
}
