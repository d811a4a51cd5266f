import {
  ActivityCancellationType,
  ActivityFailure,
  CancellationScope,
  condition,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { blockedReason } from '../blocked.ts';
import { resourceQueue } from '../queues.ts';
import { showOpen, showState } from '../show.ts';
import {
  webhookDeliveryWorkflow,
  type WebhookDeliveryActivities,
  type WebhookDeliveryArgs,
  type WebhookDeliverySignals,
} from './contract.ts';

const hurry = defineSignal<[WebhookDeliverySignals['hurry']]>('hurry');

/**
 * Runs one delivery with its retry schedule. The server retries a single activity at the times set by PostgreSQL, until
 * the delivery is settled. The signal `hurry` cancels the waiting activity and starts it again, so that the delivery is
 * attempted at once. A request in progress is finished first.
 */
export async function webhookDelivery(args: WebhookDeliveryArgs): Promise<string> {
  let hurried = false;
  let attempts: CancellationScope | undefined;
  setHandler(hurry, () => {
    hurried = true;
    attempts?.cancel();
  });
  const show = showState();
  for (;;) {
    hurried = false;
    attempts = new CancellationScope();
    show({ state: 'active' });
    showOpen(
      webhookDeliveryWorkflow,
      'attempts by the retry schedule: the pending activity shows the last one and when the next is due',
    );
    try {
      const { why } = await attempts.run(() => attemptUntilSettled(args));
      setCurrentDetails(why);
      if (!hurried) return why;
    } catch (error) {
      if (CancellationScope.current().consideredCancelled) throw error;
      if (hurried && error instanceof ActivityFailure) continue;
      const reason = blockedReason(error);
      show({ state: 'blocked' });
      showOpen(webhookDeliveryWorkflow, reason);
      await condition(() => hurried);
    }
  }
}

function attemptUntilSettled(args: WebhookDeliveryArgs): Promise<{ why: string }> {
  const { deliverWebhook } = proxyActivities<WebhookDeliveryActivities>({
    // The separate queue ensures that hanging receivers use no slots of other work.
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'webhooks'),
    summary: 'attempts by the retry schedule',
    startToCloseTimeout: '2m',
    heartbeatTimeout: '10s',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    // Used for attempts that fail before the request. The failure of a request contains the delay until the next
    // attempt.
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  return deliverWebhook(args);
}
