import type { AutomationGraph } from '../../../db/json-columns.ts';
import { lackingRights } from '../../approvals/automation-rights.ts';

/**
 * Why an automation may not be started: it does more than the rights of the run that starts it, which are those of whoever saved that one. What somebody with
 * more rights has saved lends them to nobody.
 * @returns a sentence that names the actions; undefined where it may be started
 */
export function borrowedActions(rights: readonly string[], started: AutomationGraph): string | undefined {
  const actions = [...new Set(lackingRights(started, rights).map(({ action }) => action))];
  if (actions.length === 0) return undefined;
  return `The automation was not started: whoever saved the one that starts it may not do ${actions.join(', ')}. Somebody who may has to save it again.`;
}
