import { defineSignal, proxyActivities, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import { waitUntil } from '../interruptible.ts';
import { resourceQueue } from '../queues.ts';
import type { WebhookDeliveryActivities, WebhookDeliveryArgs, WebhookDeliverySignals } from './contract.ts';

const hurry = defineSignal<[WebhookDeliverySignals['hurry']?]>('hurry');

/** One delivery with its retry schedule. `at` (epoch ms) is what runs of earlier releases were started with. The attempts and their times are in PostgreSQL; this run keeps the time. */
export async function webhookDelivery({
  organizationId,
  deliveryId,
  at = 0,
}: WebhookDeliveryArgs & { at?: number }): Promise<string> {
  const { attemptDelivery } = proxyActivities<WebhookDeliveryActivities>({
    // A receiver that hangs takes no slot from anybody else.
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'webhooks'),
    startToCloseTimeout: '2m',
    heartbeatTimeout: '10s',
    summary: 'the attempt that is due',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  let hurried = false;
  setHandler(hurry, () => {
    hurried = true;
  });
  let next = at;
  for (;;) {
    await waitUntil(next, () => hurried, 'the next attempt');
    hurried = false;
    const report = await attemptDelivery({ organizationId, deliveryId });
    setCurrentDetails(report.why);
    if (report.state === 'waiting') next = report.at;
    else if (!hurried) return report.why;
    else next = 0;
  }
}
