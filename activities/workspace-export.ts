import { Context } from '@temporalio/activity';
import { makeExport } from '../domain/identity/workspace-exports/make.ts';
import { workspaceExportWorkflow, type WorkspaceExportActivities } from '../workflows/workspace-export/contract.ts';
import { HOUR_MS, MINUTE_MS } from '../lib/clock.ts';
import { message } from '../messages/index.ts';
import { failAsBlocked } from './blocking.ts';
import { callVerb } from './call-verb.ts';
import { family } from './family.ts';

/** Maximum duration (ms) of an attempt. While its database snapshot is open, PostgreSQL cannot remove deleted rows. */
const MOST_MS = HOUR_MS;

/** Workflow and activities for exports of workspaces. */
export const workspaceExport = family<WorkspaceExportActivities>({
  contract: workspaceExportWorkflow,
  queue: 'batch',
  activities: ({ deps }) => ({
    makeWorkspaceExport: (args) =>
      callVerb(deps, args, (ctx) => {
        const late = AbortSignal.timeout(MOST_MS);
        const signal = AbortSignal.any([Context.current().cancellationSignal, late]);
        return makeExport(ctx, args.exportId, signal).catch((error: unknown) => {
          if (!late.aborted) throw error;
          const why = message('workspace_export.too_long', { minutes: String(MOST_MS / MINUTE_MS) });
          return failAsBlocked(deps, args.organizationId, error, why);
        });
      }),
  }),
  mustBeOpen: { table: 'workspace_exports', open: `(status in ('queued', 'running') or mail in ('due', 'sending'))` },
  blocked: { taskType: 'workspace_export' },
});
