import { Context } from '@temporalio/activity';
import { advanceDeletion } from '../domain/identity/deletion/advance.ts';
import { deletionWorkflow, type DeletionActivities } from '../workflows/deletion/contract.ts';
import { runOrGiveUp } from './blocking.ts';
import { family } from './family.ts';
import { withHeartbeat } from './heartbeat.ts';

/**
 * Durable family of deletions. A deletion belongs to no workspace, so it has no dead letter: it is tried again until it
 * succeeds, and the log has its errors.
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
