import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { Blocked } from './blocked.ts';
import type { Stops } from './contract.ts';

const campaignAttribute = defineSearchAttributeKey('CampaignId', 'KEYWORD');
const deadlineAttribute = defineSearchAttributeKey('Deadline', 'DATETIME');
const stateAttribute = defineSearchAttributeKey('State', 'KEYWORD');

/** Parts of a run's next step that are shown. Times are epoch milliseconds. */
type ShownDecision =
  | { kind: 'wait'; state: string; until: number | null; where: string }
  | { kind: 'send'; at: number; where: string }
  | { kind: 'call'; where: string }
  | Blocked
  | { kind: 'done'; outcome: string };

/** Search attributes by which operators filter runs. `until` is epoch milliseconds. */
interface ShownState {
  state: string;
  /** End of the wait; shown as Deadline if the run waits for a person's decision. */
  until?: number | null | undefined;
  /** Campaign of a run whose arguments do not name it. */
  campaignId?: string | undefined;
}

/** Shows the current work of an open workflow in the Temporal UI, with the effects of Cancel and Terminate. */
export function showOpen({ cancel, terminate }: Stops, what: string, until: number | null = null): void {
  const end = until === null ? '' : ` until ${new Date(until).toISOString()}`;
  setCurrentDetails(`${what}${end}\n\nCancel: ${cancel}\n\nTerminate: ${terminate}`);
}

/** Writes the search attributes State, Deadline and CampaignId when they change. Until then a workflow is `active`. */
export function showState(): (shown: ShownState) => void {
  const { typedSearchAttributes: before } = workflowInfo();
  let state = before.get(stateAttribute) || 'active';
  let campaignId = before.get(campaignAttribute);
  let deadline = before.get(deadlineAttribute)?.getTime();
  return (shown) => {
    const changes: SearchAttributePair[] = [];
    if (shown.state !== state) changes.push({ key: stateAttribute, value: (state = shown.state) });
    if (shown.state === 'awaiting_approval' && shown.until && shown.until !== deadline)
      changes.push({ key: deadlineAttribute, value: new Date((deadline = shown.until)) });
    if (shown.campaignId && shown.campaignId !== campaignId)
      changes.push({ key: campaignAttribute, value: (campaignId = shown.campaignId) });
    if (changes.length > 0) upsertSearchAttributes(changes);
  };
}

/** Returns a function that shows a decision in the Temporal UI: the cause of the wait, and the search attribute State. */
export function showDecisions(stops: Stops): (decision: ShownDecision) => void {
  const show = showState();
  return (decision) => {
    if (decision.kind === 'done') return setCurrentDetails(`finished: ${decision.outcome}`);
    const until = decision.kind === 'wait' ? decision.until : decision.kind === 'send' ? decision.at : null;
    showOpen(stops, decision.where, until);
    show({
      state: decision.kind === 'wait' ? decision.state : decision.kind === 'blocked' ? 'blocked' : 'active',
      until,
    });
  };
}
