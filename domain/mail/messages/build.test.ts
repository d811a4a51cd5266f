import test from 'ava';
import { faultWithPlace } from './render-source.ts';
import { render } from '../../../messages/render.ts';
import fc from 'fast-check';
import { simpleParser } from 'mailparser';
import type { ParsedMail } from 'mailparser';
import nodemailer from 'nodemailer';
import { buildMessage } from './build.ts';
import type { BuiltMessage, MessageCampaign, MessageInput } from './build.ts';
import { findHtmlLinks, trackingPixel } from './html.ts';
import { previewMessage } from './preview.ts';
import { mergeValues, SAMPLE_CONTACT } from './values.ts';

const SEND_ID = '0198f3c2-0000-7000-8000-000000000001';
const CAMPAIGN: MessageCampaign = {
  name: 'Spring Launch',
  textOnly: false,
  openTracking: false,
  linkTracking: false,
  unsubscribeHeader: false,
};

type Changes = Omit<Partial<MessageInput>, 'campaign'> & { campaign?: Partial<MessageCampaign> };

function input(changes: Changes = {}): MessageInput {
  return {
    sendId: SEND_ID,
    sender: { email: 'sam@acme.example', name: 'Sam Ünal' },
    contact: {
      email: 'ada@client.example',
      first_name: 'Ada',
      company: 'R&D <Ltd>',
      custom_fields: { plan: 'pro', App: 'no' },
    },
    app: { order: { total: 12 } },
    step: {
      subject: 'Hello {{.FirstName}}',
      body_plain: 'Hi {{.FirstName}} at {{.Company}}\n\nhttps://a.example/p',
      threadReply: false,
    },
    unsubscribe: { mode: 'off' },
    conversation: { subject: '', messageIds: [] },
    urls: {
      trackingBase: 'https://t.example',
      pixelUrl: `https://t.example/o/${SEND_ID}.gif`,
      unsubscribeUrl: 'https://t.example/u/tok_',
      oneClickUrl: `https://t.example/u/one-click/${'k'.repeat(90)}`,
    },
    ticketId: (index) => `ticket-${index}`,
    ...changes,
    campaign: { ...CAMPAIGN, ...changes.campaign },
  };
}

const transport = nodemailer.createTransport({ streamTransport: true, buffer: true });

async function deliver({ options }: BuiltMessage): Promise<{ raw: string; mail: ParsedMail; recipients: string[] }> {
  const sent = await transport.sendMail(options);
  const raw = (sent.message as Buffer).toString('utf8');
  const recipients = sent.envelope.to as string[];
  return { raw, recipients, mail: await simpleParser(raw, { skipTextToHtml: true }) };
}

test('a plain step with no tracking is a plain text message with its merge values', async (t) => {
  const { mail, raw } = await deliver(buildMessage(input()));
  t.is(mail.subject, 'Hello Ada');
  t.is(mail.text?.trimEnd(), 'Hi Ada at R&D <Ltd>\n\nhttps://a.example/p');
  t.is(mail.html, false);
  t.is(mail.messageId, `<${SEND_ID}@acme.example>`);
  t.deepEqual(mail.from?.value, [{ name: 'Sam Ünal', address: 'sam@acme.example' }]);
  t.false(/List-Unsubscribe|In-Reply-To|References/i.test(raw));
});

test('headers: reply-to, send-as, copies, one-click unsubscribe in one unfolded line', async (t) => {
  const built = buildMessage(
    input({
      sender: { email: 'sam@acme.example', name: 'Sam', replyTo: 'desk@acme.example', sendAs: 'sam@alias.example' },
      campaign: { unsubscribeHeader: true, cc: ['boss@acme.example', 'two@acme.example'], bcc: ['crm@acme.example'] },
    }),
  );
  const { mail, raw, recipients } = await deliver(built);
  t.is(mail.from?.text, '"Sam" <sam@alias.example>');
  t.is(mail.messageId, `<${SEND_ID}@alias.example>`);
  t.is(mail.replyTo?.text, 'desk@acme.example');
  t.deepEqual(
    [mail.cc].flat().map((group) => group?.text),
    ['boss@acme.example, two@acme.example'],
  );
  t.deepEqual(recipients, ['ada@client.example', 'boss@acme.example', 'two@acme.example', 'crm@acme.example']);
  t.true(`\r\n${raw}`.includes(`\r\nList-Unsubscribe: <https://t.example/u/one-click/${'k'.repeat(90)}>\r\n`));
  t.true(raw.includes('\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n'));
});

