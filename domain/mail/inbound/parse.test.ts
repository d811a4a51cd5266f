import test from 'ava';
import fc from 'fast-check';
import { classifyInbound } from './classify.ts';
import { fixture } from './fixtures/load.ts';
import { replyIntent } from './intent.ts';
import { htmlToPlain } from './html-text.ts';
import { MAX_TEXT, parseInbound } from './parse.ts';
import { stripQuoted } from './quotes.ts';
import { returnDate } from '../reading/when.ts';

const RECEIVED = new Date('2026-11-20T10:00:00Z');
const message = (head: string, body: string): Buffer => Buffer.from(`${head.trim()}\n\n${body}`);

test('reads the facts of a plain reply', async (t) => {
  t.like(await fixture('reply-top-posted-gmail'), {
    messageId: '<CAF-1@mail.example.org>',
    inReplyTo: '<step-1.7f3a@mail.example.com>',
    references: ['<step-0.aaaa@mail.example.com>', '<step-1.7f3a@mail.example.com>'],
    from: 'bob@example.org',
    fromName: 'Bob Baker',
    to: ['ann@example.com'],
    returnPath: null,
    subject: 'Re: A question about your warehouse',
    date: new Date('2026-11-20T09:12:00Z'),
    contentType: 'text/plain',
    form: 'plain',
  });
});

test('decodes encoded words, quoted-printable, base64 and other charsets', async (t) => {
  const outlook = await fixture('reply-outlook-german');
  t.is(outlook.subject, 'AW: Frage zu Ihrem Lager');
  t.true(outlook.text.startsWith('Danke, aber wir haben keinen Bedarf – bitte streichen.\n\nGrüße'));
  t.true((await fixture('vacation-sieve-polish')).text.startsWith('Dzień dobry,'));
  t.is((await fixture('reply-unsubscribe-french')).subject, 'Ré: votre entrepôt');
  t.is((await fixture('vacation-outlook-german')).subject, 'Automatische Antwort: A question about your warehouse');
});

test('keeps the parts of a report whole, an inline returned message included', async (t) => {
  const report = await fixture('arf-abuse');
  t.is(report.reportType, 'feedback-report');
  t.deepEqual(
    report.reports.map(({ contentType }) => contentType),
    ['message/feedback-report', 'message/rfc822'],
  );
  t.false(report.text.includes('unsubscribe'), 'the returned words are not the reporter’s');
  t.is((await fixture('postfix-user-unknown')).returnPath, '');
});

test('message ids: without duplicates, bare ones in brackets, folded headers joined', async (t) => {
  const parsed = await parseInbound(
    message('In-Reply-To: a@example.com\nReferences: <b@example.com>\n <a@example.com>\n\t<b@example.com>', 'x'),
  );
  t.is(parsed.inReplyTo, '<a@example.com>');
  t.deepEqual(parsed.references, ['<b@example.com>', '<a@example.com>']);
});

test('message ids: folded inside, as encoded words, in several headers, with escaped brackets', async (t) => {
  const idsOf = async (head: string) => {
    const { inReplyTo, references } = await parseInbound(message(head, 'x'));
    return [...(inReplyTo ? [inReplyTo] : []), ...references];
  };
  t.deepEqual(await idsOf('References: <a@b.example>\n <019a-\n 4444@b.example>'), [
    '<a@b.example>',
    '<019a-4444@b.example>',
  ]);
  t.deepEqual(await idsOf('In-Reply-To: =?us-ascii?Q?=3Ca=40b=2Eexample=3E?='), ['<a@b.example>']);
  t.deepEqual(await idsOf('References: <a@b.example>\nReferences: <c@b.example>'), ['<a@b.example>', '<c@b.example>']);
  t.deepEqual(await idsOf('In-Reply-To: &lt;a@b.example&gt;'), ['<a@b.example>']);
});

test('a boundary with a blank behind it, a type without a subtype, an address with its scheme', async (t) => {
  const part = '--b \nContent-Type: text/plain\n\nYes.\n-- \nBob\n--b-- \nafter';
  t.is((await parseInbound(message('Content-Type: multipart/mixed; boundary=b', part))).text.trim(), 'Yes.\n-- \nBob');
  t.is((await parseInbound(message('Content-Type: text', 'Yes.'))).text.trim(), 'Yes.');
  t.is((await parseInbound(message('From: Bob <mailto:bob@example.org>', 'x'))).from, 'bob@example.org');
});

test('a date without an offset, or no date at all, is unknown rather than now', async (t) => {
  t.is((await parseInbound(message('Date: yesterday', 'x'))).date, null);
  t.is((await parseInbound(message('Date: 2026-11-20 10:00:00', 'x'))).date, null);
  t.is((await parseInbound(message('Subject: x', 'x'))).date, null);
});

test('text and HTML are bounded', async (t) => {
  const long = await parseInbound(message('Content-Type: text/plain', 'word '.repeat(100_000)));
  t.is(long.text.length, MAX_TEXT);
  const html = await parseInbound(message('Content-Type: text/html', `<p>${'word '.repeat(100_000)}</p>`));
  t.true(html.text.length <= MAX_TEXT && html.text.startsWith('word word'));
  t.true((html.html?.length ?? 0) <= 256 * 1024);
});

