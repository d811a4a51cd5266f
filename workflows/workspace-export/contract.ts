import { defineWorkflow, type ArgsOf } from '../contract.ts';
import type { Iteration } from '../iterations.ts';

/** Signals of an export. They are only hints: PostgreSQL stores its state. */
export type WorkspaceExportSignals = {
  /** An operator or the sweep retries a run that kept failing. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Writes the data of a workspace into a file, and emails a link to the member who asked for it. */
export const workspaceExportWorkflow = defineWorkflow<WorkspaceExportSignals>()({
  type: 'workspaceExport',
  kind: 'workspace-export',
  parts: ['exportId'],
  work: 'standard',
  summary: ({ exportId }) => `Workspace export ${exportId}`,
  cancel: 'Ends this run; maintenance opens another one, which writes the file from its beginning.',
});

/** Arguments of an export run. */
export type WorkspaceExportArgs = ArgsOf<typeof workspaceExportWorkflow>;

/** Activities of this family for the workflow. */
export interface WorkspaceExportActivities {
  /** Writes and stores the file, unless that is done, and sends the email. Long; sends heartbeats. */
  makeWorkspaceExport(args: WorkspaceExportArgs): Promise<Extract<Iteration, { kind: 'done' }>>;
}
