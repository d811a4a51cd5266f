import { across } from '../../../db/across.ts';
import type { Db } from '../../../db/connection.ts';
import type { Columns } from '../../../db/rows.ts';
import { EgressError } from '../../../lib/egress/index.ts';
import { newId } from '../../../lib/ids.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lib/clock.ts';
import { organizationOf, type Ctx } from '../../platform/kernel/context.ts';
import { singleStatement, reader, transact } from '../../platform/kernel/transact.ts';
import { configuredProvider, type ConsentProvider } from '../senders/mail-providers.ts';
import { openTokens, sealTokens, type MailboxTokens } from '../senders/mailbox-credentials.ts';
import { requestTokens, TokenRefusal, type TokenAnswer } from '../senders/token-request.ts';
import { holdMailbox } from './mailbox-hold.ts';
import { message, type Message } from '../../../messages/index.ts';

/** Minimum remaining lifetime (ms) of an access token, so that it does not expire before the session begins. */
export const ACCESS_MARGIN_MS = MINUTE_MS;
/** Time (ms) before expiry at which the worker requests a new access token. */
const AHEAD_MS = 10 * MINUTE_MS;
/** Length (ms) of the lease under which one process requests a new token. Exceeds the request's timeout. */
const LEASE_MS = 30_000;
const REQUEST_MS = 15_000;
/** Time (ms) for which other processes wait for the one that requests a token. */
const PATIENCE_MS = 20_000;
const POLL_MS = 200;
const RETRY_MS = 15_000;
const RETRY_CAP_MS = HOUR_MS / 4;

/**
 * Result of the check if a mailbox connected by OAuth consent can sign in now. `refused`: the consent has ended and the
 * mailbox is held. `unavailable`: the provider does not answer; the caller retries later.
 */
export type Access =
  | { kind: 'valid' }
  | { kind: 'refused'; reason: Message }
  | { kind: 'unavailable'; retryInMs: number };

type TokenRow = Columns<'mailbox_tokens', 'sealed' | 'access_expires_at' | 'failures' | 'retry_at'> &
  Columns<'mailboxes', 'provider'> & { lease_held: boolean };

/**
 * Ensures that the stored access token of a mailbox is valid for `marginMs`, and requests a new one otherwise. Only one
 * process requests at a time, under a lease and outside of any transaction. The others wait for the stored result.
 */
export async function ensureAccess(ctx: Ctx, mailboxId: string, marginMs = ACCESS_MARGIN_MS): Promise<Access> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const row = await readToken(ctx, mailboxId);
    if (!row) return { kind: 'refused', reason: message('mailboxes.no_consent') };
    const now = ctx.clock.now().getTime();
    if (row.access_expires_at.getTime() > now + marginMs) return { kind: 'valid' };
    const retryInMs = row.retry_at ? row.retry_at.getTime() - now : 0;
    if (retryInMs > 0) return isFresh(row, now) ? { kind: 'valid' } : { kind: 'unavailable', retryInMs };
    const lease = row.lease_held ? undefined : await acquireLease(ctx, mailboxId, row);
    if (lease) return refresh(ctx, mailboxId, row, lease);
    if (performance.now() > until) return { kind: 'unavailable', retryInMs: POLL_MS };
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/**
 * Finds mailboxes of all organizations whose access token expires soon, at most `limit`. Skips mailboxes that are
 * disabled or whose consent has ended.
 * @returns due mailboxes with their organization
 */
export async function findExpiringAccess(
  db: Db,
  now: Date,
  limit: number,
): Promise<Columns<'mailbox_tokens', 'mailbox_id' | 'organization_id'>[]> {
  return across(db, 'engine').sql(
    `select t.mailbox_id, t.organization_id from mailbox_tokens t join mailboxes m on m.id = t.mailbox_id
     where t.access_expires_at < :soon and (t.retry_at is null or t.retry_at <= :now) and (t.lease_until is null or t.lease_until < now())
       and m.status = 'active' and m.hold_code is distinct from 'consent_ended'
     order by t.access_expires_at limit :limit`,
    { now, soon: new Date(now.getTime() + AHEAD_MS), limit },
  );
}

/** Requests a new access token before the old one expires. */
export async function refreshAccessEarly(ctx: Ctx, mailboxId: string): Promise<Access> {
  return ensureAccess(ctx, mailboxId, AHEAD_MS);
}

/**
 * Marks an access token as expired after a server refused it, so that the next use requests a new one. A token less
 * than two minutes old is kept, because the refusal then has another cause.
 * @returns true if the next use will request a new token
 */
export async function expireAccess(ctx: Ctx, mailboxId: string): Promise<boolean> {
  const now = ctx.clock.now();
  const rows = await singleStatement(ctx).sql(
    `update mailbox_tokens set access_expires_at = :now, retry_at = null
     where organization_id = :org and mailbox_id = :mailbox and refreshed_at < :old returning mailbox_id`,
    { mailbox: mailboxId, now, old: new Date(now.getTime() - 2 * MINUTE_MS) },
  );
  return rows.length > 0;
}

