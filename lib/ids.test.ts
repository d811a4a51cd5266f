import test from 'ava';
import { newId } from './ids.ts';

test('ids differ, and those of one process are in order', (t) => {
  const ids = Array.from({ length: 10_000 }, newId);
  t.deepEqual(ids.toSorted(), ids);
  t.is(new Set(ids).size, ids.length);
  t.true(ids.every((id) => /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id)));
});
