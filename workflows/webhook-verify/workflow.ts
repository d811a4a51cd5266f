import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { waitUntil } from '../interruptible.ts';
import { resourceQueue } from '../queues.ts';
import type { WebhookVerifyActivities, WebhookVerifyArgs, WebhookVerifySignals } from './contract.ts';

const armed = defineSignal<[WebhookVerifySignals['armed']?]>('armed');

/** Verification of an application's endpoint. PostgreSQL says whether it is verified; this run repeats the challenge. */
export async function webhookVerify(args: WebhookVerifyArgs): Promise<string> {
  const { challengeEndpoint } = proxyActivities<WebhookVerifyActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'apps'),
    summary: 'send a challenge',
    startToCloseTimeout: '30s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  let arms = 0;
  setHandler(armed, () => {
    arms += 1;
  });
  let attempt = 1;
  for (;;) {
    const seen = arms;
    const step = await challengeEndpoint(args, attempt);
    if (arms === seen) {
      if (step.over) {
        setCurrentDetails(step.state.replace('_', ' '));
        return step.state;
      }
      const why = `no echo to challenge ${attempt}; asking again later`;
      setCurrentDetails(why);
      await waitUntil(Date.now() + step.retryInMs, () => arms !== seen, why);
    }
    // The verification was reset during the challenge or the wait: the endpoint may have another URL now.
    attempt = arms === seen ? attempt + 1 : 1;
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof webhookVerify>(args);
    }
  }
}
