import { bestStatus, bounceType } from './bounce-class.ts';
import { parseTextBounce } from './bounce-text.ts';
import { fromMailSystem, returnedMessageId } from './delivery-report.ts';
import type { DeliveryReport, DsnAction, DsnRecipient } from './delivery-report.ts';
import { addressInField, fieldValue, parseFields } from './fields.ts';
import type { Fields } from './fields.ts';
import type { InboundMessage } from './parse.ts';

const MAX_RECIPIENTS = 100;
const ACTIONS: ReadonlySet<string> = new Set(['failed', 'delayed', 'delivered', 'relayed', 'expanded']);

/**
 * Reads the delivery report in a message: RFC 3464 first, then the known prose formats. Null when there is
 * none.
 */
export function parseDsn(message: InboundMessage): DeliveryReport | null {
  return parseStandardDsn(message) ?? (fromMailSystem(message) ? parseTextBounce(message) : null);
}

function parseStandardDsn(message: InboundMessage): DeliveryReport | null {
  // A person may forward a bounce; the parts of that are inside a message of another type and author.
  if (message.contentType !== 'multipart/report' && !fromMailSystem(message)) return null;
  const part = message.reports.find((each) => /^message\/(?:global-)?delivery-status$/.test(each.contentType));
  if (!part) return null;
  const groups = part.body.split(/\r?\n[ \t]*(?:\r?\n)+/).map(parseFields);
  const recipients = groups.flatMap((group) => readRecipient(group) ?? []).slice(0, MAX_RECIPIENTS);
  if (recipients.length === 0) return null;
  const first = groups[0] ?? new Map();
  const reporter = fieldValue(first, 'reporting-mta');
  return {
    source: 'rfc3464',
    reportingMta: reporter === null ? null : afterType(reporter),
    recipients,
    originalMessageId: returnedMessageId(message, first),
  };
}

function readRecipient(fields: Fields): DsnRecipient | null {
  const original = addressInField(fieldValue(fields, 'original-recipient'));
  const final = addressInField(fieldValue(fields, 'final-recipient')) ?? original;
  if (final === null) return null;
  const diagnostic = fieldValue(fields, 'diagnostic-code');
  const words = diagnostic ?? '';
  const remote = fieldValue(fields, 'remote-mta');
  const status = bestStatus(fieldValue(fields, 'status'), words);
  const action = readAction(fieldValue(fields, 'action'), status);
  return {
    finalRecipient: final,
    originalRecipient: original,
    action,
    status,
    diagnosticCode: diagnostic === null ? null : afterType(diagnostic),
    remoteMta: remote === null ? null : afterType(remote),
    bounceType: action === 'failed' ? bounceType(status, words) : null,
  };
}

function readAction(value: string | null, status: string | null): DsnAction {
  const word = /^[a-z]+/.exec(value?.toLowerCase() ?? '')?.[0] ?? '';
  if (ACTIONS.has(word)) return word as DsnAction;
  if (status?.startsWith('2')) return 'delivered';
  return status?.startsWith('4') ? 'delayed' : 'failed';
}

/** Drops the type of a typed field (`smtp; 550 …`), and bounds what is left. */
function afterType(value: string): string {
  return value.replace(/^[a-z0-9_-]{1,20}\s?;\s{0,10}/i, '').slice(0, 1000);
}
