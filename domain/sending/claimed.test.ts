import test from 'ava';
import { composeMessage } from './claimed.ts';

test('texts that are sent as base64 have lines that end with CRLF', async (t) => {
  const lines = ['Здравствуйте, Лия!', 'Это первая строка', 'и вторая.'];
  const { raw } = await composeMessage(
    { from: 'a@ours.test', to: 'b@lead.test', subject: 'S', text: lines.join('\n'), html: lines.join('<br>\r\n') },
    { email: 'a@ours.test' },
  );
  const parts = raw.toString().match(/base64\r\n\r\n([\w+/=\r\n]+)/g) ?? [];
  const texts = parts.map((part) => Buffer.from(part.slice('base64'.length), 'base64').toString());
  t.deepEqual(texts, [lines.join('\r\n'), lines.join('<br>\r\n')]);
});
