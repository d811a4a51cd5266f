import { readdirSync, readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { render } from '../../../messages/render.ts';
import fc from 'fast-check';
import { simpleParser, type ParsedMail } from 'mailparser';
import nodemailer from 'nodemailer';
import { createSmtpSender } from '../../../lib/smtp/index.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { startMailWorld } from '../../../test/harness/mail.ts';
import { buildMessage, type BuiltMessage, type MessageInput } from './build.ts';
import { findHtmlLinks } from './html.ts';
import { inspectSource, sourceWarnings } from './render-source.ts';
import { findTextLinks } from './text-links.ts';

/*
 * Emails from public bug reports of mail programs. Each file in fixtures/cases contains the settings, the contact and
 * the step of an email.
 * The table below states the expected message.
 */

type Case = Partial<Pick<MessageInput, 'unsubscribe'>> & {
  campaign?: Partial<MessageInput['campaign']>;
  sender?: Partial<MessageInput['sender']>;
  contact?: Partial<MessageInput['contact']>;
  step: Omit<MessageInput['step'], 'threadReply'>;
};

const CASES = new URL('./fixtures/cases/', import.meta.url);
const TICKET = 'https://t.example/c/';

function built({ campaign, sender, contact, step, unsubscribe }: Case): BuiltMessage {
  return buildMessage({
    sendId: '0198f3c2-0000-7000-8000-000000000001',
    sender: { email: 'sam@sender.example', name: 'Sam Seller', ...sender },
    contact: { email: 'dana@client.example', first_name: 'Dana', last_name: 'Field', company: 'Client', ...contact },
    app: {},
    step: { ...step, threadReply: false },
    campaign: {
      name: 'Spring',
      textOnly: false,
      openTracking: false,
      linkTracking: false,
      unsubscribeHeader: false,
      ...campaign,
    },
    unsubscribe: { mode: 'off', ...unsubscribe },
    conversation: { subject: '', messageIds: [] },
    urls: {
      trackingBase: 'https://t.example',
      pixelUrl: 'https://t.example/o/x.gif',
      unsubscribeUrl: 'https://t.example/u/x',
      oneClickUrl: 'https://t.example/u/x',
    },
    ticketId: (index) => `k${index}`,
  });
}

const transport = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'windows' });

async function composed({ options }: BuiltMessage): Promise<{ raw: Buffer; mail: ParsedMail }> {
  const raw = (await transport.sendMail(options)).message as Buffer;
  return { raw, mail: await simpleParser(raw, { skipTextToHtml: true }) };
}

/** Returns the targets of a text's links. A tracked link is replaced by the URL to which it leads. */
function targetsIn(urls: readonly string[], { links }: BuiltMessage): string[] {
  return urls.map((url) => links.find(({ ticketId }) => url === TICKET + ticketId)?.url ?? url);
}

const plainTargets = (message: BuiltMessage) =>
  targetsIn(
    findTextLinks(message.options.text).map(({ url }) => url),
    message,
  );
const htmlTargets = (message: BuiltMessage) =>
  targetsIn(
    findHtmlLinks(message.options.html ?? '').map(({ url }) => url),
    message,
  );
const text = (expected: string) => (t: ExecutionContext, message: BuiltMessage) => {
  t.deepEqual(message.errors, []);
  t.is(message.options.text, expected);
};
const UTM = 'utm_source=heron&utm_medium=email&utm_campaign=spring';

