import test from 'ava';
import { createBoundedCache } from './bounded-cache.ts';

test('keeps what was used last, within the bound', (t) => {
  const cache = createBoundedCache<number>(64);
  let created = 0;
  const use = (key: string): number => cache.getOrCreate(key, () => (created += 1));
  const [a, b, c] = ['a'.repeat(4), 'b'.repeat(4), 'c'.repeat(4)];
  for (let index = 0; index < 14; index += 1) use(`k${String(index).padStart(3, '0')}`);
  t.is(use(a), 15);
  t.is(use(b), 16);
  t.is(use('k000'), 1, 'sixteen keys of four fit');
  t.is(use(c), 17, 'evicts the least recently used');
  t.is(use('k000'), 1);
  t.is(use('k001'), 18, 'k001 had become the oldest');
});

test('a key too long to keep is created anew each time', (t) => {
  const cache = createBoundedCache<object>(64);
  const key = 'x'.repeat(5);
  t.not(
    cache.getOrCreate(key, () => ({})),
    cache.getOrCreate(key, () => ({})),
  );
});
