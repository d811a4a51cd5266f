import { defineSignal, proxyActivities, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import { waitUntil } from '../interruptible.ts';
import { slowQueue } from '../webhook-batch/contract.ts';
import { HURRY, type WebhookDeliveryActivities, type WebhookDeliveryArgs } from './contract.ts';

const hurry = defineSignal(HURRY);

/** One delivery with its retry schedule. The attempts and their times are in PostgreSQL; this run keeps the time. */
export async function webhookDelivery({ organizationId, deliveryId, at }: WebhookDeliveryArgs): Promise<string> {
  const { attemptDelivery } = proxyActivities<WebhookDeliveryActivities>({
    // A receiver that hangs takes no slot from anybody else.
    taskQueue: slowQueue(workflowInfo().taskQueue),
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
