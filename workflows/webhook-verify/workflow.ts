import {
  condition,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { blockedReason } from '../blocked.ts';
import { restartAsNewWhenLong } from '../continue.ts';
import { waitUntil } from '../interruptible.ts';
import { resourceQueue } from '../queues.ts';
import { showOpen, showState } from '../show.ts';
import {
  webhookVerifyWorkflow,
  type ChallengeStep,
  type WebhookVerifyActivities,
  type WebhookVerifyArgs,
  type WebhookVerifySignals,
} from './contract.ts';

const armed = defineSignal<[WebhookVerifySignals['armed']?]>('armed');
const retry = defineSignal<[WebhookVerifySignals['retry']]>('retry');

/** Verifies an application's endpoint. PostgreSQL stores the result; this workflow repeats the challenge. */
export async function webhookVerify(args: WebhookVerifyArgs): Promise<string> {
  const { challengeEndpoint } = proxyActivities<WebhookVerifyActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'apps'),
    summary: 'send a challenge',
    startToCloseTimeout: '30s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  const show = showState();
  let arms = 0;
  setHandler(armed, () => {
    arms += 1;
  });
  let retries = 0;
  setHandler(retry, () => {
    retries += 1;
  });
  /** Sends a challenge. If the activity blocked the workflow, waits for a retry or a reset and returns undefined. */
  const challenge = async (attempt: number): Promise<ChallengeStep | undefined> => {
    const [seen, retried] = [arms, retries];
    try {
      const step = await challengeEndpoint(args, attempt);
      show({ state: 'active' });
      return step;
    } catch (error) {
      const reason = blockedReason(error);
      show({ state: 'blocked' });
      showOpen(webhookVerifyWorkflow, reason);
      await condition(() => arms !== seen || retries !== retried);
      return undefined;
    }
  };
  let attempt = 1;
  for (;;) {
    const seen = arms;
    const step = await challenge(attempt);
    if (!step) {
      if (arms !== seen) attempt = 1;
      continue;
    }
    if (arms === seen) {
      if (step.over) {
        setCurrentDetails(step.state.replace('_', ' '));
        return step.state;
      }
      const why = `no echo to challenge ${attempt}; asking again later`;
      showOpen(webhookVerifyWorkflow, why);
      await waitUntil(Date.now() + step.retryInMs, () => arms !== seen, why);
    }
    // After a reset the count begins again, because the URL of the endpoint may have changed.
    attempt = arms === seen ? attempt + 1 : 1;
    await restartAsNewWhenLong(args);
  }
}
