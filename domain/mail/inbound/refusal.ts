/**
 * Whose fault a refused email is. Everything that refuses an email (an SMTP answer, a delivery report, a connection that
 * failed) is sorted into one of five classes; only the first of them ends the use of an address.
 */

import { RELAY, WORDS, type RefusalReason } from './refusal-words.ts';

export type { RefusalReason } from './refusal-words.ts';

/**
 * - `recipient_gone`: the address or its domain does not exist, has moved, or takes no mail at all;
 * - `recipient_unavailable`: there, but full, switched off, slow, or not certain to be gone;
 * - `content`: this message is not wanted (spam rating, size, policy);
 * - `sender`: the mailbox that sends: its limits, its standing, its sign-in, the reputation of its address, domain or IP;
 * - `network`: no connection, or a fault of a server's or our configuration.
 */
export type RefusalClass = 'recipient_gone' | 'recipient_unavailable' | 'content' | 'sender' | 'network';

/** Hard: the address is gone. Soft: everything else. */
export type BounceType = 'hard' | 'soft';

/** The SMTP command that was answered (RFC 5321); `connect` is everything up to MAIL. */
export type Stage = 'connect' | 'mail' | 'rcpt' | 'data';

/** What is known of a refusal. */
interface Evidence {
  /** RFC 3463 status such as `5.1.1`, or null. */
  readonly status: string | null;
  /** SMTP reply code such as 550, or null. */
  readonly code: number | null;
  /** Null when it is not known what was answered. */
  readonly stage: Stage | null;
  /** What the server said, in any language. */
  readonly words: string;
  /** A standard report (RFC 3464) that gives the words as the answer of the recipient's server. */
  readonly quoted?: boolean;
  /** The status was given by the system that reports, not by the server in its answer. */
  readonly statusByReporter?: boolean;
}

export interface Refusal {
  readonly class: RefusalClass;
  readonly reason: RefusalReason;
}

const MAX_WORDS = 4000;

