import { defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { asBlocked } from '../blocked.ts';
import { restartAsNew, restartAsNewWhenLong } from '../continue.ts';
import { listenForHints } from '../hints.ts';
import { waitUntil } from '../interruptible.ts';
import { resourceQueue } from '../queues.ts';
import { showDecisions } from '../show.ts';
import {
  domainRenewalWorkflow,
  type DomainRenewalActivities,
  type DomainRenewalArgs,
  type DomainRenewalSignals,
} from './contract.ts';

const changed = defineSignal<[DomainRenewalSignals['changed']]>('changed');
const retry = defineSignal<[DomainRenewalSignals['retry']]>('retry');

/**
 * Renewals of a managed domain: sleeps until about a month before its registration ends, requests the price, charges,
 * and renews. Then it continues as a new run for the next year, until the domain is released or lost.
 */
export async function domainRenewal(args: DomainRenewalArgs): Promise<string> {
  const { renewalTurn } = proxyActivities<DomainRenewalActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'batch'),
    summary: 'price, charge, renew',
    startToCloseTimeout: '5m',
    heartbeatTimeout: '15s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  const hints = listenForHints(changed, retry);
  const show = showDecisions(domainRenewalWorkflow);
  for (;;) {
    hints.take();
    const turn = await renewalTurn(args).catch(asBlocked);
    if (turn.kind !== 'renewed') show(turn);
    switch (turn.kind) {
      case 'wait':
        await waitUntil(turn.until, hints.any, turn.where);
        break;
      case 'blocked':
        await waitUntil(null, hints.any, turn.where);
        break;
      case 'done':
        if (!hints.any()) return turn.outcome;
    }
    if (turn.kind === 'renewed') await restartAsNew(args);
    await restartAsNewWhenLong(args);
  }
}
