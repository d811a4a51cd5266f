import type { ImapFlow } from 'imapflow';
import { expireAccess } from '../../domain/sending/control/access-token.ts';
import { AUTH_HOLD_MS } from '../../domain/sending/control/mailbox-hold.ts';
import type { Ctx, Deps } from '../../domain/platform/kernel/context.ts';
import { systemCtx } from '../../domain/platform/kernel/context.ts';
import { failLease, releaseLease, type SyncLease } from '../../domain/mailboxes/leases.ts';
import { watchedMailbox } from '../../domain/mailboxes/read.ts';
import {
  recordRefusedSignIn,
  recordSignIn,
  recordUnsupported,
  syncFailures,
} from '../../domain/mailboxes/sync-state.ts';
import { readSignIn } from '../../domain/mailboxes/sign-in.ts';
import {
  withSilenceLimit,
  findFolder,
  imapError,
  ImapError,
  isUnanswered,
  openImap,
  type ImapTarget,
} from '../../lib/imap/index.ts';
import type { TargetLimits } from '../../lib/target-limits.ts';
import { syncFolder, type FolderParts } from './folder.ts';
import { message, type Message } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';

export interface WatchParts extends Pick<FolderParts, 'broken' | 'reads' | 'record' | 'onMessage'> {
  deps: Deps;
  workerId: string;
  /** Interval (ms) at which a mailbox without IDLE is read. */
  pollMs: number;
  /** First delay (ms) before the retry after a failure. The delay doubles with every further failure. */
  retryMs: number;
  /**
   * Limits the servers dialled at once per IMAP host. A host that hangs is not dialled for a while, for any of its
   * mailboxes.
   */
  dials: TargetLimits;
  /** Timeout (ms) each for the TCP connection, the TLS handshake and the greeting. */
  connectMs: number;
  /** Time (ms) after which the connection is closed if the server sends no data during a command. */
  commandMs: number;
}

/**
 * Thrown when the provider has ended the consent. The mailbox is held and rarely checked until a person consents again.
 */
class ConsentEnded extends Error {
  readonly said: Message;

  constructor(said: Message) {
    super(render(said));
    this.said = said;
  }
}

/**
 * Interval (ms) of reads even with IDLE, because servers may omit notifications. A mailbox with a Junk folder, for
 * which IDLE reports nothing, is read as often as one without IDLE.
 */
const IDLE_CHECK_MS = 5 * 60_000;
const SOCKET_SLACK_MS = 60_000;
/** Maximum time (ms) for which a stopped watcher waits for its running commands. */
const FAREWELL_MS = 2_000;
const RETRY_CAP_MS = 15 * 60_000;
const DOUBTFUL_WAIT_MS = 60_000;
const DOUBTFUL_TRIES = 6;

/**
 * Watches one mailbox until `signal` is aborted or the connection fails: reads new mail, waits for more (IDLE or
 * polling), reads again. If `isVisit` is true, ends when all mail is read. Releases the lease at the end. Never throws.
 */
export async function watchMailbox(
  parts: WatchParts,
  lease: SyncLease,
  isVisit: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { deps, workerId } = parts;
  const ctx = systemCtx(deps, lease.organizationId, `sync/${lease.mailboxId}`);
  try {
    await watch(parts, ctx, lease, isVisit, signal);
    await releaseLease(deps.db, workerId, lease.mailboxId);
  } catch (error) {
    await recordSyncFailure(parts, ctx, lease, error).catch((failure: unknown) => {
      // A lease that could not be released expires.
      ctx.log.warn({ err: failure, mailboxId: lease.mailboxId }, 'sync: a failure could not be noted');
    });
  }
}

async function watch(
  parts: WatchParts,
  ctx: Ctx,
  lease: SyncLease,
  isVisit: boolean,
  signal: AbortSignal,
): Promise<void> {
  const mailbox = await watchedMailbox(ctx, lease.mailboxId);
  if (!mailbox) return;
  const signIn = await readSignIn(ctx, mailbox);
  if (signIn.kind === 'refused') throw new ConsentEnded(signIn.reason);
  if (signIn.kind === 'unavailable') throw new ImapError('unreachable', 'auth', message('mailboxes.no_access_token'));
  const target = signIn.imap;
  if (!target) return;
  const lookMs = Math.max(parts.pollMs, IDLE_CHECK_MS);
  const host = `${target.host}:${target.port}`;
  const client = await dial(parts, lease, host, target, lookMs + SOCKET_SLACK_MS, signal);
  if (!client) return;
  if (signal.aborted) return client.close();
  let farewell: NodeJS.Timeout | undefined;
  const hurry = () => {
    farewell = setTimeout(() => client.close(), FAREWELL_MS);
  };
  signal.addEventListener('abort', hurry);
  const ask = <T>(work: () => Promise<T>) => withSilenceLimit(client, parts.commandMs, work);
  try {
    await recordSignIn(ctx, lease.mailboxId);
    const news = new News(client, signal, ask);
    let junk = await ask(() => findFolder(client, '\\Junk'));
    const canIdle = client.capabilities.has('IDLE');
    const folders: FolderParts = {
      ctx,
      client,
      target,
      lacks: new Set(),
      mailbox: { id: lease.mailboxId, email: lease.email },
      broken: parts.broken,
      reads: parts.reads,
      host,
      record: parts.record,
      ask,
      onMessage: parts.onMessage,
      tend: [],
      signal,
    };
    while (!signal.aborted) {
      news.forget();
      const inJunk = junk ? await syncJunk(folders, junk) : 'read';
      if (inJunk === 'closed') junk = undefined;
      const more = (await syncFolder(folders, 'INBOX')) || inJunk === 'more';
      if (more) continue;
      if (isVisit) return;
      await news.wait(canIdle && !junk ? lookMs : parts.pollMs, canIdle);
    }
  } catch (error) {
    // Converts the original error, because the server's text in it may contain the password.
    if (!signal.aborted) throw (error as { responseText?: string }).responseText ? imapError(error, target) : error;
  } finally {
    signal.removeEventListener('abort', hurry);
    clearTimeout(farewell);
    client.close();
  }
}

