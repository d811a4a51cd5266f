import { returnedMessageId, returnedRecipients, writtenByMailSystem } from './delivery-report.ts';
import type { DeliveryReport, DsnRecipient } from './delivery-report.ts';
import { addressesIn, messageIdsIn } from './fields.ts';
import type { InboundMessage } from './parse.ts';
import { anyOf } from './patterns.ts';
import { bounceTypeOf } from './refusal.ts';
import { bestStatus } from './smtp-words.ts';
import { proseOf, readRefusal, sectionFor } from './report-words.ts';

/**
 * This file reads bounces without the parts of RFC 3464: qmail, older Exim, Exchange and Postfix, mail appliances, and
 * the text form of Gmail's bounces. The caller must have checked that a mail system wrote the message.
 */

const FAILURE_SUBJECT = anyOf(
  [
    String.raw`undeliver(?:able|ed)|mail delivery failed`,
    String.raw`^delivery status notification(?!.{0,5}(?:delay|warning))`,
    String.raw`delivery (?:status notification )?\(?fail|failed delivery|failure delivery|mail failed`,
    String.raw`delivery failure|failure notice|returned mail|mail (?:system )?error`,
    String.raw`message (?:not delivered|undeliverable|delivery failure|you sent blocked)|mail failure|error sending your mail`,
    String.raw`non[- ]?delivery|delivery (?:has failed|error|problem)|address not found`,
    String.raw`could not (?:be delivered|send message)|unzustellbar`,
    String.raw`zustellung (?:fehlgeschlagen|nicht möglich)|nicht zugestellt|non remis|échec de la remise`,
    String.raw`non distribuable|no se puede entregar|no entregado|devuelto|non recapitabile`,
    String.raw`mancato recapito|não é possível entregar|não entregue|onbestelbaar|niedostarczalne`,
    String.raw`nie można dostarczyć|nem kézbesíthető|kézbesíthetetlen|не доставлен|недоставлен|невозможно доставить|не вдалося доставити|teslim edilemedi`,
    String.raw`nedoručiteln|kunne ikke leveres|kan ikke leveres|kunde inte levereras|olevererbart|perille toimittamaton|ei voitu toimittaa|配信できません|配信に失敗|送信できませんでした|不達|配達不能|退信|无法投递|無法投遞|投递失败`,
  ],
  'i',
);
const FAILURE_OPENING = anyOf(
  [
    String.raw`this is the qmail-send program|this is the mail system at`,
    String.raw`message was created automatically by mail delivery software`,
    String.raw`delivery[^.\n]{0,60}has failed|delivery[^.\n]{0,60}could ?n[o']t be delivered`,
    String.raw`delivery[^.\n]{0,60}was ?n[o']t delivered`,
    String.raw`delivery[^.\n]{0,60}(?:could|was|can) ?not (?:be )?delivered`,
    String.raw`your message[^.\n]{0,60}has failed|your message[^.\n]{0,60}could ?n[o']t be delivered`,
    String.raw`your message[^.\n]{0,60}was ?n[o']t delivered`,
    String.raw`your message[^.\n]{0,60}(?:could|was|can) ?not (?:be )?delivered|(?:could|can) ?not be delivered (?:to|because|for)`,
    String.raw`you are not (?:a )?(?:member|subscribe[rd])|not allowed to post|your (?:post|posting|message)[^.\n]{0,60} (?:has been|was) (?:automatically )?rejected`,
    String.raw`had permanent fatal errors|delivery to the following recipients? (?:has )?failed`,
    String.raw`couldn['’]t be delivered|(?:unable|(?:not|n['’]t) able|failed) to deliver (?:your |the |this )?(?:message|mail|e-?mail)|(?:could|can) ?not deliver (?:your|the|this) (?:message|mail)|-{3,} ?failure reasons|has been returned (?:to you )?because|(?:message|mail) (?:is|was) undeliverable|delivery failed[;:]`,
    String.raw`did not reach the following recipient|there was an error delivering your (?:mail|message)`,
    String.raw`error has occurred while attempting to deliver|recipient addresses that were incorrectly constructed`,
    String.raw`trouble delivering your message|addresses had (?:permanent )?(?:fatal |delivery )(?:errors|problems)`,
  ],
  'i',
);
/**
 * Subject beginnings that only a mail system uses, regardless of the From header. An away message is not matched,
 * because it puts its own words before our subject.
 */
const FAILURE_START =
  /^(?:\[bounce\]|there was an error sending your mail|mail could not be delivered|notice: mail delivery status|undeliver(?:able|ed)|delivery (?:failure|status notification)|delivery notification: delivery has failed|returned mail|failure notice|mail delivery (?:failed|failure|error)|non-?delivery|unzustellbar)/i;
