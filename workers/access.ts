import pLimit from 'p-limit';
import { systemCtx, type Deps } from '../domain/platform/kernel/context.ts';
import { findExpiringAccess, refreshAhead } from '../domain/sending/control/access-token.ts';
import { startLoop, type Loop } from './loop.ts';

/** Mailboxes asked for in one look, and at once. */
const BATCH = 100;
const AT_ONCE = 10;

/**
 * Renews access tokens of mailboxes that were connected by consent before they run out, so that no email waits for one. Every
 * process may look; of each mailbox one at a time asks the provider.
 * @param everyMs how often it looks
 */
export function startAccess(deps: Deps, everyMs = 30_000): Loop {
  const { db, log, clock } = deps;
  const limit = pLimit(AT_ONCE);
  const look = async () => {
    const due = await findExpiringAccess(db, clock.now(), BATCH);
    await Promise.all(
      due.map(({ mailbox_id: mailboxId, organization_id: organizationId }) =>
        limit(() => refreshAhead(systemCtx(deps, organizationId, `access/${mailboxId}`), mailboxId)),
      ),
    );
    return due.length === BATCH;
  };
  return startLoop(look, everyMs, (error) =>
    log.warn({ err: error }, 'access tokens could not be looked at, will try again'),
  );
}