const EXPECTED: Record<string, (t: ExecutionContext, message: BuiltMessage, of: Case) => unknown> = {
  '200-link-ampersand-entity': (t, message) => {
    const targets = ['https://x.example/?a=1&b=2&copy=3#frag', 'https://x.example/?a=1&b=2'];
    t.deepEqual([htmlTargets(message), plainTargets(message)], [targets, targets]);
  },
  '202-url-cjk-punctuation': text(
    '詳しくはhttps://t.example/c/k0。お願いします。\n请看https://t.example/c/k1，谢谢。\n' +
      '（https://t.example/c/k2）\n「https://t.example/c/k3」',
  ),
  '203-url-brackets': (t, message) => {
    text(
      'See (https://t.example/c/k0) and <https://t.example/c/k1>, [https://t.example/c/k2], "https://t.example/c/k3"; https://t.example/c/k4!',
    )(t, message);
    t.deepEqual(
      plainTargets(message),
      ['a_(b)', 'c', 'd', 'e', 'f?x=1&y=2'].map((path) => `https://x.example/${path}`),
    );
  },
  '204-placeholder-in-plain-url': (t, message) => {
    text('Go: https://t.example/c/k0 end')(t, message);
    t.deepEqual(plainTargets(message), ['https://x.example/?n=Anna%20Lena']);
  },
  '207-nbsp-and-typographic-quotes-in-placeholder': (t, message) => {
    t.regex(message.options.html!, /^<p>Hi Dana /);
    t.deepEqual(
      message.errors.map(({ message: reason, column }) => [render(reason), column]),
      [['unexpected “: write text in straight double quotes', 34]],
    );
  },
  '208-foreign-merge-tags': (t, _message, { step }) =>
    t.deepEqual(
      sourceWarnings('body_plain', step.body_plain!).map((tag) => [tag.message.values.tag, tag.line, tag.column]),
      [
        ['{FirstName}', 1, 4],
        ['%FIRST_NAME%', 1, 16],
        ['[[FirstName]]', 1, 29],
        ['*|FNAME|*', 1, 43],
        ['{% if x %}', 1, 53],
        ['{% endif %}', 1, 64],
      ],
    ),
  '210-data-with-html': (t, { options }) => {
    const escaped = '&lt;b&gt;Dana&lt;/b&gt; &amp; &quot;Q&quot;';
    t.is(options.subject, 'Hi <b>Dana</b> & "Q"');
    t.is(options.html, `<p title="${escaped}">Hi ${escaped}</p>`);
    t.is(options.text, 'Hi <b>Dana</b> & "Q"');
  },
  '211-newline-in-name': async (t, message) => {
    const { mail, raw } = await composed(message);
    t.is(mail.subject, 'Hi Dana Bcc: evil@x.example');
    t.is(mail.bcc, undefined);
    t.notRegex(raw.toString(), /^Bcc:/im);
  },
  '212-tables-lists-pre': text('Item    Price\nSeats   40\nTotal   80\n\n * One\n   * Sub\n * Two\n\na  b\n  c'),
  '215-from-name-comma-quotes': async (t, message, { sender }) =>
    t.deepEqual((await composed(message)).mail.from?.value, [{ name: sender!.name!, address: 'sam@sender.example' }]),
  '218-href-spaces-nonascii': (t, message) => {
    text('x <https://t.example/c/k0>')(t, message);
    t.deepEqual(plainTargets(message), ['https://x.example/ä ö?q=ü&r=%E4#:~:text=hi']);
  },
  '219-safelinks-query': (t, message) => {
    const target =
      'https://eur01.safelinks.example/?url=https%3A%2F%2Fx.example%2F%3Fa%3D1%26b%3D2&data=05%7C01%7C&reserved=0';
    t.deepEqual([htmlTargets(message), plainTargets(message)], [[target], [target]]);
  },
  '230-adjacent-links': text('A <https://t.example/c/k0> B <https://t.example/c/k1>'),
  '232-link-then-bracket-or-slash': text(
    'A <https://t.example/c/k0> (new) and B <https://t.example/c/k1>/C <https://t.example/c/k2>',
  ),
  '233-space-in-href': (t, message, of) => {
    text('File <https://t.example/c/k0>')(t, message);
    t.deepEqual(plainTargets(message), ['https://x.example/my file.pdf']);
    text('File <https://x.example/my%20file.pdf>')(t, built({ ...of, campaign: { linkTracking: false } }));
  },
  '237-definition-list': text('Term\nDefinition'),
  '238-utm-adjacent-links': (t, message) => {
    const targets = [`https://x.example/a?${UTM}&utm_content=a`, `https://x.example/b?${UTM}&utm_content=b`];
    text(`A <${targets[0]}> B <${targets[1]}>`)(t, message);
    t.deepEqual(htmlTargets(message), targets);
  },
  '242-spintax-beside-braces': (t, message, { step }) => {
    t.regex(message.options.text, /^(?:Hi|Hello) Dana \{ not spin \} C\+\+ \{x\}$/);
    t.deepEqual(sourceWarnings('body_plain', step.body_plain!), []);
  },
  '244-missing-value': (t, message) => {
    text('Hi , your team')(t, message);
    t.deepEqual(message.unresolved, ['{{.FirstName}}']);
  },
  '248-dots-and-from-line': async (t, message, { step }) => {
    const world = await startMailWorld();
    const { email, password, smtp } = await world.addMailbox({ email: 'sam@sender.example', password: 'secret' });
    const sender = createSmtpSender({
      allowPrivate: true,
      connectTimeoutMs: 10_000,
      socketTimeoutMs: 10_000,
      idleMs: 60_000,
    });
    t.teardown(async () => {
      await sender.close();
      await world.stop();
    });
    const target = { ...smtp, security: 'none' as const, username: email, password };
    const envelope = { from: email, to: ['dana@client.example'] };
    const { raw } = await composed(message);
    const { kind } = await sender.send('box', target, envelope, raw, { timeoutMs: 10_000 });
    t.is(kind, 'accepted');
    const received = await eventually(async () => world.messages[0]);
    const mail = await simpleParser(received.raw, { skipTextToHtml: true });
    t.is(mail.text?.trimEnd(), step.body_plain!.trimEnd());
  },
  '249-url-ellipsis-dash': text('https://t.example/c/k0… https://t.example/c/k1—and more'),
};

