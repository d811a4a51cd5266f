import { defineWorkflow, type ArgsOf } from '../contract.ts';
import type { Iteration } from '../iterations.ts';

/** Signals of an export. A signal only wakes the workflow; PostgreSQL stores its state. */
export type WorkspaceExportSignals = {
  /** An operator or the sweep retries a workflow that failed repeatedly. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Writes the data of a workspace to a file, and emails a download link to the member who requested it. */
export const workspaceExportWorkflow = defineWorkflow<WorkspaceExportSignals>()({
  type: 'workspaceExport',
  kind: 'workspace-export',
  parts: ['exportId'],
  work: 'standard',
  summary: ({ exportId }) => `Workspace export ${exportId}`,
  cancel: 'Ends this run; maintenance opens another one, which writes the file from its beginning.',
});

/** Arguments of an export. */
export type WorkspaceExportArgs = ArgsOf<typeof workspaceExportWorkflow>;

/** Activities that the workflow calls. */
export interface WorkspaceExportActivities {
  /** Writes and stores the file, unless it is already stored, and sends the email. Takes long and sends heartbeats. */
  makeWorkspaceExport(args: WorkspaceExportArgs): Promise<Extract<Iteration, { kind: 'done' }>>;
}
