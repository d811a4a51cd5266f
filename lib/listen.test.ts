import test from 'ava';
import { listenHttp } from './listen.ts';
import { eventually } from '../test/harness/eventually.ts';

test('a server that closes lets open requests finish for a time, and then cuts who does not read', async (t) => {
  let answer: (() => void) | undefined;
  const server = await listenHttp(
    (request, response) => {
      if (request.url === '/slow') answer = () => response.end('done');
      else response.write('the beginning');
    },
    '127.0.0.1',
    0,
  );
  const slow = fetch(`${server.url}/slow`).then((response) => response.text());
  const endless = await fetch(`${server.url}/endless`);
  const cut = t.throwsAsync(endless.text());
  const answerNow = await eventually(async () => answer);
  const closed = server.close(500);
  answerNow();
  t.is(await slow, 'done');
  await closed;
  await cut;
});
