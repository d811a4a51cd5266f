import test from 'ava';
import fc from 'fast-check';
import { htmlToPlain } from './html-text.ts';
import { stripQuoted } from './quotes.ts';
import { withoutSentText } from './sent-lines.ts';

const CASES: readonly (readonly [string, string, string])[] = [
  ['English introduction', 'Yes.\n\nOn Mon, Nov 23, 2026 at 9:00 AM Ann <ann@example.com> wrote:\n> Hi', 'Yes.'],
  ['no blank line before it', 'Yes.\nOn Mon, Nov 23, 2026 at 9:00 AM Ann <ann@example.com> wrote:\n> Hi', 'Yes.'],
  [
    'wrapped introduction',
    'Yes.\n\nOn Mon, Nov 23, 2026 at 9:00 AM Ann Archer\n<ann@example.com> wrote:\n> Hi',
    'Yes.',
  ],
  ['unmarked quote', 'Yes.\n\nOn 23/11/2026 09:00, Ann wrote:\nHi Bob\nBye', 'Yes.'],
  ['German', 'Ja.\n\nAm Mo., 23. Nov. 2026 um 09:00 Uhr schrieb Ann <ann@example.com>:\n> Hallo', 'Ja.'],
  ['French', 'Oui.\n\nLe lun. 23 nov. 2026 à 09:00, Ann <ann@example.com> a écrit :\n> Bonjour', 'Oui.'],
  ['Spanish', 'Sí.\n\nEl lun, 23 nov 2026 a las 9:00, Ann (<ann@example.com>) escribió:\n> Hola', 'Sí.'],
  ['Italian', 'Sì.\n\nIl giorno lun 23 nov 2026 alle ore 09:00 Ann <ann@example.com> ha scritto:\n> Ciao', 'Sì.'],
  ['Portuguese', 'Sim.\n\nEm seg., 23 de nov. de 2026 às 09:00, Ann <ann@example.com> escreveu:\n> Olá', 'Sim.'],
  ['Dutch', 'Ja.\n\nOp ma 23 nov 2026 om 09:00 schreef Ann <ann@example.com>:\n> Hallo', 'Ja.'],
  ['Polish', 'Tak.\n\npon., 23 lis 2026 o 09:00 Ann <ann@example.com> napisał(a):\n> Cześć', 'Tak.'],
  ['Hungarian', 'Igen.\n\nAnn <ann@example.com> ezt írta (időpont: 2026. nov. 23., H, 9:00):\n> Szia', 'Igen.'],
  [
    'Outlook block',
    'Yes.\n\nFrom: Ann <ann@example.com>\nSent: Monday, 23 November 2026\nTo: Bob\nSubject: Hi\n\nHi',
    'Yes.',
  ],
  [
    'a language that no list has',
    'Vâng.\n\nVào 14:24 8 tháng 6, 2026, Ann <ann@example.com> đã viết:\n\n> Chào',
    'Vâng.',
  ],
  ['an author between rules', 'Yes.\n\n---- Ann Archer wrote ----\n\n> Hi', 'Yes.'],
  ['an introduction between rules', 'Yes.\n\n------On 23/11/2026 17:32, Ann Archer wrote-----\n\nHi Bob', 'Yes.'],
  ['date and author alone', 'Yes.\n2026/11/23 Ann Archer <ann@example.com>\n\n> Hi', 'Yes.'],
  ['an address on a line of its own', 'Yes.\n\n2026-11-23 11:28 GMT+03:00 Ann <\nann@example.com>:\n\n> Hi', 'Yes.'],
  [
    'an introduction behind the words',
    'Yes, on Friday On Wed, Nov 25, 2026 at 3:59 PM, ann@example.com wrote:\n> Hi',
    'Yes, on Friday',
  ],
  [
    'a block that begins with its date',
    'Yes.\n\nDate: Mon, 23 Nov 2026 09:00:00 +0100\nTo: bob@example.com\n\nHi',
    'Yes.',
  ],
  [
    'links broken in a quote',
    'Yes.\n\n> See\n(https://example.com/a) >\n> there https://example.com/\nb?c=d)\n> Bye',
    'Yes.',
  ],
  ['Outlook bold block', 'Yes.\n\n*From:* Ann\n*Sent:* Monday\n\nHi', 'Yes.'],
  ['original message', 'Yes.\n\n-----Original Message-----\nHi', 'Yes.'],
  ['signature', 'Yes.\n\n-- \nBob\nnot interested Ltd.', 'Yes.'],
  ['device line', 'Yes.\n\nSent from my iPhone', 'Yes.'],
  [
    'what is said below a signature and a quote',
    'Yes.\n\n-- \nBob\n\n> Hi\n\nAnd on Friday?',
    'Yes.\n\n\nAnd on Friday?',
  ],
  ['sent by a program', 'Yes.\n\nSent from Mail for Windows', 'Yes.'],
  ['excused by a phone', 'Yes.\n\nSent from my phone, please excuse any typos', 'Yes.'],
  [
    "a line of one's own right above a wrapped introduction",
    'On Monday I am free\nOn Mon, Nov 23, 2026 at 9:00 AM Ann Archer\n<ann@example.com> wrote:\n> Hi',
    'On Monday I am free',
  ],
  ['a header block without addresses', 'Yes.\n\nFrom: Ann\nSent: Monday, 23 November 2026\nTo: Bob\n\nHi', 'Yes.'],
  ['a header block that is passed on', 'See below:\n\nFrom: Ann <ann@example.com>\nTo: Bob\n\nHi', 'See below:'],
  ['Korean', '네.\n\n2026년 11월 23일 (월) 오전 9:00, Ann <ann@example.com>님이 작성:\n\nHi Bob', '네.'],
  ['Romanian', 'Da.\n\nÎn lun., 23 nov. 2026 la 09:00, Ann <ann@example.com> a scris:\n\nHi Bob', 'Da.'],
  [
    'Hebrew with marks of direction',
    'כן.\n\n\u202bבתאריך יום ב׳, 23 בנוב׳ 2026 ב-9:00 מאת \u202aAnn\u202c\u200f <\u202aann@example.com\u202c\u200f>:\u202c\n\n> Hi',
    'כן.',
  ],
  [
    'an address wrapped before its bracket',
    'Ja.\n\nman. 23. nov. 2026 kl. 09:00 skrev Ann Archer <ann@example.com\n>:\n\nHi Bob',
    'Ja.',
  ],
  ...(
    [
      ['보낸 사람', '보낸 날짜', '받는 사람', '제목'],
      ['Από', 'Στάλθηκε', 'Προς', 'Θέμα'],
      ['De la', 'Trimis', 'Către', 'Subiect'],
      ['מאת', 'נשלח', 'אל', 'נושא'],
      ['من', 'تم الإرسال', 'إلى', 'الموضوع'],
      ['От', 'Изпратено', 'До', 'Относно'],
      ['Šalje', 'Poslano', 'Prima', 'Predmet'],
      ['Od', 'Odoslané', 'Komu', 'Predmet'],
      ['Dari', 'Dikirim', 'Kepada', 'Subjek'],
      ['Từ', 'Đã gửi', 'Tới', 'Chủ đề'],
      ['จาก', 'ส่ง', 'ถึง', 'เรื่อง'],
      ['प्रेषक', 'भेजा गया', 'प्रति', 'विषय'],
    ] as const
  ).map(([from, sent, to, subject]): readonly [string, string, string] => [
    `Outlook block with ${from}`,
    `Yes.\n\n${from}: Ann <ann@example.com>\n${sent}: 23.11.2026 09:00\n${to}: Bob\n${subject}: Hi\n\nHi`,
    'Yes.',
  ]),
  ['a Greek phone', 'Ναι.\n\nΣτάλθηκε από το iPhone μου', 'Ναι.'],
  ['a Korean phone', '네.\n\n나의 iPhone에서 보냄', '네.'],
  [
    'the armor of a signed message',
    '-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nYes.\n-----BEGIN PGP SIGNATURE-----\n\niQIz\n-----END PGP SIGNATURE-----',
    'Yes.',
  ],
  ['answers in between', '> One?\nFirst.\n\n> Two?\nSecond.', 'First.\n\nSecond.'],
  ['CRLF', 'Yes.\r\n\r\n> Hi\r\n', 'Yes.'],
];

