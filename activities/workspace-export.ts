import { Context } from '@temporalio/activity';
import { makeExport } from '../domain/identity/workspace-exports/make.ts';
import { workspaceExportWorkflow, type WorkspaceExportActivities } from '../workflows/workspace-export/contract.ts';
import { callVerb } from './call-verb.ts';
import { family } from './family.ts';

/** Durable family of exports of a workspace. */
export const workspaceExport = family<WorkspaceExportActivities>({
  contract: workspaceExportWorkflow,
  queue: 'batch',
  activities: ({ deps }) => ({
    makeWorkspaceExport: (args) =>
      callVerb(deps, args, (ctx) => makeExport(ctx, args.exportId, Context.current().cancellationSignal)),
  }),
  mustBeOpen: { table: 'workspace_exports', open: `(status in ('queued', 'running') or mail in ('due', 'sending'))` },
  blocked: { taskType: 'workspace_export' },
});
