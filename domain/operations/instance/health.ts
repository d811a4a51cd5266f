import type { Deps } from '../../platform/kernel/context.ts';
import { toFindings, type InstanceFinding } from './findings.ts';
import { fleetFindings } from './fleet.ts';
import { partFindings } from './parts.ts';
import { settingFindings } from './settings.ts';
import { databaseFindings } from './database.ts';

/**
 * Returns all findings for the installation's operator, including those about the settings of this process. An empty
 * list means that there are none. Takes up to ten seconds if parts of the installation do not respond.
 */
export async function examineInstance(deps: Deps): Promise<InstanceFinding[]> {
  const [stored, parts] = await Promise.all([databaseFindings(deps), partFindings(deps)]);
  const fleet = stored.migrations_dirty ? {} : await fleetFindings(deps);
  return toFindings({ ...settingFindings(deps.config), ...stored, ...parts, ...fleet });
}
