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
import { blockedReason } from '../blocked.ts';
import { waitUntil } from '../interruptible.ts';
import { resourceQueue } from '../queues.ts';
import type { WarmupActivities, WarmupArgs, WarmupReport, WarmupSignals } from './contract.ts';

const changed = defineSignal<[WarmupSignals['changed']]>('changed');
const retry = defineSignal<[WarmupSignals['retry']]>('retry');

/** Sends a mailbox's warmup emails one by one, each at its time: a timer and a turn, two workflow tasks, per email. */
export async function warmup(args: WarmupArgs): Promise<string> {
  let hinted = false;
  for (const hint of [changed, retry])
    setHandler(hint, () => {
      hinted = true;
    });
  for (;;) {
    hinted = false;
    const report = await turn(args);
    if (report.kind === 'done' && !hinted) {
      setCurrentDetails(`finished: ${report.why}`);
      return report.why;
    }
    if (report.kind === 'wait') {
      const until = report.wakeAt === null ? '' : ` until ${new Date(report.wakeAt).toISOString()}`;
      setCurrentDetails(`${report.why}${until}`);
      await waitUntil(report.wakeAt, () => hinted, report.why);
    }
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof warmup>(args);
    }
  }
}

/** One turn. One that kept failing has blocked the warmup: it waits until it is retried. */
async function turn(args: WarmupArgs): Promise<WarmupReport> {
  const { warmupTurn } = proxyActivities<WarmupActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'mail'),
    summary: 'send what is due',
    startToCloseTimeout: '3m',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  try {
    return await warmupTurn(args);
  } catch (error) {
    return { kind: 'wait', wakeAt: null, why: blockedReason(error) };
  }
}
