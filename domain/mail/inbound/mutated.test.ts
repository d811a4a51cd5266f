import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import fc from 'fast-check';
import { classifyInbound, type InboundClassification } from './classify.ts';
import { MUTATION_KINDS, mutate, type Mutation } from './fixtures/mutations.ts';
import { REPORTS } from './fixtures/reports.ts';
import { MAX_TEXT, parseInbound, type InboundMessage } from './parse.ts';
import { safeHtml } from './safe-html.ts';

/**
 * Number of mutated messages. `npm test` always uses the same mutations. Set HERON_MAIL_FUZZ_RUNS for more and
 * different ones.
 */
const RUNS = Number(process.env.HERON_MAIL_FUZZ_RUNS ?? 600);
const SEED = Number(process.env.HERON_MAIL_FUZZ_SEED ?? 20_261_123);

const RECEIVED = new Date('2026-11-20T10:00:00Z');
const SENT = ['Hello Bob,\n\nmay I ask about your warehouse?\n\nAnn Archer\nUnsubscribe: https://our.example/u/1'];
const KINDS: readonly InboundClassification['kind'][] = ['bounce', 'complaint', 'out_of_office', 'automated', 'reply'];

const FOLDER = new URL('fixtures/', import.meta.url);
const MESSAGES = new Map(
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.eml'))
    .map((name) => [name, readFileSync(new URL(name, FOLDER), 'latin1')]),
);
/** Replies of people and automatic replies, without any mention of a failed delivery. */
const ANSWERS = [...MESSAGES].flatMap(([name, raw]) =>
  /^(?:reply|vacation|unsubscribe|read-receipt)/.test(name) && !/bounce/.test(name) ? [raw] : [],
);
const ALL = [...MESSAGES.values(), ...REPORTS.map(({ raw }) => Buffer.from(raw).toString('latin1'))];

const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom(...MUTATION_KINDS),
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  size: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  pick: fc.nat(10_000),
});
const mutated = (raws: readonly string[]) =>
  fc
    .tuple(fc.constantFrom(...raws), fc.array(mutation, { minLength: 1, maxLength: 5 }))
    .map(([raw, mutations]) => mutate(raw, mutations));

interface Reading {
  message: InboundMessage;
  found: InboundClassification;
}

/** Parses and classifies a message as in production, and checks that the result is bounded and of a known kind. */
async function read(raw: string): Promise<Reading> {
  const message = await parseInbound(Buffer.from(raw, 'latin1'));
  safeHtml(message.html ?? '');
  const found = classifyInbound(message, {}, RECEIVED, 'Europe/Budapest', { texts: SENT, subjects: [] });
  if (!KINDS.includes(found.kind)) throw new Error(`kind ${String(found.kind)}`);
  if (message.text.length > MAX_TEXT || message.rawBody.length > MAX_TEXT) throw new Error('a text without a bound');
  if (message.references.length > 100 || message.to.length > 100) throw new Error('a list without a bound');
  if (found.kind === 'bounce' && found.recipients.length === 0) throw new Error('a bounce of no recipient');
  if (found.kind === 'out_of_office' && found.returnDate && found.returnDate < RECEIVED)
    throw new Error('back before they left');
  if (found.kind === 'reply' && !(found.confidence >= 0 && found.confidence <= 1))
    throw new Error('a confidence beyond 0 to 1');
  if (found.kind === 'reply' && found.ownWords.length > Math.max(message.text.length, MAX_TEXT))
    throw new Error('own words that nobody wrote');
  return { message, found };
}

/**
 * Signs of a failed delivery: the parts, author or name of a report, or a 5xx reply. Every report has at least one of
 * them.
 */
const CUES =
  /delivery-status|(?:final|original)-recipient|x-failed-recipients|mailer-?daemon|postmaster|deliver|unzustellbar|fail|returned|notificationtype|\b55\d\b|\b5\.\d\.\d/i;

