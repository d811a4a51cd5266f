import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { failImport, runImport } from '../domain/audience/imports/run.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import { AppError } from '../lib/errors.ts';
import type { ContactImportActivities } from '../workflows/contact-import/contract.ts';
import { orBlock } from './blocking.ts';
import { contextOf } from './context.ts';

/** Activities of a contact import. A refusal (the campaign is gone) ends it; any other error is retried from the checkpoint on. */
export function createContactImportActivities(deps: Deps): ContactImportActivities {
  const ctxOf = (organizationId: string) => contextOf(deps, organizationId);
  return {
    async importContacts({ organizationId, importId }) {
      const context = Context.current();
      await orBlock(deps, organizationId, async (reached) => {
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
            throw ApplicationFailure.nonRetryable(error.message, 'import_refused');
          }
          throw error;
        }
      });
    },

    abandonImport: ({ organizationId, importId, reason }) => failImport(ctxOf(organizationId), importId, reason),
  };
}
