import { across } from '../../db/across.ts';
import type { MailboxRow } from '../../db/models/mailbox.ts';
import type { Row } from '../../db/rows.ts';
import { DAY_MS, MINUTE_MS } from '../../lib/clock.ts';
import type { Deps } from '../platform/kernel/context.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { configuredProvider } from '../sending/senders/mail-providers.ts';
import { openTokens } from '../sending/senders/mailbox-credentials.ts';

type Revocation = Row<'mailbox_revocations'>;

/** Maximum number of attempts per call. Each attempt may take as long as the timeout of a request. */
const PAGE = 20;
const REQUEST_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const FIRST_RETRY_MS = MINUTE_MS;
/**
 * Maximum number of attempts, which extend over about three weeks. After them, only the owner of the account can end
 * the consent at the provider.
 */
const MAX_ATTEMPTS = 30;

/**
 * Stores that the consent of a mailbox, which is about to be removed, must be revoked. Does this only for Google,
 * because Microsoft offers no revocation URL.
 */
export async function recordRevocation(tx: Tx, { id, email, provider }: MailboxRow): Promise<void> {
  if (provider !== 'gmail') return;
  await tx.org.sql(
    `insert into mailbox_revocations (mailbox_id, organization_id, provider, email, sealed, due_at, created_at)
     select mailbox_id, :org, :provider, :email, sealed, :now, :now from mailbox_tokens where organization_id = :org and mailbox_id = :id`,
    { id, provider, email, now: tx.now },
  );
}

/**
 * Revokes due consents of removed mailboxes at their providers. Stores the time of the next attempt before each
 * request. The delay before a retry starts at a minute and doubles up to a day. Does not revoke the consent while any
 * workspace of this installation still has the account connected, because all these connections share one consent.
 * @returns the number of consents that need no further attempt
 */
export async function revokeConsents(
  deps: Pick<Deps, 'db' | 'clock' | 'config' | 'keyring' | 'egress' | 'log'>,
): Promise<number> {
  const now = deps.clock.now();
  const due = await across(deps.db, 'maintenance').sql<Revocation & { connected: boolean }>(
    `with due as (
       select mailbox_id from mailbox_revocations where due_at <= :now order by due_at limit :page for update skip locked)
     update mailbox_revocations r set attempts = r.attempts + 1,
       due_at = cast(:now as timestamptz) + least(:first * power(2, least(r.attempts, 20)), :longest) * interval '1 millisecond'
     from due where r.mailbox_id = due.mailbox_id
     returning r.*, exists (select from mailboxes m join mailbox_tokens t on t.mailbox_id = m.id
       where m.email = r.email and m.provider = r.provider) as connected`,
    { now, page: PAGE, first: FIRST_RETRY_MS, longest: DAY_MS },
  );
  let done = 0;
  for (const row of due) {
    const isOver = row.connected || (await revoke(deps, row));
    if (!isOver && row.attempts < MAX_ATTEMPTS) continue;
    if (!isOver) deps.log.error({ mailboxId: row.mailbox_id }, 'the consent of a removed mailbox could not be ended');
    await across(deps.db, 'maintenance').table('mailbox_revocations').where({ mailbox_id: row.mailbox_id }).delete();
    done += 1;
  }
  return done;
}

/** Requests the revocation of a consent from the provider. Returns true if the consent is revoked. */
async function revoke(
  { config, keyring, egress, log }: Pick<Deps, 'config' | 'keyring' | 'egress' | 'log'>,
  { mailbox_id: mailboxId, provider: name, sealed }: Revocation,
): Promise<boolean> {
  const provider = configuredProvider(config, name);
  if (!provider?.revoke) return false;
  try {
    const { refresh_token: token } = openTokens(keyring, mailboxId, sealed);
    const { status } = await egress.request({
      method: 'POST',
      url: provider.revoke,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams({ token }).toString(),
      timeoutMs: REQUEST_MS,
      maxResponseBytes: MAX_ANSWER_BYTES,
    });
    // Returns true for status 400 too, because it means that the token is no longer valid.
    if (status === 200 || status === 400) return true;
    log.warn({ mailboxId, status }, 'a provider did not end a consent');
  } catch (error) {
    // Tries again later even if the tokens cannot be decrypted, because the missing encryption key may be restored.
    // Does not throw, because other consents must still be revoked.
    log.warn({ mailboxId, err: error }, 'a provider could not be asked to end a consent');
  }
  return false;
}