test('whatever is broken about a message, it is read as one of the kinds; an address is gone only by a report that names it', async (t) => {
  let hard = 0;
  await fc.assert(
    fc.asyncProperty(mutated(ALL), async (raw) => {
      const { message, found } = await read(raw);
      if (found.kind !== 'bounce' || found.bounceType !== 'hard') return;
      hard += 1;
      const said = [
        message.text,
        message.rawBody,
        message.subject,
        JSON.stringify(message.headers),
        ...message.reports.map(({ body }) => body),
      ];
      const all = said.join('\n').toLowerCase();
      if (!CUES.test(`${raw}\n${all}`)) throw new Error('hard without a word of a report');
      const gone = found.recipients.filter(({ bounceType }) => bounceType === 'hard');
      if (!gone.every(({ finalRecipient }) => all.includes(finalRecipient)))
        throw new Error('hard for an address that is not named');
    }),
    { numRuns: RUNS, seed: SEED },
  );
  // With fewer hard bounces, the test would not cover them.
  t.true(hard > RUNS / 50, `${hard} hard`);
});

test('no answer of a person or of their mail program becomes a bounce, whatever is broken about it', async (t) => {
  await fc.assert(
    fc.asyncProperty(mutated(ANSWERS), async (raw) => (await read(raw)).found.kind !== 'bounce'),
    { numRuns: RUNS, seed: SEED },
  );
  t.pass();
});

const MACHINE = 'From: MAILER-DAEMON@mx.our.example\nReturn-Path: <>\nSubject: Undelivered Mail Returned to Sender\n';
const PERSON = 'From: Bob <bob@example.org>\nSubject: Re: A question\n';
const plain = (head: string, body: string): string => `${head}Content-Type: text/plain; charset=utf-8\n\n${body}`;
const filled = (unit: string, size: number): string => unit.repeat(Math.ceil(size / unit.length));
/** Creates a message with `size` nested parts. */
function nested(size: number): string {
  const depth = Math.ceil(size / 60);
  return Array.from({ length: depth }, (_, n) => `Content-Type: multipart/mixed; boundary=n${n}\n\n--n${n}\n`).join('');
}
function report(fields: string): string {
  return `${MACHINE}Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\nFailed.\n\n--b\nContent-Type: message/delivery-status\n\n${fields}\n--b--\n`;
}

