import { Context } from '@temporalio/activity';
import type { Deps } from '../domain/kernel/context.ts';
import { sweepExpired } from '../domain/system/sweep.ts';
import { rescueBatches } from '../domain/delivery/rescue.ts';
import type { MaintenanceActivities } from '../workflows/maintenance/contract.ts';

/** Activities of the maintenance schedule. */
export function createMaintenanceActivities(deps: Deps): MaintenanceActivities {
  return {
    async sweepExpired() {
      const rescued = await rescueBatches(deps);
      if (rescued > 0) deps.log.warn({ rescued }, 'webhook batches without a run were started again');
      return { removed: await sweepExpired(deps, (removed) => Context.current().heartbeat(removed)) };
    },
  };
}
