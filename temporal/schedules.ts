import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import { maintenanceWorkflow } from '../workflows/maintenance/contract.ts';
import { searchAttributes } from './attributes.ts';

/** Interval of the maintenance sweep, as a Temporal duration. */
const SWEEP_EVERY = '15m';

/** Creates missing Temporal Schedules of the installation, one per task queue. */
export async function ensureSchedules(client: Client, taskQueue: string): Promise<void> {
  try {
    await client.schedule.create({
      scheduleId: `maintenance/${taskQueue}`,
      spec: { intervals: [{ every: SWEEP_EVERY }] },
      action: {
        type: 'startWorkflow',
        workflowType: maintenanceWorkflow.type,
        workflowId: `${maintenanceWorkflow.id({})}/${taskQueue}`,
        taskQueue,
        args: [],
        staticSummary: maintenanceWorkflow.summary({}),
        typedSearchAttributes: searchAttributes({
          ...maintenanceWorkflow.searchAttributes({}),
          Kind: maintenanceWorkflow.kind,
        }),
      },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1m' },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