/** Messages of a given size (bytes) that are designed to take long to parse. */
const GROWING: Record<string, (size: number) => string> = {
  'one long line': (size) => plain(PERSON, filled('word ', size)),
  'one long line of a mail system': (size) => plain(MACHINE, filled('<a@b.example> 550 5.1.1 no such user ', size)),
  'addresses on lines of their own': (size) => plain(MACHINE, filled('<a@b.example>:\n550 user unknown\n\n', size)),
  'beginnings of quotes': (size) => plain(PERSON, filled('On Mon, 2 Nov 2026 at 10:00 Ann\n', size)),
  'header blocks in the text': (size) => plain(PERSON, filled('From: Ann\nSent: Monday 10:00\n\n', size)),
  signatures: (size) => plain(PERSON, filled('-- \nAnn\n> x\n', size)),
  'wishes to be left out': (size) => plain(PERSON, filled('please unsubscribe me not. ', size)),
  'dates of return': (size) =>
    plain(`${MACHINE}Auto-Submitted: auto-replied\n`, filled('back until 1.2. from 3.4.2027 ', size)),
  'repeated words of ours': (size) => plain(PERSON, filled(`${SENT[0]}\n`, size)),
  'a header of many fields': (size) => plain(PERSON + filled('X-Spam: yes\n', size), 'x'),
  'a folded field': (size) => plain(`${PERSON}References: ${filled('<a@b>\n ', size)}<c@d>\n`, 'x'),
  'encoded words': (size) => plain(`Subject: ${filled('=?utf-8?Q?=C3=A9?= ', size)}\n`, 'x'),
  recipients: (size) => plain(`${PERSON}To: ${filled('"A, B" <a@b.example>, ', size)}c@d.example\n`, 'x'),
  'open comments in an address': (size) => plain(`From: ${filled('(', size)}\n`, 'x'),
  parameters: (size) => `${PERSON}Content-Type: text/plain; ${filled('a*1="b"; ', size)}x=y\n\nx`,
  'parts in parts': (size) => `${PERSON}${nested(size)}`,
  parts: (size) => `${PERSON}Content-Type: multipart/mixed; boundary=b\n\n${filled('--b\n\nx\n', size)}`,
  'lines that are nearly boundaries': (size) =>
    `${PERSON}Content-Type: multipart/mixed; boundary=bb\n\n--bb\n\n${filled('--b\n', size)}`,
  'quoted-printable': (size) => `${PERSON}Content-Transfer-Encoding: quoted-printable\n\n${filled('=C3=\n=A9=', size)}`,
  base64: (size) => `${PERSON}Content-Transfer-Encoding: base64\n\n${filled('4pyT\n=', size)}`,
  'a stateful charset': (size) =>
    `${PERSON}Content-Type: text/plain; charset=iso-2022-jp\n\n${filled('\x1b$B$\x1b(B', size)}`,
  'groups of a report': (size) =>
    report(filled('Final-Recipient: rfc822; a@b.example\nAction: failed\nStatus: 5.1.1\n\n', size)),
  'one field of a report': (size) =>
    report(
      `Final-Recipient: rfc822; a@b.example\nAction: failed\nDiagnostic-Code: smtp; ${filled('550 5.1.1 x\n ', size)}\n`,
    ),
  'nested HTML': (size) => `${PERSON}Content-Type: text/html\n\n${filled('<blockquote><div>', size)}`,
  attributes: (size) => `${PERSON}Content-Type: text/html\n\n<p ${filled('a="b" ', size)}>x`,
  'unclosed HTML': (size) => `${PERSON}Content-Type: text/html\n\n${filled('<a href="x', size)}`,
  entities: (size) => `${PERSON}Content-Type: text/html\n\n${filled('&amp;&#x41', size)}`,
  'a calendar': (size) =>
    `${PERSON}Content-Type: text/calendar; method=REPLY\n\nBEGIN:VCALENDAR\n${filled('ATTENDEE:mailto:a@b.example\n ', size)}`,
};

/**
 * Returns the processor time (ms) of reading a message. Time is measured because steps inside regular expressions
 * cannot be counted.
 */
async function costOf(raw: string): Promise<number> {
  const before = process.cpuUsage();
  await read(raw);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const SIZE = 64 * 1024;
/**
 * Maximum growth factor of the time when the size is multiplied by four. Quadratic work would grow by sixteen. Times
 * below the floor (ms) are noise.
 */
const MOST_GROWTH = 10;
const FLOOR_MS = 10;
/**
 * Minimum and maximum number of measurements of a message. Only the shortest one is used, because other load and
 * garbage collection make some of them longer. Quadratic work makes all of them longer.
 */
const ROUNDS = { least: 3, most: 25 };

for (const [what, grow] of Object.entries(GROWING))
  test.serial(`the work for ${what} grows no faster than their length`, async (t) => {
    let [small, large] = [Infinity, Infinity];
    const isBounded = () => large <= MOST_GROWTH * Math.max(small, FLOOR_MS);
    for (let round = 0; round < ROUNDS.least || (!isBounded() && round < ROUNDS.most); round += 1) {
      small = Math.min(small, await costOf(grow(SIZE)));
      large = Math.min(large, await costOf(grow(4 * SIZE)));
    }
    t.log(`${small.toFixed(1)} ms, ${large.toFixed(1)} ms`);
    t.true(isBounded(), `${small.toFixed(1)} ms, then ${large.toFixed(1)} ms`);
  });
