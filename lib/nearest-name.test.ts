import test from 'ava';
import { nearestName } from './nearest-name.ts';

test('a misspelt name leads to the known one, an unrelated name to none', (t) => {
  const known = ['limit', 'cursor', 'status', 'created_after'];
  for (const [name, nearest] of [
    ['limt', 'limit'],
    ['limits', 'limit'],
    ['lmiit', 'limit'],
    ['Status', 'status'],
    ['createdAfter', 'created_after'],
    ['page', undefined],
    ['x', undefined],
    ['', undefined],
    ['limit'.repeat(50), undefined],
  ] as const)
    t.is(nearestName(name, known), nearest, name);
  t.is(nearestName('limit', []), undefined);
});
