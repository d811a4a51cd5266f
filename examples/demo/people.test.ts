import test from 'ava';
import { cast, ROLES } from './people.ts';
import { FULL, SHORT, type Size } from './size.ts';

const ADDRESSES = Array.from({ length: 300 }, (_, at) => `person-${at}@example.com`);

function playersOf(size: Size): [string, number][] {
  const people = [...cast(ADDRESSES, size).values()];
  return ROLES.map(({ name }) => [name, people.filter(({ role }) => role.name === name).length]);
}

test('the short telling has two people in every role, and one where there is only one', (t) => {
  t.deepEqual(
    playersOf(SHORT),
    ROLES.map(({ name, share }) => [name, share === 'one' ? 1 : 2]),
  );
});

test('the full telling has everybody, and every role is played', (t) => {
  const players = playersOf(FULL);
  t.is(
    players.reduce((sum, [, count]) => sum + count, 0),
    ADDRESSES.length,
  );
  for (const [name, count] of players) t.true(count >= (name === 'out of office' ? 1 : 2), name);
});

test('the same addresses get the same roles in whatever order they come', (t) => {
  t.deepEqual(
    [...cast(ADDRESSES, SHORT).keys()].toSorted(),
    [...cast(ADDRESSES.toReversed(), SHORT).keys()].toSorted(),
  );
});
