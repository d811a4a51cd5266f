import { createHmac } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { signPayload, verifySignature } from './signature.ts';

const SECRET = 'whsec_5d41402abc4b2a76b9719d911017c592';
const T = 1_800_000_000;
const now = new Date(T * 1000);

test('signs the timestamp, a dot and the raw body with the whole secret', (t) => {
  const expected = createHmac('sha256', SECRET).update(`${T}.{"a":1}`).digest('hex');
  t.is(signPayload(SECRET, T, '{"a":1}'), `t=${T},v1=${expected}`);
  t.is(signPayload(SECRET, T, Buffer.from('{"a":1}')), `t=${T},v1=${expected}`);
});

test('a known answer, computed outside', (t) => {
  // Command: printf '1.body' | openssl dgst -sha256 -hmac key
  t.is(signPayload('key', 1, 'body'), 't=1,v1=91b5374b153842ad05b2c4eab9349b8321b14703165bd3fb8b034dfb8be98ae5');
});

test('refuses a timestamp that is not whole seconds', (t) => {
  for (const bad of [1.5, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    t.throws(() => signPayload(SECRET, bad, ''), { instanceOf: RangeError });
  }
});

test('any body verifies under its own secret and no other, and no changed body does', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.string(), fc.nat(), (bytes, other, position) => {
      const body = Buffer.from(bytes);
      const header = signPayload(SECRET, T, body);
      if (!verifySignature(header, SECRET, body, { now })) throw new Error('refused its own');
      if (other !== SECRET && verifySignature(header, other, body, { now })) throw new Error('took another secret');
      const changed = Buffer.concat([body, Buffer.from('x')]);
      const at = position % changed.length;
      changed[at] = (changed[at] ?? 0) ^ 1;
      if (verifySignature(header, SECRET, changed, { now })) throw new Error('took another body');
    }),
  );
  t.pass();
});

test('refuses a time more than the tolerance away, in either direction', (t) => {
  const header = signPayload(SECRET, T, 'x');
  const at = (offset: number, toleranceSeconds?: number) => {
    return verifySignature(header, SECRET, 'x', { now: new Date((T + offset) * 1000), toleranceSeconds });
  };
  t.deepEqual([at(-300), at(0), at(300)], [true, true, true]);
  t.deepEqual([at(-301), at(301)], [false, false]);
  t.deepEqual([at(10, 10), at(11, 10)], [true, false]);
  t.false(verifySignature(header, SECRET, 'x', { now: new Date(Number.NaN) }));
});

test('ignores other schemes, and takes any matching v1', (t) => {
  const [time, v1] = signPayload(SECRET, T, 'x').split(',') as [string, string];
  const hex = v1.slice(3);
  const verify = (header: string | undefined) => verifySignature(header, SECRET, 'x', { now });
  t.true(verify(`${time},v0=abc,${v1},v2=def`));
  t.true(verify(`${v1}, ${time}`));
  t.true(verify(`${time},v1=${'0'.repeat(64)},${v1}`));
  for (const bad of [
    undefined,
    '',
    time,
    v1,
    `${time},v0=${hex}`,
    `${time},v11=${hex}`,
    `${time},v1=`,
    `${time},v1=${hex.slice(1)}`,
    `${time},v1=${hex}0`,
    `${time},v1=${'z'.repeat(64)}`,
    `t=abc,${v1}`,
    `t=,${v1}`,
    `t=1e9,${v1}`,
    `t=${T + 1},${v1}`,
    `t=${T},t=${T + 1},${v1}`,
    `${time};${v1}`,
  ]) {
    t.false(verify(bad), String(bad));
  }
});
