import { announcesFailure, parseTextBounce } from './bounce-text.ts';
import { fromListManager, fromMailSystem, returnedMessageId, returnedRecipients } from './delivery-report.ts';
import type { DeliveryReport, DsnAction, DsnRecipient } from './delivery-report.ts';
import { addressInField, fieldValue, parseFields } from './fields.ts';
import type { Fields } from './fields.ts';
import type { InboundMessage } from './parse.ts';
import { bounceTypeOf, refusalFor } from './refusal.ts';
import { proseOf, readRefusal, sectionFor } from './report-words.ts';
import { bestStatus } from './smtp-words.ts';

const MAX_RECIPIENTS = 100;
const ACTIONS: ReadonlySet<string> = new Set(['failed', 'delayed', 'delivered', 'relayed', 'expanded']);

/**
 * Parses the delivery report in a message: RFC 3464 first, then the known prose formats. Returns null if the message is
 * not a report.
 */
export function parseDsn(message: InboundMessage): DeliveryReport | null {
  const report = readDsn(message);
  return report !== null && /^ng$/i.test(message.headers['x-spasign']?.trim() ?? '') ? filtered(report) : report;
}

/**
 * Sets the refusal to `spam`, because KDDI reported that the recipient's spam settings caused it. This takes precedence
 * over the server's answer.
 */
function filtered(report: DeliveryReport): DeliveryReport {
  const refusal = refusalFor('spam');
  const recipients = report.recipients.map((each): DsnRecipient =>
    each.action === 'failed' ? { ...each, refusal, bounceType: bounceTypeOf(refusal) } : each,
  );
  return { ...report, recipients };
}

function readDsn(message: InboundMessage): DeliveryReport | null {
  const byMachine = fromMailSystem(message) || fromListManager(message) || announcesFailure(message);
  const found = parseStandardDsn(message) ?? (byMachine ? parseTextBounce(message) : null);
  if (found !== null || message.rawBody === '' || !byMachine) return found;
  // Searches the undecoded body too, because wrong boundaries or content types can hide parts from the MIME parser.
  const asItCame = { ...message, text: message.rawBody };
  return parseStandardDsn(asItCame) ?? parseTextBounce(asItCame);
}

function parseStandardDsn(message: InboundMessage): DeliveryReport | null {
  // Ignores a message that is not a multipart/report, was not written by a mail system and announces no failure. If it
  // contains a report, a person has forwarded a bounce.
  if (message.contentType !== 'multipart/report' && !fromMailSystem(message) && !announcesFailure(message)) return null;
  const part = message.reports.find((each) => /^message\/(?:global-)?delivery-status$/.test(each.contentType));
  const body = part?.body ?? inlineReport(message.text);
  if (body === null) return null;
  const groups = body.split(/\r?\n[ \t]*(?:\r?\n)+/).map(parseFields);
  const returned = returnedRecipients(message);
  const read = groups.flatMap((group) => readRecipient(group, returned) ?? []);
  const recipients = [...new Map(read.toReversed().map((each) => [each.finalRecipient, each])).values()]
    .toReversed()
    .slice(0, MAX_RECIPIENTS);
  if (recipients.length === 0) return null;
  const first = groups[0] ?? new Map();
  const reporter = fieldValue(first, 'reporting-mta');
  const prose = proseOf(message.text);
  const addresses = recipients.map(({ finalRecipient }) => finalRecipient);
  return {
    source: 'rfc3464',
    reportingMta: reporter === null ? null : afterType(reporter),
    recipients: recipients.map((fields) => withRefusal(fields, addresses, prose, reporter)),
    originalMessageId: returnedMessageId(message, first),
  };
}

/** Returns the fields of a report from the text, for a report whose MIME parts were lost. */
function inlineReport(text: string): string | null {
  const start = /^(?:Reporting-MTA|Final-Recipient|Original-Recipient):\s/im.exec(text)?.index;
  return start === undefined || !/^Action:\s/im.test(text) ? null : text.slice(start);
}

type RecipientFields = Omit<DsnRecipient, 'refusal' | 'bounceType'> & { readonly reported: string | null };

function readRecipient(fields: Fields, returned: readonly string[]): RecipientFields | null {
  const original = addressInField(fieldValue(fields, 'original-recipient'));
  // A Final-Recipient field without a domain, or in X.400 form, contains no usable address.
  const named = ['final-recipient', 'x-actual-recipient'].map((name) => addressInField(fieldValue(fields, name)));
  const only = returned.length === 1 && fields.has('final-recipient') ? (returned[0] ?? null) : null;
  const final = named.find((address) => address !== null) ?? original ?? only;
  if (final === null) return null;
  const diagnostic = fieldValue(fields, 'diagnostic-code');
  const remote = fieldValue(fields, 'remote-mta');
  const reported = fieldValue(fields, 'status');
  const status = bestStatus(reported, diagnostic ?? '');
  return {
    finalRecipient: final,
    originalRecipient: original,
    action: readAction(fieldValue(fields, 'action'), status),
    status,
    diagnosticCode: diagnostic === null ? null : afterType(diagnostic),
    remoteMta: remote === null ? null : afterType(remote),
    reported,
  };
}

function withRefusal(
  { reported, ...known }: RecipientFields,
  all: readonly string[],
  prose: string,
  reporter: string | null,
): DsnRecipient {
  if (known.action !== 'failed') return { ...known, refusal: null, bounceType: null };
  const section = sectionFor(known.finalRecipient, all, prose);
  const refusal = readRefusal({
    recipient: known.finalRecipient,
    reported,
    diagnostic: known.diagnosticCode ?? '',
    section,
    prose: all.length === 1 ? prose : section,
    hosts: [known.remoteMta, reporter === null ? null : afterType(reporter)],
  });
  return { ...known, refusal, bounceType: bounceTypeOf(refusal) };
}

function readAction(value: string | null, status: string | null): DsnAction {
  const word = /^[a-z]+/.exec(value?.toLowerCase() ?? '')?.[0] ?? '';
  // A status of class 5 means that the message was not delivered, whatever action is reported.
  if (ACTIONS.has(word) && !(status?.startsWith('5') && word !== 'failed')) return word as DsnAction;
  if (status?.startsWith('2')) return 'delivered';
  return status?.startsWith('4') ? 'delayed' : 'failed';
}

/** Removes the type of a typed field (`smtp; 550 …`) and limits the length of the rest. */
function afterType(value: string): string {
  return value.replace(/^[a-z0-9_-]{1,20}\s?;\s{0,10}/i, '').slice(0, 1000);
}
