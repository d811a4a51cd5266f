import type { Deps } from '../../platform/kernel/context.ts';
import { toFindings, type InstanceFinding } from './findings.ts';
import { lookAtFleet } from './fleet.ts';
import { lookAtParts } from './reach.ts';
import { lookAtSettings } from './settings.ts';
import { lookAtStored } from './stored.ts';

/**
 * Everything about the installation that its operator should look at, the settings of the process that is asked included; an
 * empty list means that nothing was found. Takes up to ten seconds, when parts do not answer.
 */
export async function examineInstance(deps: Deps): Promise<InstanceFinding[]> {
  const [stored, parts] = await Promise.all([lookAtStored(deps), lookAtParts(deps)]);
  const fleet = stored.migrations_dirty ? {} : await lookAtFleet(deps);
  return toFindings({ ...lookAtSettings(deps.config), ...stored, ...parts, ...fleet });
}
