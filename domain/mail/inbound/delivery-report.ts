import { addressesIn, fieldValue, messageIdsIn, parseFields } from './fields.ts';
import type { Fields } from './fields.ts';
import type { InboundMessage } from './parse.ts';
import type { BounceType, Refusal } from './refusal.ts';

export type DsnAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';

/** Delivery result of one recipient (RFC 3464, section 2.3). */
export interface DsnRecipient {
  /** Lower-cased address that the report is about. */
  readonly finalRecipient: string;
  /**
   * Lower-cased address to which the email was sent, if reported. It differs from the final address if the email was
   * forwarded.
   */
  readonly originalRecipient: string | null;
  readonly action: DsnAction;
  /** RFC 3463 status, such as `5.1.1`. Taken from the diagnostic text if the report has only a generic status. */
  readonly status: string | null;
  readonly diagnosticCode: string | null;
  readonly remoteMta: string | null;
  /** Cause of the refusal, from which the bounce type follows. Null unless the action is `failed`. */
  readonly refusal: Refusal | null;
  readonly bounceType: BounceType | null;
}

/** A delivery status notification, in its standard form or read from prose. */
export interface DeliveryReport {
  readonly source: 'rfc3464' | 'text';
  readonly reportingMta: string | null;
  readonly recipients: readonly DsnRecipient[];
  /** Message-ID of the message that the report is about. */
  readonly originalMessageId: string | null;
}

/** Media types of parts that contain the returned message or its headers. */
const RETURNED = /^(?:message\/(?:rfc822|global)|text\/rfc822)(?:-headers)?$/;

const BOUNCE_AUTHORS =
  /^(?:mail(?:er)?-?daemon|post_?master|mail\.delivery\.system|postoffice|mail-?delivery|bounces?|microsoftexchange[0-9a-f]+)(?:[+.-][^@]*)?(?:@|$)/;
const SMTP_ENVELOPE = /^\s{0,8}mail from:.{1,320}\r?\n\s{0,8}rcpt to:/im;
const BOUNCE_NAMES =
  /mail[- ]?deliver|mailer[- ]?daemon|mail administrator|^postmaster|^microsoft outlook$|delivery (?:sub)?system/i;

/**
 * Returns true if the author is a mail system, by address or name. If the subject begins with "Re:", a person may have
 * answered from such an address, so the text must also contain an SMTP envelope.
 */
export function writtenByMailSystem(message: InboundMessage): boolean {
  if (/^(?:re|aw|sv|rv|ref|odp|antw|r|fwd?|wg|tr)\s?:/i.test(message.subject))
    return (
      message.from !== null && BOUNCE_AUTHORS.test(message.from) && SMTP_ENVELOPE.test(message.text.slice(0, 4000))
    );
  // Only mail systems send messages without an author's address.
  if (message.from === null) return true;
  return BOUNCE_AUTHORS.test(message.from) || BOUNCE_NAMES.test(message.fromName);
}

/** Returns true if a machine sent the message for a mail system: null sender, or an author that is a mail system. */
export function fromMailSystem(message: InboundMessage): boolean {
  return message.returnPath === '' || writtenByMailSystem(message);
}

/** Returns true if mailing list software wrote the message (fml, ezmlm, majordomo, Mailman, LISTSERV). */
export function fromListManager(message: InboundMessage): boolean {
  const { headers, from } = message;
  const isKeeper = /(?:-(?:admin|request|owner|bounces|ctl|help)|^(?:majordomo|listserv|ezmlm|sympa|mailman)[^@]*)@/;
  return (
    headers['x-mlserver'] !== undefined || (headers['x-mailman-version'] !== undefined && isKeeper.test(from ?? ''))
  );
}

/**
 * Returns the Message-ID of the returned message, from its copy or headers, or from the report's own fields.
 * @param fields per-message fields of the report, where some systems put the id
 */
export function returnedMessageId(message: InboundMessage, fields?: Fields): string | null {
  for (const part of message.reports) {
    if (!RETURNED.test(part.contentType)) continue;
    const id = messageIdsIn(fieldValue(parseFields(part.body), 'message-id'))[0];
    if (id !== undefined) return id;
  }
  const stated = ['original-message-id', 'x-original-message-id', 'message-id'].map((name) =>
    fields ? fieldValue(fields, name) : null,
  );
  return stated.flatMap((value) => messageIdsIn(value))[0] ?? null;
}

/** Returns the addressees of the returned message, lower-cased. Empty if the report does not contain it. */
export function returnedRecipients(message: InboundMessage): string[] {
  for (const part of message.reports) {
    if (!RETURNED.test(part.contentType)) continue;
    const to = fieldValue(parseFields(part.body), 'to');
    if (to !== null) return addressesIn(to.slice(0, 2000));
  }
  return [];
}
