import type { AutomationGraph } from '../../../db/json-columns.ts';
import { message, type Message } from '../../../messages/index.ts';
import { lackingRights } from '../../approvals/automation-rights.ts';

/**
 * Returns the reason why a run may not start another automation: that automation exceeds the run's rights. A run has
 * the rights of the person who saved its automation. A run never gets the rights of a more powerful author.
 * @returns a message that names the actions; undefined if the automation may be started
 */
export function startRefusal(rights: readonly string[], started: AutomationGraph): Message | undefined {
  const actions = [...new Set(lackingRights(started, rights).map(({ action }) => action))];
  if (actions.length === 0) return undefined;
  return message('connect.run_borrowed', { actions });
}
