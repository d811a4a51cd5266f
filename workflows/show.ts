import { defineSearchAttributeKey } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { Blocked } from './blocked.ts';

const stateAttribute = defineSearchAttributeKey('State', 'KEYWORD');

/** What a run does next, as much of it as is shown; times are epoch milliseconds. */
type ShownDecision =
  | { kind: 'wait'; state: string; until: number | null; where: string }
  | { kind: 'send'; at: number; where: string }
  | { kind: 'call'; where: string }
  | Blocked
  | { kind: 'done'; outcome: string };

/** Writes State, by which operators filter, whenever it becomes another one; a run is `active` until then. */
export function showState(): (state: string) => void {
  let shown = workflowInfo().typedSearchAttributes.get(stateAttribute) || 'active';
  return (state) => {
    if (state !== shown) upsertSearchAttributes([{ key: stateAttribute, value: state }]);
    shown = state;
  };
}

/** Shows in the Temporal UI what the run waits for; State, by which operators filter, is written only when it changes. */
export function showDecisions(): (decision: ShownDecision) => void {
  const show = showState();
  return (decision) => {
    if (decision.kind === 'done') return setCurrentDetails(`finished: ${decision.outcome}`);
    const until = decision.kind === 'wait' ? decision.until : decision.kind === 'send' ? decision.at : null;
    setCurrentDetails(decision.where + (until === null ? '' : ` until ${new Date(until).toISOString()}`));
    show(decision.kind === 'wait' ? decision.state : decision.kind === 'blocked' ? 'blocked' : 'active');
  };
}
