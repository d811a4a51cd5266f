import { deflateRawSync } from 'node:zlib';
import { json } from '../../db/connection.ts';
import { newId } from '../../lib/ids.ts';
import type { TestDeps } from './database.ts';

/** Sent email to which the messages below refer. */
export interface Original {
  messageId: string;
  from: string;
  to: string;
}

/** Creates a sent email directly in the database. */
export async function createSend(
  deps: TestDeps,
  organizationId: string,
  fields: {
    campaignId: string;
    enrollmentId: string;
    stepId?: string;
    contactId: string;
    mailboxId: string;
    recipient: string;
  },
  more: Record<string, unknown> = {},
): Promise<{ id: string; messageId: string }> {
  const id = newId();
  const now = deps.clock.now();
  const messageId = `<${id}@ours.test>`;
  await deps.db('sends').insert({
    id,
    organization_id: organizationId,
    campaign_id: fields.campaignId,
    enrollment_id: fields.enrollmentId,
    step_id: fields.stepId ?? newId(),
    contact_id: fields.contactId,
    mailbox_id: fields.mailboxId,
    state: 'sent',
    recipient: fields.recipient,
    message_id: messageId,
    subject: 'Hello',
    conversation: json({ subject: 'Hello', messageIds: [messageId] }),
    slot_at: now,
    slot_day: now.toISOString().slice(0, 10),
    sent_at: now,
    created_at: now,
    updated_at: now,
    ...more,
  });
  return { id, messageId };
}

/** Stores the content of a sent email, like the claim of an email does. */
export async function storeSentContent(
  deps: TestDeps,
  organizationId: string,
  { id, from, to }: { id: string; from: string; to: string },
  written: { subject: string; text: string; html?: string },
): Promise<void> {
  const headers = { from, fromName: '', replyTo: '', to: [to], cc: [], bcc: [] };
  await deps.db('sent_contents').insert({
    send_id: id,
    organization_id: organizationId,
    packed: deflateRawSync(JSON.stringify({ ...headers, written: { html: null, ...written } })),
    created_at: deps.clock.now(),
  });
}

/** Creates an email with a slot that is not sent yet. */
export async function createReservedSend(
  deps: TestDeps,
  organizationId: string,
  fields: Omit<Parameters<typeof createSend>[2], 'recipient'>,
): Promise<string> {
  const unsent = { state: 'reserved', message_id: null, sent_at: null };
  return (await createSend(deps, organizationId, { ...fields, recipient: 'x@lead.test' }, unsent)).id;
}

function crlf(lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join('\r\n')}\r\n`);
}

/** Returns a person's reply. */
export function replyTo(
  original: Original,
  words: string,
  fields: { from?: string; subject?: string; messageId?: string; headers?: readonly string[] } = {},
): Buffer {
  return crlf([
    `From: Lea Lead <${fields.from ?? original.to}>`,
    `To: ${original.from}`,
    ...(fields.headers ?? []),
    `Subject: ${fields.subject ?? 'Re: Hello'}`,
    `Message-ID: ${fields.messageId ?? `<${newId()}@lead.test>`}`,
    `In-Reply-To: ${original.messageId}`,
    `References: ${original.messageId}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    words,
  ]);
}

/** Returns an out-of-office reply. */
export function awayMessage(original: Original, words: string): Buffer {
  return crlf([
    `From: Lea Lead <${original.to}>`,
    `To: ${original.from}`,
    'Subject: Automatic reply: Hello',
    'Auto-Submitted: auto-replied',
    `Message-ID: <${newId()}@lead.test>`,
    `In-Reply-To: ${original.messageId}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    words,
  ]);
}

/** Returns a delivery status notification (RFC 3464). */
export function bounceOf(original: Original, status: string, recipient: string = original.to): Buffer {
  return crlf([
    'Return-Path: <>',
    'From: MAILER-DAEMON@mx.lead.test (Mail Delivery System)',
    `To: ${original.from}`,
    'Subject: Undelivered Mail Returned to Sender',
    'Auto-Submitted: auto-replied',
    `Message-ID: <${newId()}@mx.lead.test>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'Your message could not be delivered.',
    '',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.lead.test',
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    'Action: failed',
    `Status: ${status}`,
    `Diagnostic-Code: smtp; 550 ${status} refused`,
    '',
    '--b',
    'Content-Type: text/rfc822-headers',
    '',
    `From: ${original.from}`,
    `To: ${original.to}`,
    `Message-ID: ${original.messageId}`,
    'Subject: Hello',
    '',
    '--b--',
  ]);
}

/** Returns a feedback report (RFC 5965). */
export function complaintAbout(original: Original): Buffer {
  return crlf([
    'From: <fbl@provider.test>',
    `To: ${original.from}`,
    'Subject: FW: Hello',
    `Message-ID: <${newId()}@provider.test>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'This is an email abuse report.',
    '',
    '--b',
    'Content-Type: message/feedback-report',
    '',
    'Feedback-Type: abuse',
    'User-Agent: Test/1.0',
    'Version: 1',
    `Original-Rcpt-To: <${original.to}>`,
    '',
    '--b',
    'Content-Type: message/rfc822',
    '',
    `From: ${original.from}`,
    `To: ${original.to}`,
    `Message-ID: ${original.messageId}`,
    'Subject: Hello',
    '',
    'Hi',
    '',
    '--b--',
  ]);
}
