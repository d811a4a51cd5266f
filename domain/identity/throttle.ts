import { across } from '../../db/across.ts';
import type { Columns } from '../../db/rows.ts';
import { MINUTE_MS } from '../../lib/clock.ts';
import type { Deps } from '../kernel/context.ts';
import { sha256 } from '../../lib/crypto.ts';
import { tooManyRequests } from '../../lib/errors.ts';

/** What is throttled, how often (per window) and over which window (ms). */
const RULES = {
  /** Passwords tried for one account from one source. */
  sign_in: { limit: 10, windowMs: 15 * MINUTE_MS, what: 'sign-in attempts for this account' },
  /** Passwords tried from one source, for any account: lists of stolen passwords. */
  sign_in_source: { limit: 100, windowMs: 15 * MINUTE_MS, what: 'sign-in attempts from this address' },
  /** Sign-ups and resets asked for from one source. */
  mail_source: { limit: 30, windowMs: 60 * MINUTE_MS, what: 'requests for mail from this address' },
  /** System mail to one address, so that others cannot fill its inbox. */
  mail: { limit: 8, windowMs: 60 * MINUTE_MS, what: 'mails to this address' },
  /** Sign-in codes to one address; counted apart from the other mail, which anyone can ask for, so that others cannot lock the person out. */
  sign_in_mail: { limit: 20, windowMs: 60 * MINUTE_MS, what: 'sign-in codes' },
  /** Invitations of one organization. */
  invitations: { limit: 200, windowMs: 60 * MINUTE_MS, what: 'invitations of this workspace' },
  /** Organizations founded by one person. */
  organizations: { limit: 20, windowMs: 24 * 60 * MINUTE_MS, what: 'new workspaces' },
  /** Current passwords tried when changing it. */
  password: { limit: 10, windowMs: 15 * MINUTE_MS, what: 'password attempts' },
  /** OAuth clients that register themselves, from one source; the limit is a setting. */
  client_registrations: { limit: 20, windowMs: 60 * MINUTE_MS, what: 'registrations from this address' },
} as const;

export type ThrottleRule = keyof typeof RULES;

function keyOf(rule: ThrottleRule, subject: string): string {
  return sha256(`${rule}/${subject}`);
}

/**
 * Counts one attempt. It is counted in PostgreSQL and at once, outside any transaction of the caller: every process sees
 * it, a restart keeps it, and a failing attempt cannot roll it back.
 * @param limit instead of the rule's own; 0 is unlimited
 * @throws AppError rate_limit_exceeded (429) with Retry-After
 */
export async function throttle(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  rule: ThrottleRule,
  subject: string,
  limit: number = RULES[rule].limit,
): Promise<void> {
  if (limit === 0) return;
  const { windowMs, what } = RULES[rule];
  const now = clock.now();
  const [row] = await across(db, 'credential').sql<Columns<'auth_throttles', 'attempts' | 'window_ends'>>(
    `insert into auth_throttles as t (key, attempts, window_ends) values (:key, 1, :ends)
     on conflict (key) do update set
       attempts = case when t.window_ends <= :now then 1 else t.attempts + 1 end,
       window_ends = case when t.window_ends <= :now then excluded.window_ends else t.window_ends end
     returning attempts, window_ends`,
    { key: keyOf(rule, subject), now, ends: new Date(now.getTime() + windowMs) },
  );
  if (row!.attempts > limit) throw tooManyRequests(row!.window_ends.getTime() - now.getTime(), what);
}

/** Deletes the counted attempts of a subject after a correct proof. */
export async function forgive({ db }: Pick<Deps, 'db'>, rule: ThrottleRule, subject: string): Promise<void> {
  await across(db, 'credential').table('auth_throttles').where('key', keyOf(rule, subject)).delete();
}
