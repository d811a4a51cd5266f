import { defineSignal, proxyActivities, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import { waitUntil } from '../interruptible.ts';
import { resourceQueue } from '../queues.ts';
import type { WebhookDeliveryActivities, WebhookDeliveryArgs, WebhookDeliverySignals } from './contract.ts';

/** When (epoch ms) the delivery was due: an argument of runs of earlier releases, which distinguishes them. */
export interface ArgsOfEarlierReleases {
  at?: number;
}

const hurry = defineSignal<[WebhookDeliverySignals['hurry']?]>('hurry');

/** The retry schedule of earlier releases: a timer and an activity for each attempt. */
export async function byTimers({
  organizationId,
  deliveryId,
  at,
}: WebhookDeliveryArgs & Required<ArgsOfEarlierReleases>): Promise<string> {
  const { attemptDelivery } = proxyActivities<WebhookDeliveryActivities>({
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
