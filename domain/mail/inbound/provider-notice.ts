import type { DeliveryReport, DsnRecipient } from './delivery-report.ts';
import { asciiAddress } from '../../../lib/address.ts';
import { messageIdsIn } from './fields.ts';
import type { InboundMessage } from './parse.ts';
import { bounceTypeOf, refusalFor } from './refusal.ts';
import { readRefusal } from './report-words.ts';

/** A notification of Amazon SES, as emailed by Amazon's notification service (SNS). */
interface SesNotice {
  notificationType?: unknown;
  /** Has the values of `notificationType`, which it replaces in published events. */
  eventType?: unknown;
  bounce?: { bounceType?: unknown; bounceSubType?: unknown; bouncedRecipients?: unknown };
  complaint?: { complainedRecipients?: unknown; complaintFeedbackType?: unknown };
  delivery?: { recipients?: unknown };
  mail?: { messageId?: unknown; sourceArn?: unknown; commonHeaders?: { messageId?: unknown }; headers?: unknown };
}

/** Content of the notification, and the Message-IDs that may name the email, the most certain first. */
type ProviderNotice = { messageIds: readonly string[] } & (
  | { kind: 'report'; report: DeliveryReport }
  | { kind: 'complaint'; recipient: string | null; feedbackType: string }
);

const MAX_RECIPIENTS = 50;

/**
 * Reads a bounce, complaint or delivery notification that Amazon SES sends as JSON, directly or wrapped by its
 * notification service. Returns null for any other message.
 */
export function parseProviderNotice(message: InboundMessage): ProviderNotice | null {
  if (
    !message.text.trimStart().startsWith('{') ||
    !/"(?:notification|event)Type\b|\\"(?:notification|event)Type\\"/.test(message.text)
  )
    return null;
  const notice = noticeIn(message.text);
  const type = notice?.notificationType ?? notice?.eventType;
  const messageIds = messageIdsOf(notice?.mail ?? {});
  if (notice !== null && type === 'Complaint') {
    const feedback = notice.complaint?.complaintFeedbackType;
    return {
      kind: 'complaint',
      messageIds,
      recipient: addressesOf(notice.complaint?.complainedRecipients)[0]?.address ?? null,
      feedbackType: typeof feedback === 'string' ? feedback.toLowerCase().slice(0, 50) : 'abuse',
    };
  }
  const recipients =
    notice !== null && type === 'Bounce'
      ? addressesOf(notice.bounce?.bouncedRecipients).map((each) => failed(each, notice.bounce ?? {}))
      : addressesOf(notice?.delivery?.recipients).map(({ address }) => delivered(address));
  if (recipients.length === 0) return null;
  const report = { source: 'rfc3464', reportingMta: null, recipients, originalMessageId: null } as const;
  return { kind: 'report', report, messageIds };
}

/**
 * Returns the Message-ID that we set, and the Message-IDs that SES may have set. Their domain contains the AWS region,
 * except for the first region.
 */
function messageIdsOf({ messageId, sourceArn, commonHeaders, headers }: NonNullable<SesNotice['mail']>): string[] {
  const stated = (Array.isArray(headers) ? headers : []).flatMap((header: { name?: unknown; value?: unknown } | null) =>
    typeof header?.name === 'string' && header.name.toLowerCase() === 'message-id' ? header.value : [],
  );
  const ours = [commonHeaders?.messageId, ...stated].flatMap((id) => (typeof id === 'string' ? messageIdsIn(id) : []));
  if (typeof messageId !== 'string' || !/^[\w-]{1,200}$/.test(messageId)) return ours;
  const region = typeof sourceArn === 'string' ? /^arn:aws[\w-]*:ses:([\w-]+):/.exec(sourceArn)?.[1] : undefined;
  return [...ours, ...['email', ...(region ? [region] : [])].map((name) => `<${messageId}@${name}.amazonses.com>`)];
}

function noticeIn(raw: string): SesNotice | null {
  // Sendmail breaks lines of more than 990 characters, and marks the break with an exclamation mark.
  const text = raw.replace(/!\r?\n[ \t]/g, '');
  // Joins lines that mail systems have wrapped. A continuation line begins with a space.
  const outer =
    parsed(text.replace(/\r?\n(?=[ \t])/g, ' ').replace(/(?<!\s)\s{2,}--\s[\s\S]*$/, '')) ?? parsed(firstObject(text));
  const inner = typeof outer?.Message === 'string' ? parsed(outer.Message) : outer;
  return inner;
}

function firstObject(text: string): string {
  const joined = text.replace(/\r?\n[ \t]?/g, '');
  return joined.slice(0, joined.lastIndexOf('}') + 1);
}

function parsed(json: string): (SesNotice & { Message?: unknown }) | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}

interface Reported {
  address: string;
  status: string | null;
  diagnostic: string;
}

function addressesOf(list: unknown): Reported[] {
  if (!Array.isArray(list)) return [];
  return list.slice(0, MAX_RECIPIENTS).flatMap((each: unknown): Reported[] => {
    const entry: { emailAddress?: unknown; status?: unknown; diagnosticCode?: unknown } =
      typeof each === 'object' && each !== null ? each : { emailAddress: each };
    const text = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 1000) : '');
    const address = asciiAddress(text(entry.emailAddress).replace(/^.*<([^<>]+)>\s*$/, '$1'));
    return address === ''
      ? []
      : [
          {
            address,
            status: text(entry.status) || null,
            diagnostic: text(entry.diagnosticCode).replace(/^smtp;\s*/i, ''),
          },
        ];
  });
}

/**
 * Builds the result of a bounced recipient. Uses the bounce type of SES if the notification has no status and text of a
 * server, as for addresses on the suppression list of SES.
 */
function failed(
  { address, status, diagnostic }: Reported,
  { bounceType, bounceSubType }: NonNullable<SesNotice['bounce']>,
): DsnRecipient {
  const read = readRefusal({ recipient: address, reported: status, diagnostic, section: '', prose: '' });
  const isMute = status === null && diagnostic === '';
  const isGone = isMute && bounceType === 'Permanent' && /^(?:General|NoEmail|Suppressed)$/.test(String(bounceSubType));
  const refusal = isGone
    ? refusalFor('unknown_user')
    : bounceType === 'Transient' && read.class === 'recipient_gone'
      ? refusalFor('unknown')
      : read;
  return {
    ...delivered(address),
    action: 'failed',
    status,
    diagnosticCode: diagnostic || null,
    refusal,
    bounceType: bounceTypeOf(refusal),
  };
}

function delivered(address: string): DsnRecipient {
  return {
    finalRecipient: address,
    originalRecipient: null,
    action: 'delivered',
    status: null,
    diagnosticCode: null,
    remoteMta: null,
    refusal: null,
    bounceType: null,
  };
}
