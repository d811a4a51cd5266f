import test from 'ava';
import fc from 'fast-check';
import { rampLevel } from './ramp.ts';
import type { Ramp } from './ramp.ts';

const ramp: Ramp = { enabled: true, start: 5, increment: 3, ceiling: 20, level: null, perMailboxCap: 50 };

const table: [string, Partial<Ramp>, number, number][] = [
  ['off: the cap', { enabled: false }, 0, 50],
  ['first day', {}, 0, 5],
  ['third day', {}, 2, 11],
  ['the ceiling', {}, 9, 20],
  ['the cap under the ceiling', { perMailboxCap: 12 }, 9, 12],
  ['a start above the cap', { start: 80 }, 0, 20],
  ['no ceiling: the cap', { ceiling: null }, 99, 50],
  ['ceiling 0 is none', { ceiling: 0 }, 99, 50],
  ['from the stored level', { level: 9 }, 1, 12],
  ['a level under a raised start', { level: 2 }, 0, 5],
  ['a level above a lowered ceiling', { level: 40 }, 0, 20],
  ['never held at zero', { start: 0, increment: 0 }, 3, 1],
  ['but a cap of zero is zero', { perMailboxCap: 0 }, 3, 0],
  ['before the first day', {}, -1, 5],
];

for (const [name, fields, day, expected] of table) {
  test(name, (t) => t.is(rampLevel({ ...ramp, ...fields }, day), expected));
}

test('property: never over cap or ceiling, and never falling', (t) => {
  const count = fc.integer({ min: 0, max: 200 });
  const arb = fc.record({
    enabled: fc.boolean(),
    start: count,
    increment: count,
    ceiling: fc.option(count),
    level: fc.option(count),
    perMailboxCap: count,
  });
  fc.assert(
    fc.property(arb, fc.nat(400), (any, day) => {
      const level = rampLevel(any, day);
      return (
        level >= 0 &&
        level <= any.perMailboxCap &&
        level <= rampLevel(any, day + 1) &&
        (!any.enabled || !any.ceiling || level <= any.ceiling)
      );
    }),
  );
  t.pass();
});