/** Yahoo's words for an address it does not have; its answer has no status and comes late. */
const PROVIDER_VERDICT = /this user does ?n[o'’]t have an? [\w.-]+ account/;

const CLASS_OF: Readonly<Record<RefusalReason, RefusalClass>> = {
  unknown_user: 'recipient_gone',
  not_in_directory: 'recipient_gone',
  unknown_domain: 'recipient_gone',
  moved: 'recipient_gone',
  refuses_all_mail: 'recipient_gone',
  full: 'recipient_unavailable',
  disabled: 'recipient_unavailable',
  slow: 'recipient_unavailable',
  unconfirmed: 'recipient_unavailable',
  unknown: 'recipient_unavailable',
  spam: 'content',
  size: 'content',
  policy: 'content',
  rate_limit: 'sender',
  suspended: 'sender',
  authentication: 'sender',
  not_verified: 'sender',
  reputation: 'sender',
  sender_refused: 'sender',
  connection: 'network',
  configuration: 'network',
  system: 'network',
};

/**
 * Statuses that mean one thing whatever is said beside them (RFC 3463, the registry of RFC 5248, and what Microsoft and
 * Google document of their own); the class of the status, 4 or 5, does not matter.
 */
const PLAIN_STATUS: readonly (readonly [RegExp, RefusalReason])[] = [
  [/^[45]\.2\.2$/, 'full'],
  [/^[45]\.2\.12[12]$/, 'slow'],
  [/^[45]\.(?:2\.3|3\.4)$/, 'size'],
  // Exchange Online: over the limit of recipients; Google: over the daily limit.
  [/^[45]\.(?:1\.90|4\.5|7\.233)$/, 'rate_limit'],
  [/^[45]\.1\.[789]$/, 'sender_refused'],
  [/^[45]\.7\.(?:8|9|11|30|5[37]|13[456]|139)$/, 'authentication'],
  [/^[45]\.7\.(?:2\d|509|515|51[01]|60[678]|6[1-4]\d|23|124)$/, 'reputation'],
  // Exchange Online: a tenant or an account that may not send for the time being.
  [/^[45]\.7\.(?:50[0-8]|7\d\d|57)$/, 'suspended'],
  // RFC 5248: after sign-in to an account that was switched off; RFC 7293: another person may have the address now.
  [/^[45]\.7\.13$/, 'suspended'],
  [/^[45]\.7\.1[789]$/, 'unconfirmed'],
  [/^[45]\.7\.(?:6|1[0-9])$/, 'policy'],
  [/^[45]\.4\.(?:6|14)$/, 'configuration'],
  [/^[45]\.4\.[12]$/, 'connection'],
  [/^[45]\.5\.[1-6]$/, 'configuration'],
  [/^[45]\.6\.\d+$/, 'policy'],
];

/** Statuses that name a fault of the address itself. */
const ADDRESS_STATUS: ReadonlyMap<string, RefusalReason> = new Map([
  ['5.1.1', 'unknown_user'],
  ['5.1.2', 'unknown_domain'],
  ['5.1.3', 'unknown_user'],
  ['5.1.6', 'moved'],
  ['5.1.10', 'refuses_all_mail'],
  // Exchange Online, of what a server beyond it has said, and of a domain that is not in the DNS.
  ['5.1.351', 'unknown_user'],
  ['5.4.310', 'unknown_domain'],
]);

/**
 * "System not accepting network messages": RFC 3463 names a shutdown, load and maintenance, in class 5 as well. Its own text reads like that of a
 * host that never takes mail, for which there are reply codes.
 */
const CLOSED = /^[45]\.3\.2$/;

/** What a status without further words is about (RFC 3463, by subject). */
const SUBJECTS: readonly (readonly [RegExp, RefusalReason])[] = [
  [/^[45]\.1\./, 'unconfirmed'],
  [/^[45]\.2\./, 'disabled'],
  [/^[45]\.3\./, 'configuration'],
  [/^[45]\.4\.7$/, 'slow'],
  [/^[45]\.4\./, 'connection'],
  [/^[45]\.5\./, 'configuration'],
  [/^[45]\.[67]\./, 'policy'],
];

/**
 * Sorts a refusal. The address counts as gone only on two grounds that agree: a status that names the address as the
 * fault, or words that say so in answer to RCPT; and nothing else in the answer that speaks of the sender, the content or
 * a lack of space. "User unknown" as an answer to the message itself comes from filters, and a status of class 4 leaves the
 * question open: neither ever ends the use of an address. What cannot be read counts as a mailbox that did not work today.
 */
export function classifyRefusal(evidence: Evidence): Refusal {
  return refusalFor(reasonOf(evidence));
}

/** A reason with the class it belongs to. */
export function refusalFor(reason: RefusalReason): Refusal {
  return { class: CLASS_OF[reason], reason };
}

/** Whether words say anything of the cause. */
export function saysWhy(words: string): boolean {
  return saidIn(readable(words)) !== null;
}

/** What words say of a mailbox that is there, but full or switched off. */
export function obstacleIn(words: string): 'full' | 'disabled' | null {
  const said = saidIn(readable(words));
  return said === 'full' || said === 'disabled' ? said : null;
}

/** Hard only for an address that is gone. */
export function bounceTypeOf(refusal: Refusal): BounceType {
  return refusal.class === 'recipient_gone' ? 'hard' : 'soft';
}

function reasonOf(evidence: Evidence): RefusalReason {
  const { status, code, stage, words, quoted = false, statusByReporter = false } = evidence;
  const text = readable(words);
  const said = saidIn(text);
  const isGone = said !== null && CLASS_OF[said] === 'recipient_gone';
  if (status !== null && CLOSED.test(status) && !isNeverCode(code) && (said === null || said === 'refuses_all_mail'))
    return 'system';
  const plain = PLAIN_STATUS.find(([pattern]) => pattern.test(status ?? ''))?.[1] ?? null;
  if (isTemporary(status, code)) {
    // Tried until the sender's queue gave up, and always the same: the address.
    if (quoted && status === '4.1.1' && isGone) return said;
    if (said !== null && !isGone) return said;
    return plain ?? (isGone ? 'unconfirmed' : 'slow');
  }
  const named = ADDRESS_STATUS.get(status ?? '') ?? null;
  if (named !== null) {
    if (RELAY.test(text)) return 'configuration';
    // sendmail reports 5.1.1 for any answer of 550 to RCPT: the status is not the server's where it gave none itself.
    return said === null || isGone || (!statusByReporter && CONFIRMED_BY_STATUS.has(said)) ? named : said;
  }
  if (isNeverCode(code)) return isGone || said === null ? 'refuses_all_mail' : said;
  // RFC 5321: the person is not here, try there.
  if (code === 551 && status === '5.0.0' && isGone) return 'moved';
  // Nothing but "address rejected", in answer to RCPT: gateways that ask the recipient's directory.
  if (
    status === '5.1.0' &&
    stage !== 'mail' &&
    stage !== 'data' &&
    /(?:address|recipient) (?:was )?(?:rejected|refused|denied)/.test(text)
  )
    return said === null || said === 'policy' || said === 'configuration' ? 'unknown_user' : said;
  // The domain has no server in the DNS: found by the system that reports, not said by a server that was asked.
  if (status === '5.4.4' && (/domain look-?up failed/.test(text) || (code === null && said === null)))
    return 'unknown_domain';
  // Exchange Online answers RCPT so for an address that its directory does not have.
  if (status === '5.4.1' && stage !== 'data' && /access denied/.test(text)) return 'unknown_user';
  if (plain !== null && !(isGone && stage === 'rcpt') && said !== 'not_in_directory') return plain;
  if (isGone) return isConfirmed(said, text, { status, stage, quoted }) ? said : 'unconfirmed';
  if (said !== null) return said;
  if (stage === 'mail') return 'sender_refused';
  if (stage === 'connect') return 'connection';
  if (stage === 'data' && code !== null) return 'policy';
  return SUBJECTS.find(([pattern]) => pattern.test(status ?? ''))?.[1] ?? 'unknown';
}

/** RFC 7504: the host (521), or the domain (556), takes no mail. */
function isNeverCode(code: number | null): boolean {
  return code === 521 || code === 556;
}

/** Whether something besides the words speaks for an address that is gone. */
function isConfirmed(
  said: RefusalReason,
  text: string,
  { status, stage, quoted }: { status: string | null; stage: Stage | null; quoted: boolean },
): boolean {
  if (PROVIDER_VERDICT.test(text) && (quoted || /delivery error|\b55\d\b/.test(text))) return true;
  if (stage === 'mail') return false;
  // A relay says so of the domain whenever it finds out.
  if (said === 'unknown_domain' || said === 'refuses_all_mail') return true;
  if (stage === 'data') return false;
  if (said !== 'unknown_user') return true;
  return stage === 'rcpt' || status === '5.1.0' || status === '5.1.3';
}

/** What the words say; a failed look-up that is to be tried again is not a domain that does not exist. */
function saidIn(text: string): RefusalReason | null {
  const said = WORDS.find(([, pattern]) => pattern.test(text))?.[0] ?? null;
  return said === 'unknown_domain' &&
    /(?:found|fail\w*|error|dns|look-?up)\W{1,3}(?:please )?try again|temporar/.test(text)
    ? 'connection'
    : said;
}

/** Words too general to speak against a status that names the address. */
const CONFIRMED_BY_STATUS: ReadonlySet<RefusalReason> = new Set(['policy', 'configuration', 'slow']);

function isTemporary(status: string | null, code: number | null): boolean {
  if (status !== null && !/^5\.0\.0$/.test(status)) return status.startsWith('4');
  return code !== null ? code < 500 : (status?.startsWith('4') ?? false);
}

/** The words without the paths of links and without addresses, which contain "spam", "unknown" and the like by chance; on one line. */
function readable(words: string): string {
  return words
    .slice(0, MAX_WORDS)
    .replace(/\bhttps?:\/\/([^\s/?#]{1,253})\S*/gi, ' $1 ')
    .replace(/<?[^\s<>()"']{1,200}@[^\s<>()"']{1,200}>?/g, ' ')
    .replace(/\s+/g, ' ')
    .toLowerCase();
}
