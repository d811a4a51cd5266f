import { across } from '../../db/across.ts';
import type { Columns } from '../../db/rows.ts';
import { DAY_MS, MINUTE_MS } from '../../lib/clock.ts';
import type { Ctx, Deps } from '../platform/kernel/context.ts';
import { sha256 } from '../../lib/crypto.ts';
import { tooManyRequests } from '../../lib/errors.ts';
import { message, type Message } from '../../messages/index.ts';

interface Rule {
  /** Number of attempts per window. */
  limit: number;
  windowMs: number;
  /** Name in the RateLimit headers. Absent if the count is not shown, because it includes other people's attempts. */
  policy?: string;
  /** Name of the attempts in the error message. */
  what: Message;
}

/** Rules for throttled attempts. */
const RULES = {
  /** Password attempts from one source for one account. */
  sign_in: { limit: 10, windowMs: 15 * MINUTE_MS, what: message('attempts.sign_in') },
  /**
   * Password attempts from one source for any account, right or wrong. Each attempt costs tens of milliseconds of
   * processor time.
   */
  sign_in_source: { limit: 300, windowMs: 15 * MINUTE_MS, policy: 'sign-in', what: message('attempts.sign_in_source') },
  // The next two limits slow down attacks with lists of stolen passwords. They are high enough for the mistakes in an
  // office where everybody signs in for the first time.
  /** Wrong passwords from one source over all accounts, except accounts that have signed in from it before. */
  sign_in_failures: { limit: 30, windowMs: 60 * MINUTE_MS, what: message('attempts.sign_in_failures') },
  /** Wrong passwords from the /48 network of an IPv6 address, counted like `sign_in_failures`. */
  sign_in_site_failures: { limit: 100, windowMs: 60 * MINUTE_MS, what: message('attempts.sign_in_site_failures') },
  /** Sign-ups requested from one source. */
  sign_up_source: { limit: 30, windowMs: 60 * MINUTE_MS, policy: 'sign-up', what: message('attempts.sign_up_source') },
  /** Password resets requested from one source. */
  reset_source: {
    limit: 30,
    windowMs: 60 * MINUTE_MS,
    policy: 'password-reset',
    what: message('attempts.reset_source'),
  },
  /** Attempts from one source to use a password reset link. */
  reset_confirm_source: {
    limit: 100,
    windowMs: 60 * MINUTE_MS,
    policy: 'password-reset-confirm',
    what: message('attempts.reset_confirm_source'),
  },
  // Each kind of email to an address has its own limit. An attacker cannot flood an inbox, and cannot block a person's
  // password resets or invitations by requesting sign-ups in their name.
  sign_up_mail: { limit: 8, windowMs: 60 * MINUTE_MS, what: message('attempts.sign_up_mail') },
  reset_mail: { limit: 8, windowMs: 60 * MINUTE_MS, what: message('attempts.reset_mail') },
  /** Invitations of one organization to one address. */
  invitation_mail: { limit: 8, windowMs: 60 * MINUTE_MS, what: message('attempts.invitation_mail') },
  /** Invitations of all organizations to one address. */
  invitation_mail_total: { limit: 20, windowMs: 60 * MINUTE_MS, what: message('attempts.invitation_mail') },
  sign_in_mail: { limit: 20, windowMs: 60 * MINUTE_MS, what: message('attempts.sign_in_mail') },
  /** Invitations sent by one organization to any address. */
  invitations: { limit: 200, windowMs: 60 * MINUTE_MS, policy: 'invitations', what: message('attempts.invitations') },
  /** Organizations created by one person. */
  organizations: {
    limit: 20,
    windowMs: 24 * 60 * MINUTE_MS,
    policy: 'workspaces',
    what: message('attempts.organizations'),
  },
  /** Exports of one workspace. Each export reads all rows of the workspace. */
  workspace_exports: { limit: 3, windowMs: DAY_MS, policy: 'exports', what: message('attempts.workspace_exports') },
  /** Attempts of a person to enter their current password, in order to change it or to delete the account. */
  password: { limit: 10, windowMs: 15 * MINUTE_MS, policy: 'password', what: message('attempts.password') },
  /** Self-registrations of OAuth clients from one source. A setting overrides the limit. */
  client_registrations: {
    limit: 20,
    windowMs: 60 * MINUTE_MS,
    policy: 'registrations',
    what: message('attempts.client_registrations'),
  },
} as const satisfies Record<string, Rule>;

/**
 * Number of wrong passwords for one account, from all sources. Once it is exceeded, each further attempt has to wait.
 */
const FREE_GUESSES = 10;
/** Wait (ms) after the first wrong password above `FREE_GUESSES`. It doubles with each further wrong password. */
const FIRST_WAIT_MS = 1_000;
/** Maximum wait (ms) between two attempts. */
const LONGEST_WAIT_MS = 15 * MINUTE_MS;
/** Time (ms) without a wrong password, after which earlier wrong passwords are forgotten. */
const FORGET_AFTER_MS = 12 * 60 * MINUTE_MS;

/** Time (ms) for which a source is remembered after an account has signed in from it. */
const KNOWN_FOR_MS = 30 * DAY_MS;

type ThrottleRule = keyof typeof RULES;

function keyOf(rule: ThrottleRule | 'account_guesses' | 'known_source', subject: string): string {
  return sha256(`${rule}/${subject}`);
}

