import test from 'ava';
import fc from 'fast-check';
import { toComposed, isJsonObject, jsonProblem, parseKeepingNumbers, unstorableParts } from './storable-json.ts';
import { message } from '../messages/index.ts';

test('what JSON can say is storable, except NUL, half surrogates and great depth', (t) => {
  for (const value of [null, 1, true, 'Grüße 👋', [], {}, { a: [{ b: '\u0001' }] }])
    t.is(jsonProblem(value), undefined);
  for (const value of ['\0', ['a\0'], { 'a\0': 1 }]) t.is(jsonProblem(value)?.code, 'field.nul');
  for (const value of ['\ud800', ['\udc00x'], { '\ud83d': 1 }]) t.is(jsonProblem(value)?.code, 'field.surrogate');
  const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
  t.is(jsonProblem(nested(64)), undefined);
  t.is(jsonProblem(nested(65))?.code, 'field.nested');
});

test('the depth limit holds for input that would exhaust the stack', (t) => {
  t.is(jsonProblem(JSON.parse('['.repeat(30_000) + ']'.repeat(30_000)))?.code, 'field.nested');
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
    { path: 'body.a.1', message: message('field.nul') },
    { path: 'body.b.c', message: message('field.surrogate') },
    { path: 'body', message: message('field.name_problem', { problem: message('field.nul') }) },
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

test('whole numbers beyond 2^53 are refused, or kept as the text that was written', (t) => {
  for (const json of ['7615917337495251231', '-9007199254740992', '1e400', '[{"a":9007199254740993}]'])
    t.is(jsonProblem(JSON.parse(json))?.code, 'field.large_number', json);
  for (const json of ['9007199254740991', '0.1', '1e-7', '-0', '123456789.25'])
    t.is(jsonProblem(JSON.parse(json)), undefined, json);
  t.deepEqual(unstorableParts({ data: { order: 7615917337495251000 } }, 'body'), [
    {
      path: 'body.data.order',
      message: message('field.large_number'),
    },
  ]);
  t.deepEqual(
    parseKeepingNumbers(
      '{"a":7615917337495251231,"b":"7615917337495251231 \\" 1","c":[-12345678901234567890,1.5e3,12]}',
    ),
    { a: '7615917337495251231', b: '7615917337495251231 " 1', c: ['-12345678901234567890', 1500, 12] },
  );
  t.throws(() => parseKeepingNumbers('{"a":76159173374952512x}'), { instanceOf: SyntaxError });
});

test('text is composed wherever it stands, and a value without any to compose is the same', (t) => {
  t.deepEqual(toComposed({ 'Jose\u0301': ['Mu\u0308ller', { a: 'e\u0301' }, 1, null] }), {
    'Jos\u00e9': ['M\u00fcller', { a: '\u00e9' }, 1, null],
  });
  const value = { a: ['x', { b: '\u00e9' }] };
  t.is(toComposed(value), value);
});
