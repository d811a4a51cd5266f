import pLimit from 'p-limit';
import type { Deps } from '../domain/kernel/context.ts';
import { systemCtx } from '../domain/kernel/context.ts';
import { findExpiringAccess, refreshAhead } from '../domain/engine/control/access-token.ts';
import { createWakeable } from '../lib/wakeable.ts';

/** Mailboxes asked for in one look, and at once. */
const BATCH = 100;
const AT_ONCE = 10;

/**
 * Renews access tokens of mailboxes that were connected by consent before they run out, so that no email waits for one. Every
 * process may look; of each mailbox one at a time asks the provider.
 * @param everyMs how often it looks
 */
export function startAccess(deps: Deps, everyMs = 30_000): { stop(): Promise<void> } {
  const { db, log, clock } = deps;
  const wakeable = createWakeable();
  const limit = pLimit(AT_ONCE);
  let running = true;
  const look = async () => {
    const due = await findExpiringAccess(db, clock.now(), BATCH);
    await Promise.all(
      due.map(({ mailbox_id: mailboxId, organization_id: organizationId }) =>
        limit(() => refreshAhead(systemCtx(deps, organizationId, `access/${mailboxId}`), mailboxId)),
      ),
    );
    return due.length === BATCH;
  };
  const loop = (async () => {
    while (running) {
      const more = await look().catch((error: unknown) => {
        log.warn({ err: error }, 'access tokens could not be looked at, will try again');
        return false;
      });
      if (running && !more) await wakeable.pause(everyMs);
    }
  })();
  return {
    async stop() {
      running = false;
      wakeable.wake();
      await loop;
    },
  };
}
