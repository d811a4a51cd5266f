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
import { NUDGE, type CampaignActivities, type CampaignArgs, type CampaignSignals } from './contract.ts';

const { runLauncher } = proxyActivities<CampaignActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '30s',
  summary: 'launch due leads',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '1m' },
});

const nudge = defineSignal(NUDGE);
const control = defineSignal<[CampaignSignals['control']]>('control');
const retry = defineSignal<[CampaignSignals['retry']]>('retry');

/** The launcher of one campaign. It ends when nothing is left to launch or tell; the next start or lead opens it again. */
export async function campaign(args: CampaignArgs): Promise<string> {
  let nudges = 0;
  for (const hint of [nudge, control, retry])
    setHandler(hint, () => {
      nudges += 1;
    });
  for (;;) {
    const seen = nudges;
    const report = await runLauncher(args);
    if (report.kind === 'done' && nudges === seen) {
      setCurrentDetails(`finished: ${report.why}`);
      return report.why;
    }
    if (report.kind === 'wait') {
      setCurrentDetails(report.why);
      await waitUntil(report.wakeAt, () => nudges !== seen, report.why);
    }
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof campaign>(args);
    }
  }
}
