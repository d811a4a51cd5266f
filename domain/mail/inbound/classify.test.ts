import { readdirSync } from 'node:fs';
import test from 'ava';
import { classifyInbound } from './classify.ts';
import type { InboundClassification } from './classify.ts';
import { fixture } from './fixtures/load.ts';

const RECEIVED = new Date('2026-11-20T10:00:00Z');
const OURS = '<step-1.7f3a@mail.example.com>';

/** Summarizes a classification: its kind, the deciding facts, and its thread. */
function summary(found: InboundClassification): string {
  switch (found.kind) {
    case 'bounce': {
      const each = found.recipients.map(({ finalRecipient, status }) => `${finalRecipient} ${status}`);
      return `bounce ${found.bounceType} ${found.source}: ${each.join(', ')}`;
    }
    case 'complaint':
      return `complaint ${found.feedbackType} ${found.recipient}`;
    case 'out_of_office':
      return `out_of_office ${found.returnDate?.toISOString().slice(0, 10) ?? 'open'}`;
    case 'automated':
      return `automated ${found.reason}${found.unsubscribeRequest ? ' unsubscribe' : ''}`;
    case 'reply':
      return `reply ${found.intent}${found.unsubscribeRequest ? ' unsubscribe' : ''}`;
  }
}

const EXPECTED: Readonly<Record<string, string>> = {
  'postfix-user-unknown': 'bounce hard rfc3464: bob@example.org 5.1.1',
  'postfix-delayed': 'automated delivery_delayed',
  'postfix-text-only': 'bounce soft text: bob@example.org 5.2.2',
  'office365-recipient-not-found': 'bounce hard rfc3464: bob@example.org 5.1.10',
  'exchange-text-german': 'bounce hard text: bob@example.org 5.1.1',
  'gmail-address-not-found': 'bounce hard rfc3464: bob@example.org 5.1.1',
  'gmail-delay-text': 'automated delivery_delayed',
  'qmail-no-mailbox': 'bounce hard text: bob@example.org 5.1.1, carol@example.org 4.2.2',
  'exim-unrouteable': 'bounce hard text: bob@example.org null',
  'exim-spam-rejected': 'bounce soft rfc3464: bob@example.org 5.7.1',
  'ses-bounce': 'bounce soft rfc3464: bob@example.org 5.7.1',
  'arf-abuse': 'complaint abuse bob@example.org',
  'arf-not-spam': 'automated feedback_report',
  'vacation-gmail': 'out_of_office 2026-12-07',
  'vacation-outlook-german': 'out_of_office 2026-12-05',
  'vacation-sieve-polish': 'out_of_office 2026-12-01',
  'auto-ticket-received': 'automated auto_reply',
  'auto-left-company': 'automated auto_reply',
  'read-receipt': 'automated read_receipt',
  'unsubscribe-mailto': 'automated auto_generated unsubscribe',
  'reply-top-posted-gmail': 'reply positive',
  'reply-bottom-posted': 'reply negative',
  'reply-outlook-german': 'reply negative',
  'reply-html-only': 'reply question',
  'reply-unsubscribe-french': 'reply negative unsubscribe',
  'reply-quoting-bounce': 'reply question',
  'reply-forwarding-bounce': 'reply neutral',
  'reply-postmaster-person': 'reply neutral',
  'reply-on-vacation-person': 'reply out_of_office',
};

test('every fixture has an expectation', (t) => {
  const files = readdirSync(new URL('./fixtures/', import.meta.url)).filter((name) => name.endsWith('.eml'));
  t.deepEqual(files.map((name) => name.slice(0, -4)).toSorted(), Object.keys(EXPECTED).toSorted());
});

for (const [name, expected] of Object.entries(EXPECTED)) {
  test(`classifies ${name}`, async (t) => {
    const found = classifyInbound(await fixture(name), {}, RECEIVED);
    t.is(summary(found), expected);
    t.is(found.threadIds[0], name === 'unsubscribe-mailto' ? undefined : OURS);
  });
}

test('thread candidates: the returned message, then In-Reply-To, then References from the newest', async (t) => {
  const bounce = await fixture('postfix-user-unknown');
  const references = ['<a@example.com>', '<b@example.com>', '<c@example.com>'];
  const message = { ...bounce, inReplyTo: '<b@example.com>', references };
  t.deepEqual(classifyInbound(message, {}, RECEIVED).threadIds, [
    OURS,
    '<b@example.com>',
    '<c@example.com>',
    '<a@example.com>',
  ]);
});

test('a bounce keeps the address the sender knows beside the one that failed', async (t) => {
  const found = classifyInbound(await fixture('postfix-user-unknown'), {}, RECEIVED);
  t.like(found.kind === 'bounce' ? found.recipients[0] : null, {
    originalRecipient: 'bob@example.org',
    action: 'failed',
    remoteMta: 'mail.example.org',
    diagnosticCode: '550 5.1.1 <bob@example.org>: Recipient address rejected: User unknown in virtual mailbox table',
  });
});

test('a complaint carries who reported it and when the mail arrived', async (t) => {
  t.like(classifyInbound(await fixture('arf-abuse'), {}, RECEIVED), {
    userAgent: 'SomeGenerator/1.0',
    arrivalDate: new Date('2026-11-20T08:00:20Z'),
  });
});

test('return dates start in the given time zone', async (t) => {
  const found = classifyInbound(await fixture('vacation-gmail'), {}, RECEIVED, 'America/New_York');
  t.is(found.kind === 'out_of_office' ? found.returnDate?.toISOString() : '', '2026-12-07T05:00:00.000Z');
});

test('out_of_office_keywords change the recorded intent of automatic mail, never its kind', async (t) => {
  const settings = { out_of_office_keywords: ['two working days'] };
  const found = classifyInbound(await fixture('auto-ticket-received'), settings, RECEIVED);
  t.like(found, { kind: 'automated', intent: 'out_of_office' });
});

test('reply intent switched off records none, and still sees the request to leave', async (t) => {
  const found = classifyInbound(await fixture('reply-unsubscribe-french'), { enabled: false }, RECEIVED);
  t.like(found, { kind: 'reply', intent: null, confidence: 0, unsubscribeRequest: true });
});

test('an away message from the null sender that repeats a subject about bounces is no bounce', async (t) => {
  const vacation = await fixture('vacation-gmail');
  const message = {
    ...vacation,
    subject: 'Re: Delivery failure rates in your warehouse',
    headers: {},
    text: 'I am out of the office until 3 December.\n\nUrgent? Write to:\ncarol@example.org\n',
  };
  t.like(classifyInbound(message, {}, RECEIVED), { kind: 'out_of_office' });
});

test('a report from a mail system that cannot be read is never a human reply', async (t) => {
  const bounce = await fixture('qmail-no-mailbox');
  const message = { ...bounce, subject: 'Zprava', text: 'Zpravu nelze dorucit.' };
  t.like(classifyInbound(message, {}, RECEIVED), { kind: 'automated', reason: 'mail_system' });
});