for (const [name, text, expected] of CASES) {
  test(`strips: ${name}`, (t) => {
    t.is(stripQuoted(text), expected);
  });
}

for (const text of [
  'As Ann wrote:\n\nwe should talk.',
  'From: the warehouse\nTo: the shop\nwe drive daily.',
  'On 23 November we open:\nNorth gate',
  'On 23 November 2026 he wrote:\nwe should talk.',
  'This is the header:\nFrom: ann@example.com\nTo: bob@example.com\nSubject: Hi\nIs it right?',
  'From: Berlin\nTo: Munich\nDate: Monday 10:00\nDo you drive there?',
  'Yes.\n--\nAnd could you tell me what the large one costs?',
  'We need:\n> two large ones\n> one small one',
  '>10 pallets a day',
  'Sent from my desk, the parcel arrives on Monday.',
]) {
  test(`keeps ${JSON.stringify(text)}`, (t) => {
    t.is(stripQuoted(text), text);
  });
}

test('never returns more than was given, nor a line that was not there', (t) => {
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '> q',
      '-- ',
      '',
      'On 1/1/2026 Ann wrote:',
      'From: a',
      'Sent: b',
      '-----Original Message-----',
      'text',
    ),
  );
  fc.assert(
    fc.property(fc.array(line), fc.constantFrom('\n', '\r\n'), (lines, end) => {
      const text = lines.join(end);
      const own = stripQuoted(text);
      const given = new Set(text.split(/\r?\n/).map((each) => each.trimEnd()));
      return own.length <= text.length && own.split('\n').every((each) => each === '' || given.has(each));
    }),
  );
  t.pass();
});

const SENT = [
  'Hi Bob,\n\nWe help warehouses to find every pallet at once: https://ours.example/a\n\nBest,\nAnn\n\nIf you would rather not hear from me again, reply "unsubscribe" and I will not write any more.',
];

