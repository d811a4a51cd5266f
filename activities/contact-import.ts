import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { failImport, runImport } from '../domain/audience/imports/run.ts';
import { AppError } from '../lib/errors.ts';
import { contactImportWorkflow, type ContactImportActivities } from '../workflows/contact-import/contract.ts';
import { runOrBlock } from './blocking.ts';
import { contextOf } from './context.ts';
import { family, type ActivityParts } from './family.ts';
import { message, type Message } from '../messages/index.ts';

/** Workflow and activities for contact imports. */
export const contactImport = family<ContactImportActivities>({
  contract: contactImportWorkflow,
  queue: 'batch',
  activities,
  mustBeOpen: { table: 'contact_imports', open: `status in ('queued', 'running')` },
  blocked: { taskType: 'contact_import', isStamped: true },
});

/**
 * An import that is refused, for example because its campaign was deleted, ends. After any other error it is retried
 * from the last checkpoint.
 */
function activities({ deps }: ActivityParts): ContactImportActivities {
  const ctxOf = (organizationId: string) => contextOf(deps, organizationId);
  return {
    async importContacts({ organizationId, importId }) {
      const context = Context.current();
      await runOrBlock(deps, organizationId, async (reached) => {
        try {
          await runImport(ctxOf(organizationId), importId, {
            onProgress(rows) {
              reached(rows);
              context.heartbeat(rows);
            },
            signal: context.cancellationSignal,
          });
        } catch (error) {
          if (error instanceof AppError && error.status < 500 && error.code !== 'conflict') {
            throw ApplicationFailure.nonRetryable(error.message, 'import_refused', error.said);
          }
          throw error;
        }
      });
    },

    abandonImport: ({ organizationId, importId, reason }) =>
      failImport(ctxOf(organizationId), importId, (reason as Message | null) ?? message('imports.not_finished')),
  };
}
