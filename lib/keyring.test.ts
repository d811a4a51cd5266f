import { createCipheriv, randomBytes } from 'node:crypto';
import test from 'ava';
import { createKeyring } from './keyring.ts';

const [OLD, NEW] = ['11'.repeat(32), '22'.repeat(32)];

/** As releases before key ids sealed. */
function sealV1(hexKey: string, plain: string, place: string): Buffer {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(hexKey, 'hex'), iv);
  cipher.setAAD(Buffer.from(place));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([Buffer.from([1]), iv, cipher.getAuthTag(), body]);
}

test('a ring opens what any of its keys sealed, with and without a key id, and seals under the current one', (t) => {
  const [before, between, after] = [createKeyring(OLD), createKeyring(NEW, [OLD]), createKeyring(NEW)];
  const sealed = before.seal('word', 'here');
  for (const value of [sealed, sealV1(OLD, 'word', 'here'), sealV1(NEW, 'word', 'here')])
    t.is(between.open(value, 'here').toString(), 'word');
  const anew = between.seal('word', 'here');
  t.deepEqual(anew.subarray(0, between.currentPrefix.length), between.currentPrefix);
  t.notDeepEqual(sealed.subarray(0, between.currentPrefix.length), between.currentPrefix);
  t.is(after.open(anew, 'here').toString(), 'word');
  for (const value of [sealed, sealV1(OLD, 'word', 'here')]) t.throws(() => after.open(value, 'here'));
});

test('a seal opens nowhere else, and not when a byte is changed', (t) => {
  const ring = createKeyring(NEW, [OLD]);
  const sealed = ring.seal('word', 'here');
  t.throws(() => ring.open(sealed, 'there'));
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    t.throws(() => ring.open(changed, 'here'), undefined, `byte ${at}`);
  }
  for (const short of [Buffer.alloc(0), Buffer.from([1]), ring.currentPrefix, Buffer.alloc(40)])
    t.throws(() => ring.open(short, 'here'));
});

test('tracking keys are not the keys that seal', (t) => {
  const { tracking } = createKeyring(NEW, [OLD]);
  t.false(tracking.current.equals(Buffer.from(NEW, 'hex')));
  t.deepEqual(tracking.accepted, [tracking.current, createKeyring(OLD).tracking.current, NEW, OLD]);
});
