import test from 'ava';
import { replyText } from './reply-text.ts';
import { parseInbound } from './parse.ts';

const ASKS = '<p>Please unsubscribe me.</p>';
const html = (body: string) => `Content-Type: text/html; charset=utf-8\n\n${body}\n`;
const both = (plain: string, body: string) =>
  `Content-Type: multipart/alternative; boundary=aa\n\n--aa\nContent-Type: text/plain; charset=utf-8\n\n${plain}\n--aa\n${html(body)}--aa--\n`;
const wordsOf = async (content: string) =>
  replyText(await parseInbound(Buffer.from(`From: Dana <dana@client.example>\nMIME-Version: 1.0\n${content}`)));

for (const plain of [
  'This email has been scanned by SecureMail for viruses and malware.',
  'To view this message, please use an HTML compatible email viewer!',
  'Votre logiciel de messagerie ne prend pas en charge le format HTML.',
  '[image: logo.png]',
  'https://client.example/view/123',
  '&nbsp;',
  'This is a multi-part message in MIME format.',
  '@media print { p { color: black; } } .a { margin: 0; }',
  'Please',
])
  test(`a plain part that says nothing hides no words: ${plain}`, async (t) => {
    t.true((await wordsOf(both(plain, ASKS))).endsWith('Please unsubscribe me.'));
  });

test('a long plain part that lacks the last words gives way to the HTML', async (t) => {
  const start = 'Thank you for your message of last week. We looked at it with the whole team'.repeat(5);
  t.true(
    (await wordsOf(both(start, `<p>${start}, but please unsubscribe me.</p>`))).endsWith('please unsubscribe me.'),
  );
});

test('a reply in plain text below which the HTML adds nothing is read as it is', async (t) => {
  t.is(
    await wordsOf(
      both(
        'Yes, please.\n\n> Are you interested?',
        '<p>Yes, please.</p><blockquote type="cite">Are you interested?</blockquote>',
      ),
    ),
    'Yes, please.',
  );
});

test('both forms count where each has words of its own', async (t) => {
  const words = await wordsOf(both('Please call me on Monday.', '<p>This mail was checked by the gateway.</p>'));
  t.true(words.includes('call me on Monday'));
});

const INTRODUCED: Readonly<Record<string, string>> = {
  Yandex: '<div>23.11.2026, 10:00, "Sam Seller" &lt;sam@sender.example&gt;:</div>',
  Yahoo: '<div>On Monday, November 23, 2026 at 10:00:00 AM, Sam Seller &lt;sam@sender.example&gt; wrote:</div>',
  Zimbra:
    '<hr><div><b>From: </b>"Sam" &lt;sam@sender.example&gt;<br><b>To: </b>"Dana"<br><b>Sent: </b>Monday, 23 November, 2026 09:00<br><b>Subject: </b>A question</div>',
};
for (const [name, line] of Object.entries(INTRODUCED))
  test(`an indented block below an introduction is a quote: ${name}`, async (t) => {
    t.is(
      await wordsOf(html(`<div>Good, call me.</div>${line}<blockquote><p>Unsubscribe here</p></blockquote>`)),
      'Good, call me.',
    );
  });

for (const [name, attributes] of Object.entries({
  plain: '',
  Gmail: 'class="gmail_quote" style="margin:0 0 0 40px;border:none;padding:0px"',
  Outlook: 'style="margin-left:0.8ex;padding-left:1ex;border-left:3px solid rgb(200,200,200)"',
}))
  test(`an indented block among a person's words is theirs: ${name}`, async (t) => {
    const words = await wordsOf(
      html(`<div>We need:</div><blockquote ${attributes}>10 chairs</blockquote><div>Thanks</div>`),
    );
    t.deepEqual(words.split(/\n+/), ['We need:', '10 chairs', 'Thanks']);
  });

test('cells of a table are words apart', async (t) => {
  t.is(
    await wordsOf(html('<table><tr><td>Seats</td><td>40</td></tr><tr><td>Total</td><td>80</td></tr></table>')),
    'Seats 40\nTotal 80',
  );
});

test('a message of files alone shows no source', async (t) => {
  const file = 'Content-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\nJVBERi0=\n';
  const parsed = await parseInbound(
    Buffer.from(`From: a@b.example\nContent-Type: multipart/mixed; boundary=aa\n\n--aa\n${file}--aa--\n`),
  );
  t.deepEqual([parsed.text, parsed.files.length], ['', 1]);
});
