import test from 'ava';
import { assertNowhere, randomSecret } from './secrets.ts';

/** Returns true if the assertion finds a secret. */
function isFound(where: unknown, secret: string): boolean {
  const seen: boolean[] = [];
  assertNowhere({ false: (value: unknown) => seen.push(value === true) > 0 } as never, where, [secret]);
  return seen.includes(true);
}

test('a secret is found in texts, rows and bytes, as it is, in hexadecimal, and at any place of something in base64', (t) => {
  const secret = randomSecret('password');
  for (const before of ['', 'a', 'ab', 'abc'])
    for (const after of ['', '?', '??']) {
      const around = Buffer.from(`${before}${secret}${after}`);
      for (const where of [
        around.toString(),
        [{ row: { column: around } }],
        around.toString('base64'),
        `Basic ${around.toString('base64url')}`,
        around.toString('hex'),
        JSON.stringify({ payload: around.toString('base64') }),
      ])
        t.true(isFound(where, secret), `"${before}" and "${after}" around it`);
    }
  for (const where of ['', [], randomSecret('password'), { row: Buffer.alloc(3) }]) t.false(isFound(where, secret));
});

test('what a text can contain by chance is refused: a port, a prefix, a word', (t) => {
  for (const short of ['38443', 'whsec_', 'Hello', '01234567890'])
    t.throws(() => assertNowhere(t, 'nothing', [short]), { message: /too short/ });
});
