import test from 'ava';
import fc from 'fast-check';
import {
  decimalsOf,
  fromMinorUnits,
  isCurrency,
  MAX_MINOR_UNITS,
  scaledBound,
  scaledOf,
  exactMinorUnits,
} from './money.ts';

const currency = fc.constantFrom('USD', 'JPY', 'KWD', 'CLF', 'HUF', 'ISK');

test('every amount of every currency comes back as it was', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: MAX_MINOR_UNITS }), currency, (minor, code) => {
      const shown = fromMinorUnits(minor, code);
      t.is(exactMinorUnits(shown, code), minor);
      t.is(exactMinorUnits(JSON.parse(JSON.stringify(shown)), code), minor);
    }),
    { numRuns: 2_000 },
  );
});

test('what a currency cannot hold is refused, not rounded', (t) => {
  t.is(exactMinorUnits(0.1 + 0.2, 'USD'), null);
  t.is(exactMinorUnits(19.999, 'USD'), null);
  t.is(exactMinorUnits(19.999, 'KWD'), 19_999);
  t.is(exactMinorUnits(0.5, 'JPY'), null);
  t.is(exactMinorUnits(1e-7, 'USD'), null);
  t.is(exactMinorUnits(-1, 'USD'), null);
  t.is(exactMinorUnits(1e12, 'USD'), MAX_MINOR_UNITS);
  t.is(exactMinorUnits(1e12 + 0.01, 'USD'), null);
  t.is(exactMinorUnits(1e300, 'JPY'), null);
  t.is(exactMinorUnits(0, 'USD'), 0);
  t.true(isCurrency('EUR'));
  t.false(isCurrency('eur'));
  t.false(isCurrency('ZZZ'));
  t.is(decimalsOf('EUR'), 2);
});

test('bounds and amounts compare as the numbers that are shown', (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: MAX_MINOR_UNITS }),
      currency,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      (minor, code, bound) => {
        const shown = fromMinorUnits(minor, code);
        const scaled = scaledOf(minor, code);
        t.is(scaled >= scaledBound(bound, 'up'), shown >= bound, `${shown} >= ${bound}`);
        t.is(scaled <= scaledBound(bound, 'down'), shown <= bound, `${shown} <= ${bound}`);
      },
    ),
    { numRuns: 2_000 },
  );
});
