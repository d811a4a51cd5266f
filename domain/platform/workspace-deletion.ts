import { AppError } from '../../lib/errors.ts';
import { message } from '../../messages/index.ts';
import type { Actor } from './kernel/actor.ts';
import type { Tx } from './kernel/tx.ts';

/**
 * A workspace whose deletion is scheduled can be read, and the deletion can be cancelled, but it starts and sends
 * nothing. This is checked when a request is authorized, a campaign is activated, an approval is executed, and an email
 * is claimed.
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
 * Variant of {@link assertWorkspaceStays} for work without a caller, or whose caller was authorized earlier. Queries
 * the database, and locks the workspace until the transaction ends, so that its deletion is not scheduled in the
 * meantime.
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
