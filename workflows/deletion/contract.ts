import { defineInstallationWorkflow, type ArgsOf } from '../contract.ts';
import type { Iteration } from '../iterations.ts';

/** Signals of a deletion. They are only hints: PostgreSQL stores whether it was called back. */
export type DeletionSignals = {
  /** A person called the deletion back. */
  changed: { cause: 'called_back' };
};

/**
 * The deletion of a workspace or an account. A run of the installation, so that it is not among the runs of the
 * workspace that it ends.
 */
export const deletionWorkflow = defineInstallationWorkflow<DeletionSignals>()({
  type: 'deletion',
  kind: 'deletion',
  parts: ['deletionId'],
  summary: ({ deletionId }) => `Deletion ${deletionId}`,
  cancel: 'Ends this run; maintenance opens another one. An owner calls the deletion back in the settings.',
});

/** Arguments of a deletion. */
export type DeletionArgs = ArgsOf<typeof deletionWorkflow>;

/** Result of one iteration. */
export type DeletionTurn = Iteration;

/** Activities of this family for the workflow. */
export interface DeletionActivities {
  /** Sends due mails, waits for the date, or erases some pages. `more` requests another iteration. */
  advanceDeletion(args: DeletionArgs): Promise<DeletionTurn>;
}
