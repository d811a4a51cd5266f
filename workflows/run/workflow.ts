import { defineSearchAttributeKey } from '@temporalio/common';
import {
  condition,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { blockedReason } from '../blocked.ts';
import { continueWhenLong } from '../continue.ts';
import { waitUntil } from '../interruptible.ts';
import { resourceQueue } from '../queues.ts';
import type { RunActivities, RunArgs, RunReport, RunSignals } from './contract.ts';

const decided = defineSignal<[RunSignals['decided']]>('decided');
const cancelled = defineSignal<[RunSignals['cancelled']]>('cancelled');
const retry = defineSignal<[RunSignals['retry']]>('retry');
const stateAttribute = defineSearchAttributeKey('State', 'KEYWORD');

/** How long (ms) a run whose time is over, but not by the clock of PostgreSQL, waits until it asks again. */
const ASK_AGAIN_MS = 1_000;

/**
 * An agent's run: checks, a person's approval where the policy demands one, checks again, the launch. It ends when its
 * campaign is active, or will not be launched; from then on the run follows its campaign in PostgreSQL, and waits for nothing here.
 */
export async function run(args: RunArgs): Promise<string> {
  const { beginRun, preflightRun, settleApproval, launchRun } = activitiesOf();
  let hints = 0;
  for (const hint of [decided, cancelled, retry])
    setHandler(hint, () => {
      hints += 1;
    });

  let report: RunReport = { state: 'queued', decideBy: null, why: null };
  /** Hints that the approval has been looked at after. One may have come before the first look, and opened this run. */
  let looked = 0;
  let askAgainAt = 0;
  /** Does a step; one that keeps failing has blocked the run, and is done again after the next hint. */
  const take = async (step: (args: RunArgs) => Promise<RunReport>): Promise<void> => {
    for (;;) {
      const before = hints;
      try {
        report = await step(args);
        return show(report);
      } catch (error) {
        setCurrentDetails(blockedReason(error));
        await condition(() => hints > before);
        // The next look is younger than these hints.
        if (step === settleApproval) looked = hints;
      }
    }
  };

  for (;;) {
    switch (report.state) {
      case 'queued':
        // A run that waits already, and whose workflow was lost, needs no slot of a worker to wait on.
        await take(beginRun);
        break;
      case 'preflighting':
        await take(preflightRun);
        break;
      case 'awaiting_approval':
        await waitUntil(Math.max(report.decideBy ?? 0, askAgainAt), () => hints > looked, 'a decision by a person');
        looked = hints;
        await take(settleApproval);
        askAgainAt = Date.now() + ASK_AGAIN_MS;
        break;
      case 'launching':
        await take(launchRun);
        break;
      default:
        return report.state;
    }
    // A hint that has not been looked at would be lost with this run, and the next one would wait for another.
    if (report.state !== 'awaiting_approval' || hints <= looked) await continueWhenLong(args);
  }
}

function activitiesOf(): RunActivities {
  const retrying = { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '1m' } as const;
  const common = {
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'batch'),
    startToCloseTimeout: '5m',
    heartbeatTimeout: '15s',
    retry: retrying,
  } as const;
  const { preflightRun } = proxyActivities<RunActivities>({ ...common, summary: 'check the campaign, ask the policy' });
  const { launchRun } = proxyActivities<RunActivities>({ ...common, summary: 'check again and start the campaign' });
  const patient = proxyActivities<RunActivities>({ ...common, summary: 'how far is it?' });
  const local = proxyLocalActivities<RunActivities>({
    summary: 'how far is it?',
    startToCloseTimeout: '30s',
    retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '2s', maximumAttempts: 3 },
  });
  return {
    preflightRun,
    launchRun,
    // Where the database is away, the server retries without an event in the history, for any length of time.
    beginRun: (args) => local.beginRun(args).catch(() => patient.beginRun(args)),
    settleApproval: (args) => local.settleApproval(args).catch(() => patient.settleApproval(args)),
  };
}

/** Shows in the Temporal UI how far the run is. State, by which operators filter, changes where the run waits or ends. */
function show({ state, decideBy, why }: RunReport): void {
  const until = decideBy === null ? '' : ` until ${new Date(decideBy).toISOString()}`;
  setCurrentDetails(`${state.replace('_', ' ')}${until}${why ? `: ${why}` : ''}`);
  if (state !== 'launching' && state !== 'preflighting')
    upsertSearchAttributes([{ key: stateAttribute, value: state }]);
}