test("a follow-up arrives in the thread under the conversation's subject", async (t) => {
  const messageIds = ['<1@acme.example>', '<2@acme.example>'];
  const built = buildMessage(
    input({
      step: { subject: 'ignored', body_plain: 'again', threadReply: true },
      conversation: { subject: 'Hello Ada', messageIds },
    }),
  );
  const { mail } = await deliver(built);
  t.is(mail.subject, 'Re: Hello Ada');
  t.is(mail.inReplyTo, '<2@acme.example>');
  t.deepEqual(mail.references, messageIds);
  t.deepEqual(built.conversation, { subject: 'Hello Ada', messageIds: [...messageIds, `<${SEND_ID}@acme.example>`] });
});

const HTML_STEP = {
  subject: 'S',
  body_html:
    '<html><head><style>p { color: red }</style></head><body><p>Hi {{.Company}}, ' +
    '<a href="https://a.example/p?x=1&amp;y=2#f">Our prices</a> <a href="mailto:x@y.example">mail</a></p></body></html>',
  threadReply: false,
};

test('tracked HTML: tickets in both parts, pixel, signature and footer inside the body', async (t) => {
  const built = buildMessage(
    input({
      sender: { email: 'sam@acme.example', signatureHtml: '<p>Sam, <a href="https://acme.example">Acme</a></p>' },
      step: HTML_STEP,
      unsubscribe: { mode: 'link' },
      campaign: { openTracking: true, linkTracking: true, utm: { medium: 'mail' } },
    }),
  );
  const utm = 'utm_source=heron&utm_medium=mail&utm_campaign=spring-launch';
  t.deepEqual(built.errors, []);
  t.deepEqual(built.links, [
    {
      ticketId: 'ticket-0',
      url: `https://a.example/p?x=1&y=2&${utm}&utm_content=our-prices#f`,
      label: 'Our prices',
      position: 1,
    },
    {
      ticketId: 'ticket-1',
      url: `https://acme.example?${utm}&utm_content=acme`,
      label: 'Acme',
      position: 2,
    },
  ]);
  const { mail } = await deliver(built);
  const html = mail.html || '';
  t.deepEqual(
    findHtmlLinks(html).map(({ url }) => url),
    ['https://t.example/c/ticket-0', 'https://t.example/c/ticket-1', 'https://t.example/u/tok_'],
  );
  t.true(html.includes('<style>p { color: red }</style>'));
  t.true(html.includes('Hi R&amp;D &lt;Ltd&gt;,'));
  t.regex(html, new RegExp(`<img src="https://t.example/o/${SEND_ID}.gif"[^>]*></body></html>\\s*$`));
  t.is(
    mail.text?.trimEnd(),
    [
      'Hi R&D <Ltd>, Our prices <https://t.example/c/ticket-0> mail <x@y.example>',
      'Sam, Acme <https://t.example/c/ticket-1>',
      'Would you rather not hear from me again? Unsubscribe: https://t.example/u/tok_',
    ].join('\n\n'),
  );
});

test('a plain step gets an HTML part exactly when something is tracked', (t) => {
  t.is(buildMessage(input()).options.html, undefined);
  t.is(buildMessage(input({ campaign: { utm: {} } })).options.html, undefined);
  t.is(
    buildMessage(input({ campaign: { openTracking: true } })).options.html,
    '<p>Hi Ada at R&amp;D &lt;Ltd&gt;</p>\n<p><a href="https://a.example/p">https://a.example/p</a></p>\n' +
      trackingPixel(`https://t.example/o/${SEND_ID}.gif`),
  );
  const tracked = buildMessage(input({ campaign: { linkTracking: true } }));
  t.is(tracked.links.length, 1);
  t.true(tracked.options.html?.includes('href="https://t.example/c/ticket-0"'));
});

test('text_only: no HTML and no tracking whatever the flags; UTM tags stay', async (t) => {
  const built = buildMessage(
    input({
      step: { ...HTML_STEP, body_plain: 'see https://a.example.' },
      campaign: { textOnly: true, openTracking: true, linkTracking: true, utm: {} },
    }),
  );
  const { mail, raw } = await deliver(built);
  t.is(mail.html, false);
  t.deepEqual(built.links, []);
  t.false(raw.includes('https://t.example'));
  t.is(
    mail.text?.trimEnd(),
    'see https://a.example?utm_source=heron&utm_medium=email&utm_campaign=spring-launch&utm_content=link-1.',
  );
});

