import { AppError } from '../../lib/errors.ts';
import { message } from '../../messages/index.ts';
import type { Actor } from './kernel/actor.ts';
import type { Tx } from './kernel/tx.ts';

/*
 * The state of a workspace whose deletion is scheduled: it can be read and kept, and starts and sends nothing. Checked
 * where callers are admitted, where a campaign is activated, where an approval is executed, and where an email is
 * claimed.
 */

/** SQL condition: the deletion of the organization `:org` is scheduled. */
export const DELETION_SCHEDULED =
  'exists (select from organizations where id = :org and deletion_scheduled_for is not null)';

/**
 * Refuses work for a workspace whose deletion is scheduled.
 * @throws AppError workspace_deletion_scheduled
 */
export function assertWorkspaceStays({ workspaceEndsAt: at }: Pick<Actor, 'workspaceEndsAt'>): void {
  if (at) throw endingError(at);
}

/**
 * Variant of {@link assertWorkspaceStays} for work whose caller was admitted earlier, or has none. Asks the database, and
 * locks the workspace against the request of its deletion, until the transaction ends.
 * @throws AppError workspace_deletion_scheduled
 */
export async function assertOwnWorkspaceStays(tx: Tx): Promise<void> {
  const [row] = await tx.org.sql<{ at: Date | null }>(
    'select deletion_scheduled_for as at from organizations where id = :org for key share',
  );
  if (row?.at) throw endingError(row.at);
}

function endingError(at: Date): AppError {
  return new AppError('workspace_deletion_scheduled', message('workspace.ends', { at: at.toISOString() }), {
    fix: message('workspace.ends.fix'),
  });
}
