import { Context } from '@temporalio/activity';
import type { Deps } from '../domain/kernel/context.ts';
import { sweepExpired } from '../domain/system/sweep.ts';
import type { MaintenanceActivities } from '../workflows/maintenance/contract.ts';

/** Activities of the maintenance schedule. */
export function createMaintenanceActivities(deps: Deps): MaintenanceActivities {
  return {
    sweepExpired: async () => ({ removed: await sweepExpired(deps, (removed) => Context.current().heartbeat(removed)) }),
  };
}
