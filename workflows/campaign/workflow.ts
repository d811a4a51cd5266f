import { defineSignal, proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import { listenForHints } from '../hints.ts';
import { resourceQueue } from '../queues.ts';
import { iterateUntilDone } from '../iterations.ts';
import { campaignWorkflow, type CampaignActivities, type CampaignArgs, type CampaignSignals } from './contract.ts';

const control = defineSignal<[CampaignSignals['control']]>('control');
const retry = defineSignal<[CampaignSignals['retry']]>('retry');

/**
 * Launcher of one campaign. It ends when no lead is left to launch or signal. The next start or lead starts it again.
 */
export async function campaign(args: CampaignArgs): Promise<string> {
  const { runLauncher } = proxyActivities<CampaignActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'batch'),
    summary: 'launch due leads',
    startToCloseTimeout: '5m',
    heartbeatTimeout: '30s',
    retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  const { beginLauncher } = proxyLocalActivities<CampaignActivities>({
    summary: 'launch the first due leads',
    startToCloseTimeout: '10s',
    retry: { maximumAttempts: 1 },
  });
  // The first iteration is a short local activity within the first workflow task. If it fails or finds more work, an
  // activity on the queue `batch` continues.
  let looks = 1;
  const takeTurn = (turn: CampaignArgs) =>
    looks-- > 0 ? beginLauncher(turn).catch(() => runLauncher(turn)) : runLauncher(turn);
  return iterateUntilDone(campaignWorkflow, args, listenForHints(control, retry), takeTurn);
}
