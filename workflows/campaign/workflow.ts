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
import {
  NUDGE,
  type CampaignActivities,
  type CampaignArgs,
  type CampaignSignals,
  type LaunchReport,
} from './contract.ts';

const control = defineSignal<[CampaignSignals['control']]>('control');
const retry = defineSignal<[CampaignSignals['retry']]>('retry');
const nudge = defineSignal(NUDGE);

/** The launcher of one campaign. It ends when nothing is left to launch or signal; the next start or lead opens it again. */
export async function campaign(args: CampaignArgs): Promise<string> {
  let hinted = false;
  for (const hint of [control, retry, nudge])
    setHandler(hint, () => {
      hinted = true;
    });
  for (;;) {
    hinted = false;
    const report = await launch(args);
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
      await continueAsNew<typeof campaign>(args);
    }
  }
}

/** One turn of the launcher. One that kept failing has blocked the campaign: it waits until it is retried. */
async function launch(args: CampaignArgs): Promise<LaunchReport> {
  const { runLauncher } = proxyActivities<CampaignActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'batch'),
    summary: 'launch due leads',
    startToCloseTimeout: '5m',
    heartbeatTimeout: '30s',
    retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  try {
    return await runLauncher(args);
  } catch (error) {
    return { kind: 'wait', wakeAt: null, launched: 0, why: blockedReason(error) };
  }
}