test('a message of thousands of parts still gives its header', async (t) => {
  const parts = '--b\nContent-Type: text/plain\n\nx\n'.repeat(3000);
  const parsed = await parseInbound(
    message('From: bob@example.org\nIn-Reply-To: <a@example.com>\nContent-Type: multipart/mixed; boundary=b', parts),
  );
  t.like(parsed, { from: 'bob@example.org', inReplyTo: '<a@example.com>', text: '' });
});

test('of a message of very many lines the first are read: the parser keeps each of them', async (t) => {
  const parts = (lines: number) =>
    `--b\n\nHello\n${'\n'.repeat(lines)}--b\nContent-Type: image/png; name=a.png\n\nx\n--b--`;
  const head = 'From: bob@example.org\nContent-Type: multipart/mixed; boundary=b';
  t.is((await parseInbound(message(head, parts(300_000)))).files.length, 1);
  const long = await parseInbound(message(head, parts(600_000)));
  t.like(long, { from: 'bob@example.org', files: [] });
  t.regex(long.text, /^Hello/);
});

test('parsing and classifying never throw, whatever the bytes', async (t) => {
  const header = fc.constantFrom(
    'From: MAILER-DAEMON@example.net',
    'Return-Path: <>',
    'Subject: Undelivered Mail Returned to Sender',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    'Content-Type: text/html; charset=utf-7',
    'Content-Transfer-Encoding: base64',
    'Auto-Submitted: auto-replied',
    'Date: Fri, 99 Nov 2026',
    'References: <<<>>> <a@b',
    '--b',
    'Content-Type: message/delivery-status',
    'Final-Recipient: rfc822; bob@example.org',
    '',
  );
  const lines = fc.array(fc.oneof(header, fc.string({ unit: 'binary' }))).map((all) => Buffer.from(all.join('\r\n')));
  const bytes = fc.uint8Array({ maxLength: 2000 }).map((all) => Buffer.from(all));
  await fc.assert(
    fc.asyncProperty(fc.oneof(lines, bytes), async (raw) => {
      const found = classifyInbound(await parseInbound(raw), {}, RECEIVED, 'Europe/Budapest');
      return ['bounce', 'complaint', 'out_of_office', 'automated', 'reply'].includes(found.kind);
    }),
    { numRuns: 300 },
  );
  t.pass();
});

// Each pattern is repeated to one megabyte. A backtracking pattern would exceed ava's own time limit.
const HOSTILE = [
  ' ',
  '\n',
  '>',
  '<',
  '-',
  '_',
  '(',
  '@',
  'a',
  'a@',
  'a.',
  '.',
  '=',
  ':',
  ';',
  '1',
  '1/',
  '1.',
  '1-1-',
  '<a@',
  'On ',
  'On 1:11 wrote ',
  'not ',
  'user unknown',
  'user ',
  'mailbox ',
  'until ',
  'from 1 ',
  'back 1/1 ',
  'monday ',
  'Return-Path: <',
  '\n ',
  '\n> ',
  '\nx: ',
  'From: a\n',
  '\nOn 1 Jan 2026 a',
  '-- \n',
  'was not ',
  'delivery ',
  '\u0301',
  'ß',
  '<a@b.c>: 5.1.1 ',
  '<b>',
  '<!--',
  '&',
  '<a href="',
];

const AUTOMATIC = ['From: MAILER-DAEMON@example.net', 'Return-Path: <>', 'Auto-Submitted: auto-replied'];

for (const [index, unit] of HOSTILE.entries()) {
  test(`a megabyte of ${JSON.stringify(unit)}`, async (t) => {
    const text = unit.repeat(Math.ceil(1_000_000 / unit.length));
    t.true(stripQuoted(text).length <= text.length);
    t.true(htmlToPlain(text).length <= MAX_TEXT);
    t.is(typeof replyIntent(text, text).confidence, 'number');
    const returns = returnDate(text, RECEIVED);
    t.true(returns === null || returns >= RECEIVED);
    const head = AUTOMATIC[index % AUTOMATIC.length]!;
    const prose = await parseInbound(message(`${head}\nContent-Type: text/plain; charset=utf-8`, text));
    t.not(classifyInbound(prose, {}, RECEIVED).kind, 'reply');
    const report = `--b\nContent-Type: message/delivery-status\n\nFinal-Recipient: ${text}\nStatus: ${text}\n--b--`;
    const parsed = await parseInbound(message('Content-Type: multipart/report; boundary=b', report));
    t.not(classifyInbound(parsed, {}, RECEIVED).kind, 'reply');
    const references = text.replaceAll('\n', ' ').slice(0, 500_000);
    const headed = await parseInbound(message(`Subject: x\nReferences: ${references}`, ''));
    t.true(headed.references.length <= 100);
    const file = `--b\nContent-Type: application/pdf\nContent-Disposition: attachment; filename="x${references}x"\n\nx\n--b--`;
    const { files } = await parseInbound(message('Content-Type: multipart/mixed; boundary=b', file));
    t.true(files.every(({ filename }) => filename.length > 0 && filename.length <= 200));
  });
}
