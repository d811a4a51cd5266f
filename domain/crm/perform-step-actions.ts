import { performStepAction } from './step-actions.ts';
import { declareSubscriber } from '../platform/events/subscriber.ts';

/**
 * Creates tasks and deals and moves deals for campaign steps, once per step run. The subscriber starts from the first
 * event, because during a roll-out a worker may request an action before a process with this subscriber runs.
 */
export const performStepActions = declareSubscriber({
  name: 'perform_step_actions',
  types: ['step.crm_requested'],
  startsFrom: 'beginning',
  apply: (tx, { data, hops }, ctx) => performStepAction(tx, ctx, data, hops),
});
