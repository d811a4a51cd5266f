/**
 * This file determines the cause of a refused email. Every refusal (an SMTP answer, a delivery report, a failed
 * connection) gets one of five classes. Only after a refusal of the first class is the address not used again.
 */

import { RELAY, WORDS, type RefusalReason } from './refusal-words.ts';

export type { RefusalReason } from './refusal-words.ts';

/**
 * - `recipient_gone`: the address or its domain does not exist, has moved, or accepts no mail at all;
 * - `recipient_unavailable`: the address exists, but is full, disabled or slow, or may exist;
 * - `content`: this message is refused (spam rating, size, policy);
 * - `sender`: the sending mailbox: its limits, standing or sign-in, or the reputation of its address, domain or IP;
 * - `network`: no connection, or a wrong configuration of a server or of ours.
 */
export type RefusalClass = 'recipient_gone' | 'recipient_unavailable' | 'content' | 'sender' | 'network';

/** `hard`: the address does not exist. `soft`: everything else. */
export type BounceType = 'hard' | 'soft';

/** SMTP command that was answered (RFC 5321). `connect` covers everything before MAIL. */
export type Stage = 'connect' | 'mail' | 'rcpt' | 'data';

/** Facts about a refusal that determine its cause. */
interface Evidence {
  /** RFC 3463 status such as `5.1.1`, or null. */
  readonly status: string | null;
  /** SMTP reply code such as 550, or null. */
  readonly code: number | null;
  /** Command that was answered; null if it is unknown. */
  readonly stage: Stage | null;
  /** Text of the server, in any language. */
  readonly words: string;
  /** True if a standard report (RFC 3464) quotes the text as the recipient server's answer. */
  readonly quoted?: boolean;
  /** True if the status was set by the reporting system instead of the answering server. */
  readonly statusByReporter?: boolean;
}

export interface Refusal {
  readonly class: RefusalClass;
  readonly reason: RefusalReason;
}

const MAX_WORDS = 4000;

/**
 * Yahoo's words for an address that does not exist. Yahoo's answer has no status and arrives only after the message was
 * sent.
 */
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
 * Statuses of class 4 and class 5 that determine the cause regardless of the text. Sources are RFC 3463, the registry
 * of RFC 5248, and the documentation of Microsoft and Google.
 */
const PLAIN_STATUS: readonly (readonly [RegExp, RefusalReason])[] = [
  [/^[45]\.2\.2$/, 'full'],
  [/^[45]\.2\.12[12]$/, 'slow'],
  [/^[45]\.(?:2\.3|3\.4)$/, 'size'],
  // Exceeded limits: the recipient limit at Exchange Online, the daily limit at Google.
  [/^[45]\.(?:1\.90|4\.5|7\.233)$/, 'rate_limit'],
  [/^[45]\.1\.[789]$/, 'sender_refused'],
  [/^[45]\.7\.(?:8|9|11|30|5[37]|13[456]|139)$/, 'authentication'],
  [/^[45]\.7\.(?:2\d|509|515|51[01]|60[678]|6[1-4]\d|23|124)$/, 'reputation'],
  // At Exchange Online, a tenant or account that is temporarily not permitted to send.
  [/^[45]\.7\.(?:50[0-8]|7\d\d|57)$/, 'suspended'],
  // In RFC 5248 the status means a sign-in to a disabled account, in RFC 7293 that the address may have a new owner.
  [/^[45]\.7\.13$/, 'suspended'],
  [/^[45]\.7\.1[789]$/, 'unconfirmed'],
  [/^[45]\.7\.(?:6|1[0-9])$/, 'policy'],
  [/^[45]\.4\.(?:6|14)$/, 'configuration'],
  [/^[45]\.4\.[12]$/, 'connection'],
  [/^[45]\.5\.[1-6]$/, 'configuration'],
  [/^[45]\.6\.\d+$/, 'policy'],
];

/** Statuses which state that the recipient's address is wrong or does not exist. */
const ADDRESS_STATUS: ReadonlyMap<string, RefusalReason> = new Map([
  ['5.1.1', 'unknown_user'],
  ['5.1.2', 'unknown_domain'],
  ['5.1.3', 'unknown_user'],
  ['5.1.6', 'moved'],
  ['5.1.10', 'refuses_all_mail'],
  // At Exchange Online, a downstream server reported an unknown user, or the domain is not in the DNS.
  ['5.1.351', 'unknown_user'],
  ['5.4.310', 'unknown_domain'],
]);

/**
 * "System not accepting network messages": RFC 3463 lists shutdown, load and maintenance, also in class 5. The same
 * status could mean a host that never accepts mail, but such a host has its own reply codes (521, 556).
 */
const CLOSED = /^[45]\.3\.2$/;

/** Causes by status alone (RFC 3463), used if nothing else determines the cause. */
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
 * Determines the cause of a refusal. An address is classified as nonexistent only if the status or the text of a
 * response to RCPT says so. In addition, nothing may mention the sender, the content or a lack of space. "User unknown"
 * in answer to the message itself comes from filters, and a status of class 4 is not final, so the address is still
 * used. An answer without a known cause is treated as a mailbox that is temporarily unavailable.
 */
export function classifyRefusal(evidence: Evidence): Refusal {
  return refusalFor(reasonOf(evidence));
}

/** Returns a reason with its class. */
export function refusalFor(reason: RefusalReason): Refusal {
  return { class: CLASS_OF[reason], reason };
}

/** Returns true if a server's text names a cause. */
export function namesCause(words: string): boolean {
  return causeIn(readable(words)) !== null;
}

