import { performStepAction } from './step-actions.ts';
import { declareSubscriber } from '../platform/events/subscriber.ts';

/**
 * Makes the tasks and deals that steps of campaigns ask for, and moves deals; once for each run of a step. From the beginning, as nothing else does what is asked for: in a
 * roll-out a worker may ask before the first process that reacts has been replaced.
 */
export const performStepActions = declareSubscriber({
  name: 'perform_step_actions',
  types: ['step.crm_requested'],
  startsFrom: 'beginning',
  apply: (tx, { data, hops }, ctx) => performStepAction(tx, ctx, data, hops),
});