test('every case has its expectation', (t) => {
  const files = readdirSync(CASES).map((file) => file.replace('.json', ''));
  t.deepEqual(files.toSorted(), Object.keys(EXPECTED).toSorted());
});

for (const [name, expect] of Object.entries(EXPECTED))
  test(`case ${name}`, async (t) => {
    const of = JSON.parse(readFileSync(new URL(`${name}.json`, CASES), 'utf8')) as Case;
    await expect(t, built(of), of);
  });

test('the plain part has every link of the HTML, with its label and its target, whatever stands around it', (t) => {
  const around = fc.constantFrom(
    '',
    ' ',
    '.',
    '(',
    ')',
    '/',
    '。',
    'word',
    '<br>',
    '</p><p>',
    '<b>x</b>',
    '—',
    '"',
    '،',
  );
  const link = fc.tuple(around, fc.constantFrom('', '/a', '/b c', '/ä', '/a?x=(1)', "/it's", '/a,b;c'), around);
  fc.assert(
    fc.property(fc.array(link, { maxLength: 6 }), fc.boolean(), fc.boolean(), (links, linkTracking, tagged) => {
      const html = links.map(
        ([before, path, behind], index) => `${before}<a href="https://x.example${path}">Label${index}</a>${behind}`,
      );
      const message = built({
        campaign: { linkTracking, ...(tagged ? { utm: {} } : {}) },
        step: { subject: 's', body_plain: null, body_html: `<p>${html.join('')}</p>` },
      });
      const encoded = (targets: string[]) => targets.map((url) => new URL(url).href);
      t.deepEqual(encoded(plainTargets(message)), encoded(htmlTargets(message)));
      t.is(plainTargets(message).length, links.length);
      const labels = [...message.options.text.matchAll(/Label(\d)/g)].map(([, index]) => Number(index));
      t.deepEqual(labels, [...links.keys()]);
    }),
  );
});

test('a URL in plain text ends where the sentence goes on, in every script', (t) => {
  const url = 'https://x.example/a';
  const behind = [
    '。次',
    '，谢谢',
    '、b',
    '）',
    '」と',
    '؟',
    '، ثم',
    '؛',
    '…',
    '—and',
    '–',
    '·',
    '’s',
    '” x',
    '»',
    '।',
    '👉',
  ];
  const words = ['を見て', '를 보세요', 'です', '请看', 'привет', 'שלום'];
  const ascii = ['.', '...', '),', ']x', ")'", "','b'", '`', '",', '!?', ',https://y.example/'];
  for (const rest of [...behind.filter((one) => one !== '·'), ...words, ...ascii])
    t.is(findTextLinks(`x ${url}${rest}`)[0]?.url, url, rest);
  for (const whole of ['https://ja.wikipedia.org/wiki/日本', 'https://x.example/a_(b)', 'https://x.example/?q=ü&r=[1]'])
    t.deepEqual(
      findTextLinks(`(${whole})`).map((found) => found.url),
      [whole],
    );
});

