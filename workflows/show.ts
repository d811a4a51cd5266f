import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { Blocked } from './blocked.ts';
import type { Stops } from './contract.ts';

const campaignAttribute = defineSearchAttributeKey('CampaignId', 'KEYWORD');
const deadlineAttribute = defineSearchAttributeKey('Deadline', 'DATETIME');
const stateAttribute = defineSearchAttributeKey('State', 'KEYWORD');

/** Parts of a decision that the Temporal UI shows. Times are epoch milliseconds. */
type ShownDecision =
  | { kind: 'wait'; state: string; until: number | null; where: string }
  | { kind: 'send'; at: number; where: string }
  | { kind: 'call'; where: string }
  | Blocked
  | { kind: 'done'; outcome: string };

/** Search attributes by which operators filter workflows. `until` is epoch milliseconds. */
interface ShownState {
  state: string;
  /** End of the wait. Shown as Deadline if the workflow waits for a person's decision. */
  until?: number | null | undefined;
  /** Id of the campaign, for a workflow whose arguments do not contain it. */
  campaignId?: string | undefined;
}

/** Shows the current work of an open workflow in the Temporal UI, with the effects of Cancel and Terminate. */
export function showOpen({ cancel, terminate }: Stops, what: string, until: number | null = null): void {
  const end = until === null ? '' : ` until ${new Date(until).toISOString()}`;
  setCurrentDetails(`${what}${end}\n\nCancel: ${cancel}\n\nTerminate: ${terminate}`);
}

/**
 * Returns a function that writes the search attributes State, Deadline and CampaignId when they change. The initial
 * State is `active`.
 */
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
