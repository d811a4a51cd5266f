import { across } from '../../db/across.ts';
import type { Columns } from '../../db/rows.ts';
import { DAY_MS, MINUTE_MS } from '../../lib/clock.ts';
import type { Deps } from '../platform/kernel/context.ts';
import { sha256 } from '../../lib/crypto.ts';
import { tooManyRequests } from '../../lib/errors.ts';
import { message } from '../../messages/index.ts';

/** Throttled attempts: how many a window, the window (ms), and their name in the refusal. */
const RULES = {
  /** Passwords tried for one account from one source. */
  sign_in: { limit: 10, windowMs: 15 * MINUTE_MS, what: message('attempts.sign_in') },
  /** Passwords tried from one source, right or wrong, for any account: each costs a processor tens of milliseconds. */
  sign_in_source: { limit: 300, windowMs: 15 * MINUTE_MS, what: message('attempts.sign_in_source') },
  // Lists of stolen passwords: what an office of honest people gets wrong on a day on which everybody signs in for the first time.
  /** Wrong passwords from one source, over all accounts that have not signed in from it. */
  sign_in_failures: { limit: 30, windowMs: 60 * MINUTE_MS, what: message('attempts.sign_in_failures') },
  /** The same from the /48 of an IPv6 address. */
  sign_in_site_failures: { limit: 100, windowMs: 60 * MINUTE_MS, what: message('attempts.sign_in_site_failures') },
  /** Sign-ups asked for from one source. */
  sign_up_source: { limit: 30, windowMs: 60 * MINUTE_MS, what: message('attempts.sign_up_source') },
  /** Resets asked for from one source. */
  reset_source: { limit: 30, windowMs: 60 * MINUTE_MS, what: message('attempts.reset_source') },
  /** Reset links tried from one source. */
  reset_confirm_source: { limit: 100, windowMs: 60 * MINUTE_MS, what: message('attempts.reset_confirm_source') },
  // Each kind of mail to an address has a budget of its own: no inbox is flooded through us, and whoever asks for
  // sign-ups in another's name does not keep them from a new password or an invitation.
  sign_up_mail: { limit: 8, windowMs: 60 * MINUTE_MS, what: message('attempts.sign_up_mail') },
  reset_mail: { limit: 8, windowMs: 60 * MINUTE_MS, what: message('attempts.reset_mail') },
  /** Invitations of one organization to one address. */
  invitation_mail: { limit: 8, windowMs: 60 * MINUTE_MS, what: message('attempts.invitation_mail') },
  /** Invitations of all organizations to one address. */
  invitation_mail_total: { limit: 20, windowMs: 60 * MINUTE_MS, what: message('attempts.invitation_mail') },
  sign_in_mail: { limit: 20, windowMs: 60 * MINUTE_MS, what: message('attempts.sign_in_mail') },
  /** Invitations of one organization. */
  invitations: { limit: 200, windowMs: 60 * MINUTE_MS, what: message('attempts.invitations') },
  /** Organizations founded by one person. */
  organizations: { limit: 20, windowMs: 24 * 60 * MINUTE_MS, what: message('attempts.organizations') },
  /** Current passwords tried when changing it. */
  password: { limit: 10, windowMs: 15 * MINUTE_MS, what: message('attempts.password') },
  /** OAuth clients that register themselves, from one source; the limit is a setting. */
  client_registrations: { limit: 20, windowMs: 60 * MINUTE_MS, what: message('attempts.client_registrations') },
} as const;

/** Passwords for one account that may be wrong, wherever they come from, before each further one has to wait. */
const FREE_GUESSES = 10;
/** Wait (ms) after the first wrong password beyond those; it doubles from one to the next. */
const FIRST_WAIT_MS = 1_000;
/** Longest wait (ms). */
const LONGEST_WAIT_MS = 15 * MINUTE_MS;
/** Wrong passwords are forgotten when none came for this long (ms). */
const FORGET_AFTER_MS = 12 * 60 * MINUTE_MS;

/** For how long (ms) a source is known from which an account has signed in. */
const KNOWN_FOR_MS = 30 * DAY_MS;

type ThrottleRule = keyof typeof RULES;

function keyOf(rule: ThrottleRule | 'account_guesses' | 'known_source', subject: string): string {
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

/**
 * Counts one password tried for an account, over all sources. After {@link FREE_GUESSES} each further one has to wait, the
 * longer the more there were: whoever guesses from many addresses gets about a hundred a day. One that comes too early is
 * refused and not counted. Counted at once and outside any transaction, as by {@link throttle}.
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

/** Forgets the passwords tried for an account whose owner has proved who they are. */
export async function forgiveGuesses({ db }: Pick<Deps, 'db'>, account: string): Promise<void> {
  await across(db, 'credential').table('auth_throttles').where('key', keyOf('account_guesses', account)).delete();
}

/** Forgets the attempts of a subject that has proved itself. */
export async function resetThrottle({ db }: Pick<Deps, 'db'>, rule: ThrottleRule, subject: string): Promise<void> {
  await across(db, 'credential').table('auth_throttles').where('key', keyOf(rule, subject)).delete();
}

/** Takes one counted attempt back: what it was counted for did not come about. */
export async function returnAttempt({ db }: Pick<Deps, 'db'>, rule: ThrottleRule, subject: string): Promise<void> {
  await across(db, 'credential').sql(
    'update auth_throttles set attempts = greatest(attempts - 1, 0) where key = :key returning 1',
    { key: keyOf(rule, subject) },
  );
}

/** Remembers for 30 days that an account has signed in from a source. `subject` names both, and changes with the password. */
export async function rememberSource({ db, clock }: Pick<Deps, 'db' | 'clock'>, subject: string): Promise<void> {
  await across(db, 'credential').sql(
    `insert into auth_throttles (key, attempts, window_ends) values (:key, 1, :ends)
     on conflict (key) do update set window_ends = excluded.window_ends returning 1`,
    { key: keyOf('known_source', subject), ends: new Date(clock.now().getTime() + KNOWN_FOR_MS) },
  );
}

/** Whether {@link rememberSource} was called for the same subject within 30 days. */
export async function isKnownSource({ db, clock }: Pick<Deps, 'db' | 'clock'>, subject: string): Promise<boolean> {
  const row = await across(db, 'credential')
    .table('auth_throttles')
    .where({ key: keyOf('known_source', subject) })
    .first('window_ends');
  return row !== undefined && row.window_ends > clock.now();
}
