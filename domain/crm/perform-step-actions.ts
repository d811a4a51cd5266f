import { performStepAction } from './step-actions.ts';
import { declareSubscriber } from '../platform/events/subscriber.ts';

/**
 * Performs the CRM actions of campaign steps, once per step run. Reads events from the beginning. During an update, a
 * worker may already request an action before any process has this subscriber, and its event must not be missed.
 */
export const performStepActions = declareSubscriber({
  name: 'perform_step_actions',
  types: ['step.crm_requested'],
  startsFrom: 'beginning',
  apply: (tx, { data, hops }, ctx) => performStepAction(tx, ctx, data, hops),
});
