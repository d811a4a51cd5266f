import test from 'ava';
import { classifyInbound } from './classify.ts';
import { failedFields, plain, standard } from './fixtures/report.ts';
import { parseInbound } from './parse.ts';
import { providerAnswer } from './provider-answers.ts';

/**
 * One example response for each provider rule. The reason is null if the words alone, without the name of the server,
 * are not clear.
 */
const EXAMPLES: readonly (readonly [host: string, words: string, reason: string | null])[] = [
  ['ezweb.ne.jp', '550 : User unknown', 'unconfirmed'],
  ['au.com', '550 <ann@au.com>: User unknown', 'unknown_user'],
  ['mail.ru', '550 Local mailbox ann@mail.ru is unavailable: user not found', 'unknown_user'],
  ['mx.facebook.com', '550 5.1.1 RCP-P1 http://postmaster.facebook.com/', 'unknown_user'],
  ['mx.facebook.com', '550 5.1.1 RCP-P3 http://postmaster.facebook.com/', 'unconfirmed'],
  ['mx.email.ua', '550 5.1.1 (see http://mail.i.ua/err/2/)', 'unknown_user'],
  ['mx.email.ua', '550 5.1.1 (see http://mail.i.ua/err/3/)', 'disabled'],
  ['smtp-in.orange.fr', '550 5.1.1 Adresse invalide. OFR_416 [416]', 'unknown_user'],
  ['smtp-in.laposte.net', '550 5.2.1 Boite archivee. LPN007_420', 'disabled'],
  ['mx1.mail.icloud.com', '550 unknown or illegal alias: ann@me.com', 'unknown_user'],
  ['mx1.mail.icloud.com', '550 recipient no longer on server', 'moved'],
  ['mx.cox.net', '550 #5.1.0 Address rejected - recipient rejected', 'unknown_user'],
  ['smtp.secureserver.net', '550 recipient not found', 'unknown_user'],
  ['server-1.messagelabs.com', '542 ann@b.example Rejected', 'unknown_user'],
  ['mail.messagelabs.com', '550 ann@b.example... No such user', 'unknown_user'],
  [
    'eu-smtp-1.mimecast.com',
    '550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550',
    'unknown_user',
  ],
  ['mx1.hotmail.com', '550 Requested action not taken: mailbox unavailable', 'unknown_user'],
  ['mta7.am0.yahoodns.net', "554 delivery error: dd This user doesn't have a yahoo.com account", 'unknown_user'],
  [
    'rly-1.mx.aol.com',
    'Name service error for name=b.example type=MX: Malformed or unexpected name server reply',
    'refuses_all_mail',
  ],
  ['mx.b.example', '550 Requested action not taken: mailbox unavailable', null],
  ['mx.b.example', '550 : User unknown', null],
  ['nothotmail.com', '550 Requested action not taken: mailbox unavailable', null],
];

test('what providers mean by words of their own', (t) => {
  for (const [host, words, reason] of EXAMPLES)
    t.is(providerAnswer([host], words), reason as never, `${host}: ${words}`);
});

async function readingOf(raw: string): Promise<string> {
  const found = classifyInbound(await parseInbound(Buffer.from(raw)), {}, new Date('2026-11-20T12:00:00Z'));
  return found.kind === 'bounce' ? `${found.bounceType} ${found.recipients[0]?.refusal?.reason}` : found.kind;
}

test('reports of systems that look like no one else', async (t) => {
  const words = '550 <ann@b.example>... No such user';
  const noCommand = standard('MessageLabs', 'gone', 'Not delivered.', failedFields('5.0.0', `smtp; ${words}`));
  t.is(await readingOf(noCommand.raw), 'soft unconfirmed');
  t.is(await readingOf(noCommand.raw.replace('dns; mx.our.example', 'dns; s1.messagelabs.com')), 'hard unknown_user');
  t.is(await readingOf(noCommand.raw.replace('mx.b.example', 'cluster1.eu.messagelabs.com')), 'hard unknown_user');
  const known = standard('Postfix', 'gone', 'Not delivered.', failedFields('5.1.1', `smtp; ${words}`));
  t.is(await readingOf(known.raw), 'hard unknown_user');
  t.is(await readingOf(known.raw.replace('\n', '\nX-SPASIGN: NG\n')), 'soft spam');
  t.is(await readingOf(known.raw.replace('Action: failed', 'Action: relayed')), 'hard unknown_user');
});

test('a failure is announced also by an author that is no mail system', async (t) => {
  const body =
    'Error: 550 - Requested action not taken: no such user here\n\nMessage details:\n  RCPT TO: ann@b.example\n';
  const head = { from: 'sysadmin@pix.b.example', subject: 'Undeliverable Message' };
  const report = plain('carrier', 'failed', head, body).raw.replace('Return-Path: <>\n', '');
  t.is(await readingOf(report), 'hard unknown_user');
  t.is(await readingOf(report.replace('Error: 550 - Requested', 'We requested').replace('RCPT TO:', 'Ask')), 'reply');
  t.is(await readingOf(report.replace('Subject: ', 'Subject: Fwd: ')), 'reply');
});

test('a notification of Amazon SES, wrapped by sendmail and as a published event', async (t) => {
  const event = JSON.stringify({
    notificationType: 'Bounce',
    bounce: {
      bounceType: 'Permanent',
      bouncedRecipients: [
        { emailAddress: 'ann@b.example', status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 user unknown' },
      ],
    },
  });
  const head = { from: 'no-reply@sns.amazonaws.com', subject: 'AWS Notification Message' };
  t.is(await readingOf(plain('SES', 'gone', head, event).raw), 'hard unknown_user');
  t.is(
    await readingOf(plain('SES', 'gone', head, event.replace('"bounceType', '!\n "bounceType')).raw),
    'hard unknown_user',
  );
  t.is(
    await readingOf(plain('SES', 'gone', head, event.replace('notificationType', 'eventType')).raw),
    'hard unknown_user',
  );
});