test('the same send builds the same message; merge values are never syntax', (t) => {
  const hostile = '{a|b} {{.Plan}} \\{';
  const build = (): BuiltMessage =>
    buildMessage(
      input({
        contact: { email: 'ada@client.example', first_name: hostile },
        step: {
          subject: '{Hi|Hello|Hey} {{.FirstName}}',
          body_plain: '{one|two|three} {{.FirstName}}',
          body_html: '<p>{one|two|three} {{.FirstName}}</p>',
          threadReply: false,
        },
      }),
    );
  const built = build();
  t.deepEqual(build(), built);
  t.true(built.options.subject.endsWith(hostile));
  t.is(built.options.html, `<p>${built.options.text}</p>`, 'both bodies choose alike');
});

test('app values and custom fields are read; custom fields cannot stand for App', (t) => {
  const { options, unresolved } = buildMessage(
    input({
      step: { subject: '{{.plan}} {{.App.order.total}}', body_plain: '{{.Phone}}{{.App.none.x}}', threadReply: false },
    }),
  );
  t.is(options.subject, 'pro 12');
  t.deepEqual(unresolved, ['{{.Phone}}', '{{.App.none.x}}']);
});

test('faults are listed by field', (t) => {
  const { errors } = buildMessage(
    input({
      contact: { email: 'ada@client.example, eve@evil.example' },
      step: { subject: '{{nope}}', body_html: 'x\n{{if .A}}', threadReply: false },
      campaign: { cc: ['bad'] },
    }),
  );
  t.deepEqual(
    errors.map(({ field, line }) => [field, line]),
    [
      ['subject', 1],
      ['body_html', 2],
      ['address', undefined],
      ['address', undefined],
    ],
  );
  t.deepEqual(
    buildMessage(input({ step: { threadReply: true } })).errors.map(({ message }) => render(message)),
    ['the email has no text', 'the email has no subject'],
  );
});

test('nothing a contact or sender is called can add a header or a recipient', async (t) => {
  const pieces = [
    '\r\n',
    '\n',
    '\r',
    'Bcc: eve@evil.example',
    'X-Evil: 1',
    '\u2028',
    '\0',
    'é',
    '"',
    '<',
    '>',
    ',',
    ' ',
  ];
  const evil = fc.array(fc.constantFrom(...pieces)).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(evil, evil, async (name, address) => {
      const built = buildMessage(
        input({
          sender: { email: 'sam@acme.example', name, replyTo: `r@acme.example${address}` },
          contact: { email: 'ada@client.example', first_name: name },
          step: { subject: 'Hi {{.FirstName}}!', body_plain: 'x', threadReply: false },
        }),
      );
      const { raw, recipients } = await deliver(built);
      const headers = raw.slice(0, raw.indexOf('\r\n\r\n'));
      const fields = headers.split('\r\n').filter((line) => !/^\s/.test(line));
      const names = fields.map((line) => line.split(':')[0]!.toLowerCase());
      t.deepEqual(recipients, ['ada@client.example']);
      t.false(names.includes('bcc') || names.includes('x-evil'), headers);
      t.is(new Set(names).size, names.length, headers);
    }),
    { numRuns: 200 },
  );
});

test('a preview renders the given fields and lists errors and unresolved placeholders', (t) => {
  const values = mergeValues(SAMPLE_CONTACT, {});
  t.deepEqual(previewMessage({ subject: 'Hi {{.FirstName}}', body_html: '<p>{{.Company}}</p>' }, values, 's'), {
    subject: 'Hi Alex',
    body_html: '<p>Example Inc</p>',
  });
  const { errors, ...rest } = previewMessage({ body_plain: 'a\n {{oops}} {{.nope}}' }, values, 's');
  t.deepEqual(
    errors?.map((error) => render(faultWithPlace(error))),
    ['body_plain 2:2: unknown function oops; a field is written {{.oops}}'],
  );
  t.deepEqual(rest, {
    body_plain: 'a\n {{oops}} ',
    unresolved: ['{{oops}}', '{{.nope}}'],
  });
});
