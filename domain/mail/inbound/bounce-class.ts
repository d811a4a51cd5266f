/**
 * Hard or soft: whether the address itself is beyond reach, or only this message at this time.
 *
 * Status codes (RFC 3463) decide unless the server's words say otherwise, since servers use 5.7.1 for an
 * unknown user as readily as for a spam rating, and 5.0.0 for everything.
 */

import { anyOf } from './patterns.ts';

export type BounceType = 'hard' | 'soft';

const UNKNOWN_ADDRESS = anyOf(
  [
    String.raw`user (?:is )?unknown|unknown (?:user|recipient|address|account|local[- ]part|mailbox)`,
    String.raw`no such (?:user|recipient|address|mailbox|person|account|domain|host|name)`,
    String.raw`(?:user|recipient|mailbox|address|account)[^.\n]{0,60}(?:not found|(?:do(?:es)?(?: not|n['’]t)|not) exist|unknown)`,
    String.raw`(?:user|recipient|mailbox|address|account)[^.\n]{0,60}no longer (?:available|in use|valid|active)`,
    String.raw`(?:user|recipient|mailbox|address|account)[^.\n]{0,60}(?:disabled|deactivated|closed|suspended)`,
    String.raw`(?:user|recipient|mailbox|address|account)[^.\n]{0,60}(?:terminated|inactive|invalid)`,
    String.raw`invalid (?:recipient|address|user|mailbox)`,
    String.raw`not a (?:valid|known) (?:user|recipient|mailbox|address)`,
    String.raw`does(?: not|n['’]t) have an? [^.\n]{0,40}account|RecipientNotFound|recipnotfound`,
    String.raw`no mailbox (?:here )?by that name`,
    String.raw`(?:host|domain)(?: or domain)?(?: name)? (?:unknown|not found)|nxdomain`,
    String.raw`unrouteable address`,
    String.raw`(?:couldn['’]t|could not|wasn['’]t|was not) (?:be )?f(?:ind|ound)[^.\n]{0,40}`,
    String.raw`bad destination (?:mailbox|system)|recipient address rejected: access denied|null mx`,
    String.raw`domain[^.\n]{0,80}(?:does not|doesn['’]t) (?:exist|accept mail|receive mail)`,
  ],
  'i',
);

const FULL_MAILBOX = anyOf(
  [
    String.raw`(?:mailbox|inbox|account|user)[^.\n]{0,60}(?:is |was )?(?:full|over ?quota|out of storage)`,
    String.raw`(?:over|exceed(?:s|ed|ing)?|insufficient)[^.\n]{0,30}(?:quota|storage)`,
    String.raw`quota (?:exceeded|full)|QuotaExceeded|not enough (?:disk )?space|storage (?:space|limit)`,
  ],
  'i',
);

const REFUSED_MESSAGE = anyOf(
  [
    String.raw`\bspam\b|\bjunk\b|unsolicited|block(?:ed|list)|black ?list|denylist`,
    String.raw`listed (?:at|by|in|on)|\brbl\b|\bdnsbl\b|spamhaus|barracuda|reputation|\bdmarc\b|\bspf\b`,
    String.raw`\bdkim\b|(?:virus|malware) (?:found|detected|infected)|grey ?list|rate limit`,
    String.raw`too many (?:messages|connections|recipients|emails)|throttl|policy`,
    String.raw`content (?:rejected|filter)|message (?:size|too (?:large|big|long))|too large`,
    String.raw`exceeds? (?:the )?(?:maximum|fixed)? ?(?:message )?size|try again later|temporar(?:y|ily)`,
    String.raw`prohibited`,
  ],
  'i',
);

/** A domain that isn't there stays so, even where the sender's queue calls the failed lookup temporary. */
const NO_SUCH_DOMAIN = /nxdomain|domain name not found|(?:does not|doesn['’]t) receive email/i;

/**
 * Classes of RFC 3463 whose permanent form says nothing about the address: the sender, size, load, policy.
 */
const NOT_ABOUT_THE_ADDRESS: readonly RegExp[] = [
  /^5\.1\.[78]$/,
  /^5\.2\.[2345]$/,
  /^5\.3\.[1-9]\d*$/,
  /^5\.4\.(?:[2356789]|14)$/,
  /^5\.5\.\d+$/,
  /^5\.6\.\d+$/,
  /^5\.7\.\d+$/,
];

const ABOUT_THE_ADDRESS: readonly RegExp[] = [/^5\.1\.(?:[0-6]|9|10)$/, /^5\.2\.[01]$/, /^5\.4\.4$/];

/**
 * Classifies a failed delivery.
 *
 * @param status RFC 3463 status such as `5.1.1`, or null
 * @param words the diagnostic text, any language
 */
export function bounceType(status: string | null, words: string): BounceType {
  const text = words.slice(0, 4000);
  if (FULL_MAILBOX.test(text)) return 'soft';
  if (status?.startsWith('4')) return NO_SUCH_DOMAIN.test(text) ? 'hard' : 'soft';
  if (status !== null && ABOUT_THE_ADDRESS.some((pattern) => pattern.test(status)) && status !== '5.1.0') {
    return REFUSED_MESSAGE.test(text) && !UNKNOWN_ADDRESS.test(text) ? 'soft' : 'hard';
  }
  if (UNKNOWN_ADDRESS.test(text)) return 'hard';
  if (REFUSED_MESSAGE.test(text)) return 'soft';
  if (status === null) return /\b5\d\d[\s-]|permanent/i.test(text) ? 'hard' : 'soft';
  return NOT_ABOUT_THE_ADDRESS.some((pattern) => pattern.test(status)) ? 'soft' : 'hard';
}

/**
 * The most telling RFC 3463 status: the reported one, unless it is a catch-all (`x.0.0`) and the diagnostic
 * text carries a precise one. A bare SMTP reply code gives `5.0.0` or `4.0.0`.
 */
export function bestStatus(reported: string | null, words: string): string | null {
  const pattern = /(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/;
  const given = pattern.exec(reported ?? '')?.[1] ?? null;
  if (given !== null && !given.endsWith('.0.0')) return given;
  const text = words.slice(0, 4000);
  const precise = /(?<![\d.])[245]\d\d[\s-]{1,3}#?([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/.exec(text)?.[1];
  const other = precise ?? /(?:^|[\s#(;])([45]\.\d{1,2}\.\d{1,3})(?![\d.]*\d)/.exec(text)?.[1];
  if (other !== undefined) return other;
  if (given !== null) return given;
  const reply = /(?:^|[\s;:(])([45])[0-7]\d(?=[\s-])/.exec(text)?.[1];
  return reply === undefined ? null : `${reply}.0.0`;
}