/** Reads the Junk folder. A folder that the server does not open (`closed`) must not keep the INBOX from being read. */
async function syncJunk(folders: FolderParts, junk: string): Promise<'read' | 'more' | 'closed'> {
  try {
    return (await syncFolder(folders, junk)) ? 'more' : 'read';
  } catch (error) {
    if (!folders.client.usable || !imapError(error).needs) throw error;
    folders.ctx.log.warn({ err: error, mailboxId: folders.mailbox.id }, 'sync: a Junk folder cannot be read');
    return 'closed';
  }
}

/** Signs in once the limits allow it. Returns undefined if `signal` is aborted before that. */
async function dial(
  parts: WatchParts,
  lease: SyncLease,
  host: string,
  target: ImapTarget,
  socketTimeoutMs: number,
  signal: AbortSignal,
): Promise<ImapFlow | undefined> {
  const permit = await parts.dials.wait(host, lease.organizationId, signal);
  if (!permit) return undefined;
  try {
    const client = await openImap(target, {
      allowPrivate: parts.deps.config.ALLOW_PRIVATE_MAIL_HOSTS,
      connectTimeoutMs: parts.connectMs,
      socketTimeoutMs,
      signal,
    });
    permit.release('answered');
    return client;
  } catch (error) {
    permit.release(signal.aborted ? 'unused' : isUnanswered(error) ? 'hung' : 'answered');
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** Waits for new mail in the open folder. */
class News {
  readonly #ask: <T>(work: () => Promise<T>) => Promise<T>;
  readonly #client: ImapFlow;
  readonly #signal: AbortSignal;
  #arrived = false;
  #wake: () => void = () => {};

  constructor(client: ImapFlow, signal: AbortSignal, ask: <T>(work: () => Promise<T>) => Promise<T>) {
    this.#ask = ask;
    this.#client = client;
    this.#signal = signal;
    client.on('exists', () => {
      this.#arrived = true;
      this.#wake();
    });
    client.on('close', () => this.#wake());
    signal.addEventListener('abort', () => this.#wake());
  }

  /**
   * Clears earlier notifications. Call it before each reading, so that mail which arrives between the reading and the
   * wait ends the wait.
   */
  forget(): void {
    this.#arrived = false;
  }

  /** Waits for new mail, for at most `ms` milliseconds. */
  async wait(ms: number, canIdle: boolean): Promise<void> {
    if (this.#arrived || this.#signal.aborted) return;
    const idling = canIdle ? this.#client.idle().catch(() => false) : undefined;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#arrived || this.#signal.aborted || !this.#client.usable) this.#wake();
    });
    if (this.#signal.aborted) return;
    // This command ends IDLE. Without IDLE, it keeps the connection open.
    await this.#ask(async () => {
      await this.#client.noop();
      await idling;
    });
    if (!this.#client.usable) throw new ImapError('unreachable', 'session', message('mailboxes.unreachable_session'));
  }
}

/**
 * Returns the pause (ms) after consecutive sign-in refusals that may be temporary. The pause starts at one minute and
 * doubles. After about an hour it is as long as after other refusals.
 */
function doubtfulWaitMs(failures: number): number {
  return failures > DOUBTFUL_TRIES ? AUTH_HOLD_MS : DOUBTFUL_WAIT_MS * 2 ** (failures - 1);
}

async function recordSyncFailure(parts: WatchParts, ctx: Ctx, lease: SyncLease, error: unknown): Promise<void> {
  const { deps, workerId, retryMs } = parts;
  if (error instanceof ConsentEnded)
    return failLease(deps.db, workerId, lease.mailboxId, error.said, () => AUTH_HOLD_MS);
  const known = imapError(error);
  ctx.log.warn({ err: error, mailboxId: lease.mailboxId, kind: known.kind }, 'sync: a mailbox cannot be read now');
  if (known.kind === 'auth' && !(await expireAccess(ctx, lease.mailboxId))) {
    const waitOf = (failures: number): number => (known.doubtful ? doubtfulWaitMs(failures) : AUTH_HOLD_MS);
    const holdMs = waitOf((await syncFailures(ctx, lease.mailboxId)) + 1);
    await recordRefusedSignIn(ctx, lease.mailboxId, known.said, holdMs);
    await failLease(deps.db, workerId, lease.mailboxId, known.said, waitOf);
    return;
  }
  if (known.needs === 'uidvalidity') await recordUnsupported(ctx, lease.mailboxId, known.said);
  const backoff = (failures: number) =>
    Math.min(retryMs * 2 ** Math.min(failures - 1, 20), RETRY_CAP_MS) * (0.75 + Math.random() / 2);
  await failLease(deps.db, workerId, lease.mailboxId, known.said, backoff);
}
