import type { Deps } from '../../platform/kernel/context.ts';
import { toFindings, type InstanceFinding } from './findings.ts';
import { lookAtFleet } from './fleet.ts';
import { lookAtParts } from './reach.ts';
import { lookAtSettings } from './settings.ts';
import { lookAtStored } from './stored.ts';

/**
 * Returns all findings for the installation's operator, including the settings of this process. An empty list means no
 * findings. Takes up to ten seconds when parts do not respond.
 */
export async function examineInstance(deps: Deps): Promise<InstanceFinding[]> {
  const [stored, parts] = await Promise.all([lookAtStored(deps), lookAtParts(deps)]);
  const fleet = stored.migrations_dirty ? {} : await lookAtFleet(deps);
  return toFindings({ ...lookAtSettings(deps.config), ...stored, ...parts, ...fleet });
}
