import { Context } from '@temporalio/activity';
import { advanceDeletion } from '../domain/identity/deletion/advance.ts';
import { deletionWorkflow, type DeletionActivities } from '../workflows/deletion/contract.ts';
import { runOrGiveUp } from './blocking.ts';
import { family } from './family.ts';
import { withHeartbeat } from './heartbeat.ts';

/**
 * Workflow and activities for deletions of workspaces and accounts. A deletion belongs to no workspace, so it has no
 * dead letter: it is retried until it succeeds, and its errors are logged.
 */
export const deletion = family<DeletionActivities>({
  contract: deletionWorkflow,
  queue: 'batch',
  activities: ({ deps }) => ({
    advanceDeletion: ({ deletionId }) =>
      runOrGiveUp(
        deps,
        () => withHeartbeat(() => advanceDeletion(deps, deletionId, Context.current().cancellationSignal)),
        (error) => Promise.reject(error),
      ),
  }),
  mustBeOpen: {
    rows: `select id as "deletionId" from deletions where state in ('scheduled', 'erasing')`,
    keys: ['id'],
  },
});
