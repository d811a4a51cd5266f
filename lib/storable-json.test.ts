import test from 'ava';
import fc from 'fast-check';
import { isJsonObject, jsonProblem, unstorableParts } from './storable-json.ts';

test('what JSON can say is storable, except NUL, half surrogates and great depth', (t) => {
  for (const value of [null, 1, true, 'Grüße 👋', [], {}, { a: [{ b: '\u0001' }] }])
    t.is(jsonProblem(value), undefined);
  for (const value of ['\0', ['a\0'], { 'a\0': 1 }]) t.regex(jsonProblem(value)!, /NUL/);
  for (const value of ['\ud800', ['\udc00x'], { '\ud83d': 1 }]) t.regex(jsonProblem(value)!, /surrogate/);
  const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
  t.is(jsonProblem(nested(64)), undefined);
  t.regex(jsonProblem(nested(65))!, /deep/);
});

test('the depth limit holds for input that would exhaust the stack', (t) => {
  t.regex(jsonProblem(JSON.parse('['.repeat(30_000) + ']'.repeat(30_000)))!, /deep/);
});

test('a problem is found wherever it stands', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      t.is(jsonProblem({ before: value, at: ['\0'] }) === undefined, false);
    }),
  );
});

test('lists and null are no objects', (t) => {
  t.deepEqual([{}, { a: 1 }, [], null, 'x', 1].map(isJsonObject), [true, true, false, false, false, false]);
});

test('every part that cannot be kept is listed with its path, however deep or strange the value is', (t) => {
  t.deepEqual(unstorableParts({ a: ['x', 'n\0l'], b: { c: '\ud800' }, 'k\0': 1, ok: 'é👩' }, 'body'), [
    { path: 'body.a.1', message: 'Contains a NUL character' },
    { path: 'body.b.c', message: 'Contains half of a surrogate pair' },
    { path: 'body', message: 'Has a field whose name contains a NUL character' },
  ]);
  const deep = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000)) as unknown;
  t.is(unstorableParts(deep, 'body').length, 1);
  t.is(
    unstorableParts(
      Array.from({ length: 1_000 }, () => '\0'),
      'body',
    ).length,
    20,
  );
  t.deepEqual(unstorableParts(process.stdin, 'body'), [], 'a stream is handed on as it is');
});
