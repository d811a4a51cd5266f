import { defineInstallationWorkflow, type ArgsOf } from '../contract.ts';
import type { Iteration } from '../iterations.ts';

/** Signals of a deletion. A signal only wakes the workflow; PostgreSQL stores if the deletion was cancelled. */
export type DeletionSignals = {
  /** A person cancelled the deletion. */
  changed: { cause: 'called_back' };
};

/**
 * Deletion of a workspace or an account. The workflow belongs to the installation, because it ends the workflows of the
 * workspace.
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

/** Activities that the workflow calls. */
export interface DeletionActivities {
  /**
   * Sends due emails, returns a wait for the deletion date, or erases some pages of rows. `more` requests another
   * iteration.
   */
  advanceDeletion(args: DeletionArgs): Promise<DeletionTurn>;
}