async function readToken(ctx: Ctx, mailboxId: string): Promise<TokenRow | undefined> {
  const [row] = await reader(ctx).sql<TokenRow>(
    `select t.sealed, t.access_expires_at, t.failures, t.retry_at, coalesce(t.lease_until > now(), false) as lease_held, m.provider
     from mailbox_tokens t join mailboxes m on m.id = t.mailbox_id where t.organization_id = :org and t.mailbox_id = :mailbox`,
    { mailbox: mailboxId },
  );
  return row;
}

function isFresh(row: TokenRow, now: number): boolean {
  return row.access_expires_at.getTime() > now + ACCESS_MARGIN_MS;
}

/**
 * Takes the lease if the stored token is unchanged since it was read. Returns the lease's id, or undefined if the token
 * has changed or another process has the lease.
 */
async function acquireLease(ctx: Ctx, mailboxId: string, { sealed }: TokenRow): Promise<string | undefined> {
  const lease = newId();
  const rows = await singleStatement(ctx).sql(
    `update mailbox_tokens set lease_token = :lease, lease_until = now() + :ms * interval '1 millisecond'
     where organization_id = :org and mailbox_id = :mailbox and sealed = :sealed and (lease_until is null or lease_until < now())
     returning mailbox_id`,
    { mailbox: mailboxId, lease, ms: LEASE_MS, sealed },
  );
  return rows.length > 0 ? lease : undefined;
}

async function refresh(ctx: Ctx, mailboxId: string, row: TokenRow, lease: string): Promise<Access> {
  const provider = configuredProvider(ctx.config, row.provider as ConsentProvider);
  try {
    if (!provider) throw new TokenRefusal('not_configured', 'This installation has no OAuth client at the provider');
    const stored = openTokens(ctx.keyring, mailboxId, row.sealed);
    const answer = await requestTokens(
      ctx.egress,
      provider,
      { grant_type: 'refresh_token', refresh_token: stored.refresh_token },
      REQUEST_MS,
    );
    await storeTokens(ctx, mailboxId, lease, stored, answer);
    return { kind: 'valid' };
  } catch (error) {
    if (error instanceof TokenRefusal && error.code === 'invalid_grant')
      return end(ctx, mailboxId, lease, error.message);
    ctx.log.warn(
      {
        mailboxId,
        kind: error instanceof TokenRefusal ? error.code : error instanceof EgressError ? error.kind : 'other',
      },
      'an access token could not be renewed now',
    );
    const retryInMs = Math.min(RETRY_MS * 2 ** Math.min(row.failures, 10), RETRY_CAP_MS);
    const now = ctx.clock.now();
    await singleStatement(ctx).sql(
      `update mailbox_tokens set lease_token = null, lease_until = null, failures = failures + 1, retry_at = :retry
       where organization_id = :org and mailbox_id = :mailbox and lease_token = :lease`,
      { mailbox: mailboxId, lease, retry: new Date(now.getTime() + retryInMs) },
    );
    return isFresh(row, now.getTime()) ? { kind: 'valid' } : { kind: 'unavailable', retryInMs };
  }
}

/** Stores new tokens of the provider. Keeps the old refresh token if the provider returned no new one. */
async function storeTokens(
  ctx: Ctx,
  mailboxId: string,
  lease: string,
  stored: MailboxTokens,
  answer: TokenAnswer,
): Promise<void> {
  const now = ctx.clock.now();
  const tokens = { access_token: answer.accessToken, refresh_token: answer.refreshToken ?? stored.refresh_token };
  await singleStatement(ctx).sql(
    `update mailbox_tokens set sealed = :sealed, access_expires_at = :expires, refreshed_at = :now,
       lease_token = null, lease_until = null, failures = 0, retry_at = null
     where organization_id = :org and mailbox_id = :mailbox and lease_token = :lease`,
    {
      mailbox: mailboxId,
      lease,
      now,
      sealed: sealTokens(ctx.keyring, mailboxId, tokens),
      expires: new Date(now.getTime() + answer.expiresInMs),
    },
  );
}

/** Holds the mailbox until a person consents again, because the provider has ended the consent (`invalid_grant`). */
async function end(ctx: Ctx, mailboxId: string, lease: string, said: string): Promise<Access> {
  const reason = message('mailboxes.consent_ended', { reason: said });
  const ended = await transact(ctx, async (tx) => {
    // If a person consented again in the meantime, the row has other tokens and no lease, so nothing is updated.
    const rows = await tx.org.sql(
      `update mailbox_tokens set lease_token = null, lease_until = null
       where organization_id = :org and mailbox_id = :mailbox and lease_token = :lease returning mailbox_id`,
      { mailbox: mailboxId, lease },
    );
    if (rows.length > 0) await holdMailbox(tx, mailboxId, { code: 'consent_ended', reason, until: null });
    return rows.length > 0;
  });
  if (ended) return { kind: 'refused', reason };
  ctx.log.info(
    { mailboxId, organizationId: organizationOf(ctx) },
    'a consent was renewed while its old token was refused',
  );
  return { kind: 'unavailable', retryInMs: POLL_MS };
}
