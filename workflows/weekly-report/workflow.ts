import { defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { listenForHints } from '../hints.ts';
import { resourceQueue } from '../queues.ts';
import { iterateUntilDone } from '../iterations.ts';
import {
  weeklyReportWorkflow,
  type WeeklyReportActivities,
  type WeeklyReportArgs,
  type WeeklyReportSignals,
} from './contract.ts';

const retry = defineSignal<[WeeklyReportSignals['retry']]>('retry');

/**
 * Emails the report of a week to each member once. Retries while the mail server is unreachable, until the next week's
 * report.
 */
export async function weeklyReport(args: WeeklyReportArgs): Promise<string> {
  const { mailWeeklyReport } = proxyActivities<WeeklyReportActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'mail'),
    summary: 'mail the report of the week',
    startToCloseTimeout: '10m',
    heartbeatTimeout: '1m',
    retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: '5m' },
  });
  return iterateUntilDone(weeklyReportWorkflow, args, listenForHints(retry), mailWeeklyReport);
}
