import { defineSearchAttributeKey } from '@temporalio/common';
import { setCurrentDetails, upsertMemo, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { Decision } from './contract.ts';
import type { Hints } from './hints.ts';

const stateAttribute = defineSearchAttributeKey('State', 'KEYWORD');

/**
 * Shows in the Temporal UI what the run waits for and until when. State (held or blocked) and the step (memo), by which
 * operators filter and read lists, cost an event each and are written only when they change.
 */
export function showDecisions(hints: Hints): (decision: Decision) => void {
  let state = workflowInfo().typedSearchAttributes.get(stateAttribute) ?? 'active';
  let step = workflowInfo().memo?.step;

  return (decision) => {
    if (decision.kind === 'done') return setCurrentDetails(`finished: ${decision.outcome}`);
    const until = untilOf(decision);
    const latest = hints.latest();
    setCurrentDetails(
      decision.where +
        (until === null ? '' : ` until ${new Date(until).toISOString()}`) +
        (latest && `\n\nLast signal: ${latest}`),
    );
    const now = decision.kind === 'hold' ? decision.state : 'active';
    if (now !== state) upsertSearchAttributes([{ key: stateAttribute, value: now }]);
    state = now;
    if (decision.step === null || decision.step === step) return;
    step = decision.step;
    upsertMemo({ step });
  };
}

/** Until when (epoch ms) the run waits; null where only a signal ends the wait, or there is none. */
function untilOf(decision: Exclude<Decision, { kind: 'done' }>): number | null {
  if (decision.kind === 'slot') return decision.at;
  return decision.kind === 'send' || decision.kind === 'call' ? null : decision.until;
}