/** Returns `full` or `disabled` if the text says that an existing mailbox is full or disabled, otherwise null. */
export function obstacleIn(words: string): 'full' | 'disabled' | null {
  const said = causeIn(readable(words));
  return said === 'full' || said === 'disabled' ? said : null;
}

/** Returns `hard` for an address that does not exist, and `soft` for any other refusal. */
export function bounceTypeOf(refusal: Refusal): BounceType {
  return refusal.class === 'recipient_gone' ? 'hard' : 'soft';
}

function reasonOf(evidence: Evidence): RefusalReason {
  const { status, code, stage, words, quoted = false, statusByReporter = false } = evidence;
  const text = readable(words);
  const said = causeIn(text);
  const isGone = said !== null && CLASS_OF[said] === 'recipient_gone';
  if (status !== null && CLOSED.test(status) && !isNeverCode(code) && (said === null || said === 'refuses_all_mail'))
    return 'system';
  const plain = PLAIN_STATUS.find(([pattern]) => pattern.test(status ?? ''))?.[1] ?? null;
  if (isTemporary(status, code)) {
    // The server repeated this temporary answer until the sender's queue gave up, so the address does not exist.
    if (quoted && status === '4.1.1' && isGone) return said;
    if (said !== null && !isGone) return said;
    return plain ?? (isGone ? 'unconfirmed' : 'slow');
  }
  const named = ADDRESS_STATUS.get(status ?? '') ?? null;
  if (named !== null) {
    if (RELAY.test(text)) return 'configuration';
    // sendmail reports 5.1.1 for any 550 answer to RCPT, so the status is trusted only if the answering server itself
    // sent it.
    return said === null || isGone || (!statusByReporter && CONFIRMED_BY_STATUS.has(said)) ? named : said;
  }
  if (isNeverCode(code)) return isGone || said === null ? 'refuses_all_mail' : said;
  // Code 551 (RFC 5321) means that the person has another address.
  if (code === 551 && status === '5.0.0' && isGone) return 'moved';
  // A bare "address rejected" in answer to RCPT comes from gateways that query the recipient's directory.
  if (
    status === '5.1.0' &&
    stage !== 'mail' &&
    stage !== 'data' &&
    /(?:address|recipient) (?:was )?(?:rejected|refused|denied)/.test(text)
  )
    return said === null || said === 'policy' || said === 'configuration' ? 'unknown_user' : said;
  // The reporting system found no server of the domain in the DNS, so no server was contacted.
  if (status === '5.4.4' && (/domain look-?up failed/.test(text) || (code === null && said === null)))
    return 'unknown_domain';
  // Exchange Online gives this answer to RCPT if its directory does not contain the address.
  if (status === '5.4.1' && stage !== 'data' && /access denied/.test(text)) return 'unknown_user';
  if (plain !== null && !(isGone && stage === 'rcpt') && said !== 'not_in_directory') return plain;
  if (isGone) return isConfirmed(said, text, { status, stage, quoted }) ? said : 'unconfirmed';
  if (said !== null) return said;
  if (stage === 'mail') return 'sender_refused';
  if (stage === 'connect') return 'connection';
  if (stage === 'data' && code !== null) return 'policy';
  return SUBJECTS.find(([pattern]) => pattern.test(status ?? ''))?.[1] ?? 'unknown';
}

/** Returns true for the codes of RFC 7504: the host (521) or the domain (556) accepts no mail. */
function isNeverCode(code: number | null): boolean {
  return code === 521 || code === 556;
}

/** Returns true if the status or the answered command confirms that the address does not exist. */
function isConfirmed(
  said: RefusalReason,
  text: string,
  { status, stage, quoted }: { status: string | null; stage: Stage | null; quoted: boolean },
): boolean {
  if (PROVIDER_VERDICT.test(text) && (quoted || /delivery error|\b55\d\b/.test(text))) return true;
  if (stage === 'mail') return false;
  // A server can report that a domain is unknown or accepts no mail in answer to any command.
  if (said === 'unknown_domain' || said === 'refuses_all_mail') return true;
  if (stage === 'data') return false;
  if (said !== 'unknown_user') return true;
  return stage === 'rcpt' || status === '5.1.0' || status === '5.1.3';
}

/**
 * Returns the cause named in a server's text. A failed look-up that should be retried does not mean an unknown domain.
 */
function causeIn(text: string): RefusalReason | null {
  const said = WORDS.find(([, pattern]) => pattern.test(text))?.[0] ?? null;
  return said === 'unknown_domain' &&
    /(?:found|fail\w*|error|dns|look-?up)\W{1,3}(?:please )?try again|temporar/.test(text)
    ? 'connection'
    : said;
}

/** Causes that are too general to contradict a status about the address. */
const CONFIRMED_BY_STATUS: ReadonlySet<RefusalReason> = new Set(['policy', 'configuration', 'slow']);

function isTemporary(status: string | null, code: number | null): boolean {
  if (status !== null && !/^5\.0\.0$/.test(status)) return status.startsWith('4');
  return code !== null ? code < 500 : (status?.startsWith('4') ?? false);
}

/**
 * Returns a text on one line, without addresses and link paths, because they may contain words such as "spam" by
 * chance.
 */
function readable(words: string): string {
  return words
    .slice(0, MAX_WORDS)
    .replace(/\bhttps?:\/\/([^\s/?#]{1,253})\S*/gi, ' $1 ')
    .replace(/<?[^\s<>()"']{1,200}@[^\s<>()"']{1,200}>?/g, ' ')
    .replace(/\s+/g, ' ')
    .toLowerCase();
}
