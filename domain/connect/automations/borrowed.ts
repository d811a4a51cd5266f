import type { AutomationGraph } from '../../../db/json-columns.ts';
import { message, type Message } from '../../../messages/index.ts';
import { lackingRights } from '../../approvals/automation-rights.ts';

/**
 * Why an automation may not be started: it does more than the rights of the run that starts it, which are those of whoever saved that one. What somebody with
 * more rights has saved lends them to nobody.
 * @returns a message that names the actions; undefined where it may be started
 */
export function borrowedActions(rights: readonly string[], started: AutomationGraph): Message | undefined {
  const actions = [...new Set(lackingRights(started, rights).map(({ action }) => action))];
  if (actions.length === 0) return undefined;
  return message('connect.run_borrowed', { actions });
}