/**
 * Counts one attempt in PostgreSQL immediately, outside any transaction of the caller. Therefore every process sees the
 * count, a restart keeps it, and a failing attempt cannot roll it back.
 * @param limit replaces the rule's limit; 0 is unlimited
 * @throws AppError rate_limit_exceeded (429) with Retry-After
 */
export async function throttle(
  { db, clock, reportQuota }: Pick<Ctx, 'db' | 'clock' | 'reportQuota'>,
  rule: ThrottleRule,
  subject: string,
  limit: number = RULES[rule].limit,
): Promise<void> {
  if (limit === 0) return;
  const { windowMs, what, policy }: Rule = RULES[rule];
  const now = clock.now();
  const [row] = await across(db, 'credential').sql<Columns<'auth_throttles', 'attempts' | 'window_ends'>>(
    `insert into auth_throttles as t (key, attempts, window_ends) values (:key, 1, :ends)
     on conflict (key) do update set
       attempts = case when t.window_ends <= :now then 1 else t.attempts + 1 end,
       window_ends = case when t.window_ends <= :now then excluded.window_ends else t.window_ends end
     returning attempts, window_ends`,
    { key: keyOf(rule, subject), now, ends: new Date(now.getTime() + windowMs) },
  );
  const resetMs = row!.window_ends.getTime() - now.getTime();
  if (policy) reportQuota?.({ policy, limit, windowMs, remaining: Math.max(0, limit - row!.attempts), resetMs });
  if (row!.attempts > limit) throw tooManyRequests(resetMs, what);
}

/**
 * Counts one password tried for an account, over all sources. After {@link FREE_GUESSES} attempts each further one has
 * to wait, and each wait is longer. Even from many addresses, only about a hundred passwords can be tried in a day. An
 * attempt that comes too early is refused and not counted. Counts immediately and outside any transaction, like {@link
 * throttle}.
 * @throws AppError rate_limit_exceeded (429) with Retry-After
 */
export async function throttleGuesses({ db, clock }: Pick<Deps, 'db' | 'clock'>, account: string): Promise<void> {
  const now = clock.now();
  const key = keyOf('account_guesses', account);
  const [counted] = await across(db, 'credential').sql<Columns<'auth_throttles', 'attempts'>>(
    `insert into auth_throttles as t (key, attempts, window_ends) values (:key, 1, :now)
     on conflict (key) do update set
       attempts = case when t.window_ends <= :forgotten then 1 else t.attempts + 1 end,
       window_ends = :now::timestamptz + make_interval(secs => case
         when t.window_ends <= :forgotten or t.attempts < :free then 0
         else least(:longest::float8, :first::float8 * power(2, least(t.attempts - :free, 30))) / 1000 end)
     where t.window_ends <= :now
     returning attempts`,
    {
      key,
      now,
      forgotten: new Date(now.getTime() - FORGET_AFTER_MS),
      free: FREE_GUESSES,
      first: FIRST_WAIT_MS,
      longest: LONGEST_WAIT_MS,
    },
  );
  if (counted) return;
  const row = await across(db, 'credential').table('auth_throttles').where({ key }).first('window_ends');
  const waitMs = (row?.window_ends ?? now).getTime() - now.getTime();
  throw tooManyRequests(Math.max(waitMs, 1), message('attempts.sign_in'));
}

/** Resets the count of passwords tried for an account, after its owner has signed in. */
export async function clearGuesses({ db }: Pick<Deps, 'db'>, account: string): Promise<void> {
  await across(db, 'credential').table('auth_throttles').where('key', keyOf('account_guesses', account)).delete();
}

/** Resets the counted attempts of a subject, after it has proved its identity. */
export async function resetThrottle({ db }: Pick<Deps, 'db'>, rule: ThrottleRule, subject: string): Promise<void> {
  await across(db, 'credential').table('auth_throttles').where('key', keyOf(rule, subject)).delete();
}

/** Subtracts one counted attempt. Call it when an attempt that was already counted must not be counted after all. */
export async function returnAttempt({ db }: Pick<Deps, 'db'>, rule: ThrottleRule, subject: string): Promise<void> {
  await across(db, 'credential').sql(
    'update auth_throttles set attempts = greatest(attempts - 1, 0) where key = :key returning 1',
    { key: keyOf(rule, subject) },
  );
}

/**
 * Remembers for 30 days that an account has signed in from a source. `subject` contains both, and changes with the
 * password.
 */
export async function rememberSource({ db, clock }: Pick<Deps, 'db' | 'clock'>, subject: string): Promise<void> {
  await across(db, 'credential').sql(
    `insert into auth_throttles (key, attempts, window_ends) values (:key, 1, :ends)
     on conflict (key) do update set window_ends = excluded.window_ends returning 1`,
    { key: keyOf('known_source', subject), ends: new Date(clock.now().getTime() + KNOWN_FOR_MS) },
  );
}

/** Returns true if {@link rememberSource} was called for the same subject within 30 days. */
export async function isKnownSource({ db, clock }: Pick<Deps, 'db' | 'clock'>, subject: string): Promise<boolean> {
  const row = await across(db, 'credential')
    .table('auth_throttles')
    .where({ key: keyOf('known_source', subject) })
    .first('window_ends');
  return row !== undefined && row.window_ends > clock.now();
}