const DELAY = anyOf(
  [
    String.raw`delivery status notification.{0,5}(?:delay|warning)|delayed \d+ hours?`,
    String.raw`delay(?:ed)? (?:mail|message|notification)`,
    String.raw`(?:mail|message|delivery) (?:is )?(?:still )?(?:being )?delayed`,
    String.raw`warning: (?:message|could not send|mail)|will (?:be retried|retry|keep trying)`,
    String.raw`you do not need to (?:resend|take any action)|no action is required on your part`,
  ],
  'i',
);
const NEVER_RECIPIENTS = /^(?:mailer-?daemon|postmaster)@/;
const LEADING_ADDRESS =
  /^[\s<"'*(]{0,20}(?:(?:(?:rcpt )?to|recipient|address|e-?mail)\s?:\s?)?<?([^\s<>]{1,64}@[^\s<>]{1,254})/i;
const MAX_RECIPIENTS = 50;
/** A server's answer in a form that a person is unlikely to write: a 5xx reply code followed by words or a status. */
const REFUSAL =
  /(?:^|[\s:;"'[(<])5[0-5]\d(?:[ -]#?5\.\d\.\d{1,3}\b|[ -][^\n]{0,60}(?:user|recipient|mailbox|address|denied|reject))/im;

/**
 * Returns true if a message announces a failed delivery in a form that only programs use, regardless of the From
 * header. Requires a known subject, and a refusal or a usual beginning in the text.
 */
export function announcesFailure({ subject, text, headers }: InboundMessage): boolean {
  if (headers['x-failed-recipients'] !== undefined) return true;
  const words = proseOf(text);
  const opens = FAILURE_OPENING.test(words.slice(0, 2000));
  if (FAILURE_START.test(subject) && (opens || REFUSAL.test(words) || /^\s{0,8}error: /im.test(words))) return true;
  const submitted = headers['auto-submitted'] ?? 'no';
  return opens && /^auto-generated/i.test(submitted) && FAILURE_SUBJECT.test(subject);
}

/** Reads a bounce written as prose. Returns null if the message is not worded as a bounce. */
export function parseTextBounce(message: InboundMessage): DeliveryReport | null {
  const stated = message.headers['x-failed-recipients'];
  const words = proseOf(message.text);
  // A null sender proves nothing: away messages have it too, and they repeat our subject, which may contain words of a
  // failure.
  const announced =
    writtenByMailSystem(message) &&
    (FAILURE_SUBJECT.test(message.subject) || DELAY.test(message.subject) || REFUSAL.test(words));
  if (!stated && !announced && !FAILURE_START.test(message.subject) && !FAILURE_OPENING.test(words.slice(0, 2000)))
    return null;
  const listed = stated ? addressesIn(stated, MAX_RECIPIENTS) : recipientsIn(words, message);
  if (listed.length === 0) return null;
  const delayed = isDelay(message.subject, words);
  return {
    source: 'text',
    reportingMta: null,
    recipients: listed.map((address) => describe(address, listed, words, delayed)),
    originalMessageId: returnedMessageId(message) ?? quotedMessageId(message.text),
  };
}

function isDelay(subject: string, words: string): boolean {
  if (DELAY.test(subject)) return true;
  if (FAILURE_SUBJECT.test(subject) || /permanent|failed|giv(?:en|ing) up/i.test(words)) return false;
  return DELAY.test(words);
}

function describe(address: string, all: readonly string[], words: string, delayed: boolean): DsnRecipient {
  const section = sectionFor(address, all, words);
  const prose = all.length === 1 ? words : section;
  const refusal = delayed ? null : readRefusal({ recipient: address, reported: null, diagnostic: '', section, prose });
  return {
    finalRecipient: address,
    originalRecipient: null,
    action: delayed ? 'delayed' : 'failed',
    status: bestStatus(null, section) ?? bestStatus(null, prose),
    diagnosticCode: section === '' ? null : section.replace(/\s+/g, ' ').trim().slice(0, 1000),
    remoteMta: null,
    refusal,
    bounceType: refusal && bounceTypeOf(refusal),
  };
}

/**
 * Returns the recipients named in the text: addresses at the start of a line. Without any, returns one elsewhere in the
 * text. Otherwise returns the only recipient of the returned message.
 */
function recipientsIn(words: string, message: InboundMessage): string[] {
  const own = new Set([...message.to, message.from ?? '']);
  const eligible = (address: string): boolean => !own.has(address) && !NEVER_RECIPIENTS.test(address);
  const leading = words.split('\n').flatMap((line) => {
    const start = LEADING_ADDRESS.exec(line)?.[1];
    return start === undefined ? [] : addressesIn(start, 1);
  });
  const listed = [...new Set(leading)].filter(eligible);
  if (listed.length > 0) return listed.slice(0, MAX_RECIPIENTS);
  const found = addressesIn(words, MAX_RECIPIENTS).filter(eligible).slice(0, 1);
  if (found.length > 0) return found;
  const returned = returnedRecipients(message).filter(eligible);
  // No other address is left, because a person wrote to their own address, or the report names only the sender and its
  // own author.
  if (returned.length === 1) return returned;
  return [...new Set([...leading, ...addressesIn(words, MAX_RECIPIENTS)])].slice(0, 1);
}

function quotedMessageId(text: string): string | null {
  const line = /^[>\s]{0,20}(?:original[ -])?message-id\s?:\s{0,4}(<[^<>\s]{1,990}>)/im.exec(text)?.[1];
  return messageIdsIn(line)[0] ?? null;
}
