import pLimit from 'p-limit';
import { systemCtx, type Deps } from '../domain/platform/kernel/context.ts';
import { findExpiringAccess, refreshAccessEarly } from '../domain/sending/control/access-token.ts';
import { isAdrift } from '../lib/clock.ts';
import { startLoop, type Loop } from '../lib/loop.ts';

/** Maximum number of mailboxes per query, and of concurrent token requests. */
const BATCH = 100;
const AT_ONCE = 10;

/**
 * Renews access tokens of mailboxes connected by consent before they expire, so that no email has to wait for a token.
 * Several processes may run this loop. Only one of them at a time requests a token for a mailbox.
 * @param everyMs interval of the search for expiring tokens
 */
export function startAccess(deps: Deps, everyMs = 30_000): Loop {
  const { db, log, clock } = deps;
  const limit = pLimit(AT_ONCE);
  const iterate = async (progress: () => void) => {
    const due = await findExpiringAccess(db, clock.now(), BATCH);
    await Promise.all(
      due.map(({ mailbox_id: mailboxId, organization_id: organizationId }) =>
        limit(() =>
          refreshAccessEarly(systemCtx(deps, organizationId, `access/${mailboxId}`), mailboxId).finally(progress),
        ),
      ),
    );
    return due.length === BATCH ? {} : { mostMs: everyMs };
  };
  const onError = (error: unknown) => log.warn({ err: error }, 'access tokens could not be looked at, will try again');
  return startLoop({ name: 'access tokens', iterate, isHeld: () => isAdrift(clock), failedMs: everyMs, onError });
}