test('a value inside a URL is encoded as what it stands for; one that is a URL stays', (t) => {
  const rendered = (source: string, html = false) =>
    built({
      contact: { first_name: 'Anna Lena', company: 'R&D #1 <Ltd>', email: 'a+b@client.example' },
      step: { subject: 's', ...(html ? { body_html: source } : { body_plain: source }) },
    }).options;
  t.is(
    rendered('https://x.example/?c={{.Company}}&n={{urlquery .FirstName}}#{{.FirstName}} {{.FirstName}}').text,
    'https://x.example/?c=R%26D%20%231%20%3CLtd%3E&n=Anna%20Lena#Anna%20Lena Anna Lena',
  );
  t.is(
    rendered('<a href="https://x.example/?e={{.Email}}&amp;c={{.Company}}">{{.Company}}</a>', true).html,
    '<a href="https://x.example/?e=a%2Bb@client.example&amp;c=R%26D%20%231%20%3CLtd%3E">R&amp;D #1 &lt;Ltd&gt;</a>',
  );
  t.is(rendered('(https://x.example/) {{.FirstName}}').text, '(https://x.example/) Anna Lena');
});

test('encoded forms of a placeholder are ours; other tools keep theirs and are named', (t) => {
  const forms = ['%7B%7B.Email%7D%7D', '{{%20.Email%20}}', '%7b%7b+.Email+%7d%7d', '&#123;&#x7b;.Email&#125;&rcub;'];
  for (const form of [...forms, '{{&#8203;.Email}}', '{{\u00a0.Em\u00adail}}', '{{default &quot;x&quot; .Email}}']) {
    const { options, errors } = built({
      step: { subject: 's', body_html: `<a href="https://x.example/?e=${form}">x</a>` },
    });
    t.deepEqual(errors, [], form);
    t.is(options.html, '<a href="https://x.example/?e=dana@client.example">x</a>', form);
  }
  const named = (source: string, field: 'body_plain' | 'body_html' = 'body_plain') =>
    sourceWarnings(field, source).map(
      ({ message, line, column }) => `${line}:${column} ${message.values.tag as string}`,
    );
  t.deepEqual(
    named('{first_name|there}\n[First Name] <<Name>> «FirstName» ##NAME## %%x%% {$name} {!Contact.Name} <%= n %> ${n}')
      .length,
    10,
  );
  t.deepEqual(named('Hi -FIRSTNAME- of %%=v(@Company)=%%, well-name-known'), [
    '1:4 -FIRSTNAME-',
    '1:19 %%=v(@Company)=%%',
  ]);
  t.deepEqual(
    named('<a href="https://x.example/?n=%7BFirstName%7D&m=*%7CFNAME%7C*">\n{First&nbsp;Name}</a>', 'body_html'),
    ['1:31 %7BFirstName%7D', '1:49 *%7CFNAME%7C*', '2:1 {First&nbsp;Name}'],
  );
  t.deepEqual(named('<style>a{name}</style><!-- {FirstName} -->{{if eq .X "%EMAIL%"}}a{{end}}', 'body_html'), []);
  t.deepEqual(
    named('{Company|Firm} 50% off, 20%-30% [1] [sic] $5 and $6 « Bonjour » __init__ %20NAME%20 {0} { a: 1 }'),
    [],
  );
  t.is(inspectSource('body_html', 'x %7B%7Bfirst_name%7D%7D').errors[0]?.column, 3);
});

test('hostile copy is built and checked all the same', (t) => {
  for (const unit of [
    '{',
    '%',
    '[[',
    '{first',
    '{{%20',
    '<style>',
    'https://x.example/',
    'https://x.example/{{.City}}',
  ])
    t.notThrows(() => {
      const source = unit.repeat(100_000 / unit.length);
      sourceWarnings('body_html', source);
      built({ step: { subject: 's', body_html: source } });
    }, unit);
});
