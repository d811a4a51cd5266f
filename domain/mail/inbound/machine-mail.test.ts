import test from 'ava';
import { classifyInbound } from './classify.ts';
import { parseInbound } from './parse.ts';

const RECEIVED = new Date('2026-11-23T10:00:00Z');
const OURS = 'A question about Client';
const SENT = { texts: [], subjects: [OURS] };

async function read(subject: string, body: string, head = '') {
  const raw = `From: Dana Field <dana@client.example>\nTo: sam@sender.example\nSubject: ${subject}\n${head}Content-Type: text/plain; charset=utf-8\n\n${body}\n`;
  return classifyInbound(await parseInbound(Buffer.from(raw)), {}, RECEIVED, 'UTC', SENT);
}

/** Plain text receipts, by the program or language that writes them. */
const RECEIPTS: Readonly<Record<string, readonly [string, string]>> = {
  German: [
    `Gelesen: ${OURS}`,
    `Ihre Nachricht\n\n An: Dana\n Betreff: ${OURS}\n Gesendet: Montag, 23. November 2026 08:00:00\n\nwurde am 23. November 2026 08:05:00 gelesen.`,
  ],
  Dutch: [
    `Gelezen: ${OURS}`,
    `Uw bericht\n\n Aan: Dana\n Onderwerp: ${OURS}\n Verzonden: maandag 23 november 2026 8:00:00\n\nis gelezen op maandag 23 november 2026 8:05:00.`,
  ],
  Japanese: [
    `開封済み: ${OURS}`,
    `次の宛先へのメッセージ:\n\n 宛先: Dana\n 件名: ${OURS}\n 送信日時: 2026/11/23 8:00\n\nが 2026/11/23 8:05 に開封されました。`,
  ],
  'deleted unread': [
    `Not read: ${OURS}`,
    `Your message\n\n To: Dana\n Subject: ${OURS}\n Sent: Monday, November 23, 2026 8:00:00 AM\n\n was deleted without being read on Monday, November 23, 2026 8:05:00 AM.`,
  ],
  'one sentence': [`Read: ${OURS}`, 'Your message was read on Monday, November 23, 2026 8:05:00 AM (UTC).'],
  Thunderbird: [
    `Return Receipt (displayed) - ${OURS}`,
    'This is a Return Receipt for the mail that you sent to dana@client.example.\n\nNote: It only acknowledges that the message was displayed.',
  ],
  Notes: [
    `Return Receipt: ${OURS}`,
    `Your document:   ${OURS}\nwas received by: Dana Field/Client\nat:              23.11.2026 09:05:11`,
  ],
};

for (const [name, [subject, body]] of Object.entries(RECEIPTS))
  test(`a read receipt in plain text is no reply: ${name}`, async (t) => {
    t.like(await read(subject, body), { kind: 'automated', reason: 'read_receipt' });
  });

for (const [subject, body] of [
  [`Read: ${OURS}`, 'I read it. Can you call me on Monday?'],
  [`Termin: ${OURS}`, 'Passt mir gut, bis dann.'],
  [`AW: ${OURS}`, 'Passt, Montag, 23. November 2026 um 8:05.'],
  [`Re: ${OURS}`, `Here it is:\nWhat: ${OURS}\nWhen: 10:30\nWhere: Lyon\nSee you at 10:30`],
] as const)
  test(`a person who writes like a receipt is a person: ${subject}, ${body.split('\n', 1)[0]}`, async (t) => {
    t.is((await read(subject, body)).kind, 'reply');
  });

for (const words of [
  'Meine E-Mail-Adresse hat sich geändert. Bitte verwenden Sie dana@neu.example.',
  'This account has been closed. Please contact office@client.example.',
  'Frau Field ist nicht mehr bei Client tätig. Bitte wenden Sie sich an ops@client.example.',
  "Cette adresse n'est plus utilisée. Merci de contacter info@client.example.",
  'Esta dirección de correo ya no está en uso.',
  'Ihre Nachricht an dana@client.example wurde in Quarantäne verschoben.',
])
  test(`a notice without any header of a machine: ${words.slice(0, 40).trim()}`, async (t) => {
    t.is((await read(`Re: ${OURS}`, words)).kind, 'automated');
  });

for (const words of [
  'Dana has left the company, I am her successor. Can you call me?',
  'I no longer work on purchasing. Please ask Kim.',
  'Our mailbox is full of such mails. Not interested.',
  'Kim has left the company, so nobody needs it.',
])
  test(`a person who speaks of such things is a person: ${words.slice(0, 40)}`, async (t) => {
    t.is((await read(`Re: ${OURS}`, words)).kind, 'reply');
  });

for (const header of ['Precedence: bulk', 'Precedence: junk', 'X-Auto-Response-Suppress: DR, OOF, AutoReply'])
  test(`a header on everything proves nothing: ${header}`, async (t) => {
    const words = 'Happy to talk. I am out on Friday, Monday at ten works.';
    t.is((await read(`Re: ${OURS}`, words, `${header}\n`)).kind, 'reply');
  });

for (const subject of [
  'Răspuns automat',
  'Automatická odpoveď',
  'Automatski odgovor',
  'Автоматичен отговор',
  'Αυτόματη απάντηση',
  '자동 회신',
  'תשובה אוטומטית',
  'رد تلقائي',
  'Balasan otomatis',
  'Trả lời tự động',
  'ตอบกลับอัตโนมัติ',
  'स्वचालित उत्तर',
])
  test(`a subject of an automatic answer without any header: ${subject}`, async (t) => {
    const found = await read(`${subject}: ${OURS}`, 'Out of the office until 4 December.');
    t.like(found, { kind: 'out_of_office', returnDate: new Date('2026-12-04') });
  });

test('a message without text is read by its subject, unless it repeats ours', async (t) => {
  t.like(await read('Please unsubscribe me', ''), { kind: 'reply', unsubscribeRequest: true });
  t.like(await read(`Re: ${OURS}`, ''), { kind: 'reply', intent: 'neutral' });
});

test('the words of our own subject say nothing of an answer that repeats it; those before it do', async (t) => {
  const kindOf = async (subject: string, ours: string): Promise<string> => {
    const raw = `From: dana@client.example\nSubject: ${subject}\n\nThank you, I will be back on 4 December.`;
    const sent = { texts: [], subjects: [ours] };
    return classifyInbound(await parseInbound(Buffer.from(raw)), {}, RECEIVED, 'UTC', sent).kind;
  };
  t.is(await kindOf('Auto-parts for Client', 'Auto-parts for Client'), 'reply');
  t.is(await kindOf('[EXT] Urlaubsplanung', 'Urlaubsplanung'), 'reply');
  t.is(await kindOf('Urlaubsplanung [#123]', 'Re: Urlaubsplanung'), 'reply');
  t.is(await kindOf('Automatic reply: Urlaubsplanung', 'Urlaubsplanung'), 'out_of_office');
  t.is(await kindOf('Urlaub: Urlaubsplanung', 'Urlaubsplanung'), 'out_of_office');
  t.is(await kindOf('Urlaubsplanung', 'A question'), 'out_of_office');
});
