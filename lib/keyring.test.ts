import test from 'ava';
import { createKeyring } from './keyring.ts';

const [OLD, NEW] = ['11'.repeat(32), '22'.repeat(32)];

test('a ring opens what any of its keys sealed, and seals under the current one', (t) => {
  const [before, between, after] = [createKeyring(OLD), createKeyring(NEW, [OLD]), createKeyring(NEW)];
  const sealed = before.seal('word', 'here');
  t.is(between.open(sealed, 'here').toString(), 'word');
  const anew = between.seal('word', 'here');
  t.deepEqual(anew.subarray(0, between.currentPrefix.length), between.currentPrefix);
  t.notDeepEqual(sealed.subarray(0, between.currentPrefix.length), between.currentPrefix);
  t.is(after.open(anew, 'here').toString(), 'word');
  t.throws(() => after.open(sealed, 'here'));
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
  t.deepEqual(tracking.accepted, [tracking.current, createKeyring(OLD).tracking.current]);
});
