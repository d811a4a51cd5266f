import { defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { queryNextStep } from '../next-step.ts';
import type { Blocked } from '../blocked.ts';
import { listenForHints } from '../hints.ts';
import { resourceQueue } from '../queues.ts';
import { iterateUntilDone, type Iteration } from '../iterations.ts';
import { runWorkflow, type RunActivities, type RunArgs, type RunReport, type RunSignals } from './contract.ts';

const decided = defineSignal<[RunSignals['decided']]>('decided');
const cancelled = defineSignal<[RunSignals['cancelled']]>('cancelled');
const retry = defineSignal<[RunSignals['retry']]>('retry');

/**
 * Pause (ms) before the next query when a run's deadline has passed by the worker's clock, but not yet by PostgreSQL's
 * clock.
 */
const QUERY_AGAIN_MS = 1_000;

/**
 * Agent run: checks, a person's approval if the policy requires it, checks again, launch. The workflow ends when the
 * campaign is active or will not be launched. Afterwards the run's state follows its campaign without a workflow.
 */
export async function run(args: RunArgs): Promise<string> {
  let state: RunReport['state'] = 'queued';
  const takeTurn = async (): Promise<Iteration | Blocked> => {
    const report = await stepOf(state)(args);
    if ('kind' in report) return report;
    state = report.state;
    return toIteration(report);
  };
  await iterateUntilDone(runWorkflow, args, listenForHints(decided, cancelled, retry), takeTurn);
  return state;
}

/**
 * Returns the activity for a run's state. A waiting run only queries the database, by a local activity that needs no
 * worker slot.
 */
function stepOf(state: RunReport['state']): (args: RunArgs) => Promise<RunReport | Blocked> {
  const common = {
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'batch'),
    startToCloseTimeout: '5m',
    heartbeatTimeout: '15s',
    retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '1m' },
  } as const;
  switch (state) {
    case 'preflighting':
      return proxyActivities<RunActivities>({ ...common, summary: 'check the campaign, ask the policy' }).preflightRun;
    case 'launching':
      return proxyActivities<RunActivities>({ ...common, summary: 'check again and start the campaign' }).launchRun;
    default:
      return (args) => queryNextStep((activities: RunActivities) => activities.advanceRun(args));
  }
}

function toIteration({ state, decideBy, why, campaignId }: RunReport): Iteration {
  const shown = { why: `${state.replace('_', ' ')}${why ? `: ${why}` : ''}; campaign/${campaignId}`, campaignId };
  switch (state) {
    case 'preflighting':
    case 'launching':
    case 'queued':
      return { kind: 'more', ...shown };
    case 'awaiting_approval':
      return { kind: 'wait', wakeAt: Math.max(decideBy!, Date.now() + QUERY_AGAIN_MS), state, ...shown };
    default:
      return { kind: 'done', state, ...shown };
  }
}
