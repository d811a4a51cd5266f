import type { ImapFlow } from 'imapflow';
import type { Ctx, Deps } from '../../domain/kernel/context.ts';
import { systemCtx } from '../../domain/kernel/context.ts';
import { failLease, releaseLease, type SyncLease } from '../../domain/mailboxes/leases.ts';
import { signedIn, signInRefused, watchedMailbox } from '../../domain/mailboxes/sync-state.ts';
import { imapTargetOf } from '../../domain/records/mailbox-credentials.ts';
import { findFolder, imapError, ImapError, openImap } from '../../lib/imap/index.ts';
import { syncFolder, type FolderParts } from './folder.ts';

export interface WatchParts extends Pick<FolderParts, 'broken' | 'limit' | 'onMessage'> {
  deps: Deps;
  workerId: string;
  /** How often (ms) a mailbox without IDLE is looked at. */
  pollMs: number;
  /** First wait (ms) after a failure; later ones double. */
  retryMs: number;
}

/** Even with IDLE a mailbox is looked at this often (ms): servers forget, and the Junk folder sends no news. */
const IDLE_LOOK_MS = 5 * 60_000;
const SOCKET_SLACK_MS = 60_000;
const RETRY_CAP_MS = 15 * 60_000;
/** How long (ms) a refused sign-in rests; new credentials end it at once. Providers lock accounts that try too often. */
const AUTH_HOLD_MS = 6 * 3600_000;

/**
 * Watches one mailbox until it is told to stop or the connection fails: reads what is new, waits for news (IDLE, or a
 * poll), reads again. Ends by giving the lease back. Never throws.
 */
export async function watchMailbox(parts: WatchParts, lease: SyncLease, signal: AbortSignal): Promise<void> {
  const { deps, workerId } = parts;
  const ctx = systemCtx(deps, lease.organizationId, `sync/${lease.mailboxId}`);
  try {
    await watch(parts, ctx, lease, signal);
    await releaseLease(deps.db, workerId, lease.mailboxId);
  } catch (error) {
    await giveUp(parts, ctx, lease, error).catch((failure: unknown) => {
      // The lease runs out by itself.
      ctx.log.warn({ err: failure, mailboxId: lease.mailboxId }, 'sync: a failure could not be noted');
    });
  }
}

async function watch(parts: WatchParts, ctx: Ctx, lease: SyncLease, signal: AbortSignal): Promise<void> {
  const mailbox = await watchedMailbox(ctx, lease.mailboxId);
  const target = mailbox && imapTargetOf(ctx.keyring, mailbox);
  if (!target) return;
  const lookMs = Math.max(parts.pollMs, IDLE_LOOK_MS);
  const client = await openImap(target, {
    allowPrivate: ctx.config.ALLOW_PRIVATE_MAIL_HOSTS,
    socketTimeoutMs: lookMs + SOCKET_SLACK_MS,
  });
  try {
    await signedIn(ctx, lease.mailboxId);
    const news = new News(client, signal);
    const junk = await findFolder(client, '\\Junk');
    const canIdle = client.capabilities.has('IDLE');
    const folders: FolderParts = {
      ctx,
      client,
      mailbox: { id: lease.mailboxId, email: lease.email },
      broken: parts.broken,
      limit: parts.limit,
      onMessage: parts.onMessage,
      signal,
    };
    let byTimer = true;
    while (!signal.aborted) {
      news.forget();
      if (junk && byTimer) await syncFolder(folders, junk);
      await syncFolder(folders, 'INBOX');
      byTimer = await news.wait(canIdle ? lookMs : parts.pollMs, canIdle);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    client.close();
  }
}

/** Waits for new mail in the open folder. */
class News {
  readonly #client: ImapFlow;
  readonly #signal: AbortSignal;
  #arrived = false;
  #wake: () => void = () => {};

  constructor(client: ImapFlow, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
    client.on('exists', () => {
      this.#arrived = true;
      this.#wake();
    });
    client.on('close', () => this.#wake());
    signal.addEventListener('abort', () => this.#wake());
  }

  /** Mail that comes from now on is news; called before a look, so that none falls between look and wait. */
  forget(): void {
    this.#arrived = false;
  }

  /** @returns true when the time passed without news */
  async wait(ms: number, canIdle: boolean): Promise<boolean> {
    if (this.#arrived || this.#signal.aborted) return false;
    const idling = canIdle ? this.#client.idle().catch(() => false) : undefined;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#arrived || this.#signal.aborted || !this.#client.usable) this.#wake();
    });
    if (this.#signal.aborted) return false;
    // Ends IDLE, and tells a server without it that we are still there.
    await this.#client.noop();
    await idling;
    if (!this.#client.usable) throw new ImapError('unreachable', 'session', 'The connection was lost');
    return !this.#arrived;
  }
}

async function giveUp(parts: WatchParts, ctx: Ctx, lease: SyncLease, error: unknown): Promise<void> {
  const { deps, workerId, retryMs } = parts;
  const known = imapError(error);
  ctx.log.warn({ err: error, mailboxId: lease.mailboxId, kind: known.kind }, 'sync: a mailbox cannot be read now');
  if (known.kind === 'auth') {
    await signInRefused(ctx, lease.mailboxId, known.message, AUTH_HOLD_MS);
    await failLease(deps.db, workerId, lease.mailboxId, known.message, () => AUTH_HOLD_MS);
    return;
  }
  const backoff = (failures: number) =>
    Math.min(retryMs * 2 ** Math.min(failures - 1, 20), RETRY_CAP_MS) * (0.75 + Math.random() / 2);
  await failLease(deps.db, workerId, lease.mailboxId, known.message, backoff);
}