test('a line of a million brackets costs no more than its length', (t) => {
  const line = `http://${')'.repeat(1_000_000)}`;
  t.is(withoutSentText(`Yes\n${line} (`, SENT), `Yes\n${line} (`);
});

test('what we sent goes wherever it stands, wrapped anew, without marks, with other links', (t) => {
  const reply = [
    'Yes, call me.',
    '',
    'Hi Bob,',
    '',
    'We help warehouses to find every',
    'pallet at once: https://track.ours.example/c/123',
    '',
    'Best,',
    'Ann',
    '',
    'If you would rather not hear from me again, reply "unsubscribe" and I',
    'will not write any more.',
  ].join('\n');
  t.is(withoutSentText(reply, SENT), 'Yes, call me.');
  t.is(
    withoutSentText('Hi Bob,\n\nthat is my name too. Best,\nAnn', SENT),
    'Hi Bob,\n\nthat is my name too. Best,\nAnn',
  );
  t.is(withoutSentText(reply, []), reply);
});

test('what HTML mail marks as quoted goes, answers in between stay', (t) => {
  const gmail =
    '<div dir="ltr">Yes, call me.</div><br><div class="gmail_quote"><div class="gmail_attr">On Fri Ann wrote:<br></div><blockquote class="gmail_quote">Hi<div>there</div></blockquote></div>';
  t.is(stripQuoted(htmlToPlain(gmail, { quotes: 'mark' })), 'Yes, call me.');
  const between =
    '<blockquote type="cite">One?</blockquote><div>First.</div><blockquote type="cite">Two?</blockquote><div>Second.</div>';
  t.is(stripQuoted(htmlToPlain(between, { quotes: 'mark' })).replace(/\n+/g, '\n'), 'First.\nSecond.');
  const outlook =
    '<div>Ja, gerne.</div><div id="appendonsend"></div><hr><div id="divRplyFwdMsg"><b>Von:</b> Ann</div><div>unsubscribe</div>';
  t.is(stripQuoted(htmlToPlain(outlook, { quotes: 'mark' })), 'Ja, gerne.');
  const desktop =
    '<p>Oui.</p><div style="border:none;border-top:solid #E1E1E1 1.0pt;padding:3pt"><p><b>De :</b> Ann</p></div><p>quoted</p>';
  t.is(stripQuoted(htmlToPlain(desktop, { quotes: 'mark' })), 'Oui.');
  t.true(htmlToPlain(desktop).includes('quoted'));
});

test('the hidden preview line of an email is not among the words of its writer', (t) => {
  const hidden = [
    'display:none',
    'color:#fff; DISPLAY : none !important;',
    'visibility:hidden',
    'opacity:0;color:transparent',
    'max-height:0px;max-width:0px;overflow:hidden',
    'overflow:hidden;height:0',
    'font-size:0',
    'font-size:1px;line-height:1px',
    'font-size:.5pt',
  ];
  for (const style of hidden) {
    const html = `<div style="${style}">Please <b>unsubscribe</b> me.<br></div><p>Yes, call me.</p>`;
    for (const quotes of ['keep', 'mark'] as const) t.is(htmlToPlain(html, { quotes }), 'Yes, call me.', style);
  }
  t.is(htmlToPlain('<p hidden>Stop.</p>Yes.'), 'Yes.');
  const seen = [
    'display:block',
    'opacity:0.8',
    'opacity:1',
    'max-height:0',
    'overflow:hidden',
    'border-height:0;overflow:hidden',
    'font-size:12px',
    'font-size:small',
    'font-size:0.9em',
    'min-height:0;overflow:hidden',
  ];
  for (const style of seen) t.is(htmlToPlain(`<div style="${style}">No.</div>`), 'No.', style);
  // Email editors remove the gaps between columns in this way.
  const columns =
    '<td style="font-size:0px"> gap <div style="font-size:14px">One<i style="font-size:80%">!</i></div><b>gap</b></td>Two';
  t.is(htmlToPlain(columns).replace(/\s+/g, ' '), 'One! Two');
});

test('a sentence that begins like the line of a phone stays', (t) => {
  t.is(stripQuoted('Sent from my desk to yours.\nWe should talk.'), 'Sent from my desk to yours.\nWe should talk.');
});

test('HTML of any nesting costs steps in proportion to its length', (t) => {
  const steps = (html: string): number => {
    let count = 0;
    htmlToPlain(html, { quotes: 'mark', onStep: () => (count += 1) });
    return count;
  };
  for (const unit of ['<div>', '</div>', '<div></p>', '<table><tr><td>', '<b><i></b>', '<blockquote></div>']) {
    const tags = unit.split('<').length - 1;
    for (const times of [100, 10_000]) t.true(steps(unit.repeat(times)) <= 2 * tags * times, `${unit} x ${times}`);
  }
  t.is(htmlToPlain(`${'<div>'.repeat(20_000)}seen${'</div>'.repeat(20_000)}`), 'seen');
  t.is(htmlToPlain(`${'</div>'.repeat(20_000)}seen`), 'seen');
});
