import { setCurrentDetails, upsertMemo, workflowInfo } from '@temporalio/workflow';
import type { Blocked } from '../blocked.ts';
import { showOpen, showState } from '../show.ts';
import { enrollmentWorkflow, type Decision } from './contract.ts';
import type { Hints } from './hints.ts';

/**
 * Shows the cause and end of the wait in the Temporal UI. Operators filter lists by the state (held or blocked) and the
 * step (memo). Both are written only when they change, because each write adds an event to the history.
 */
export function showDecisions(hints: Hints): (decision: Decision | Blocked) => void {
  const show = showState();
  let step = workflowInfo().memo?.step;

  return (decision) => {
    if (decision.kind === 'done') return setCurrentDetails(`finished: ${decision.outcome}`);
    const until = untilOf(decision);
    const latest = hints.latest();
    showOpen(
      enrollmentWorkflow,
      decision.where +
        (until === null ? '' : ` until ${new Date(until).toISOString()}`) +
        (latest && `\n\nLast signal: ${latest}`),
    );
    show({ state: decision.kind === 'hold' ? decision.state : decision.kind === 'blocked' ? 'blocked' : 'active' });
    if (decision.kind === 'blocked' || decision.step === null || decision.step === step) return;
    step = decision.step;
    upsertMemo({ step });
  };
}

/** Returns the end (epoch ms) of the wait; null if only a signal ends it or there is no wait. */
function untilOf(decision: Exclude<Decision | Blocked, { kind: 'done' }>): number | null {
  if (decision.kind === 'slot') return decision.at;
  return 'until' in decision ? decision.until : null;
}
