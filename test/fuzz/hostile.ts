import fc from 'fast-check';

/** Values of every type that can break parsers, limits or databases. */
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53 + 2,
  -(2 ** 63),
  1e308,
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'x\udc00y',
  '\u202e\ufeff',
  '💌'.repeat(300),
  'é'.repeat(70_000),
  'x'.repeat(300_000),
  '{{.x}}{{range .y}}',
  '{{truncate 99999 .FirstName}}',
  "'; drop table users; --",
  '%00%ff../../etc/passwd',
  '<script>alert(1)</script>',
  '2999-13-45T99:99:99Z',
  '0001-01-01T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '00000000-0000-0000-0000-000000000000',
  'https://[::1]:1/\u0000',
  'postgres://x',
  'a@b',
  `${'a'.repeat(65)}@${'b'.repeat(260)}.example`,
  'ünï@exämple.com',
  [],
  {},
  [[]],
  [null],
  [{}],
  Array.from({ length: 2_000 }, (_, n) => n),
  Array.from({ length: 1_500 }, () => 'x'),
  { __proto__: null, constructor: { prototype: {} } },
  { '\u0000': 1, '\ud800': 2, '': 3 },
  nested(60),
  nested(400),
];

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let at = 0; at < depth; at += 1) value = at % 2 ? [value] : { a: value };
  return value;
}

/** Arbitrary of a hostile value. */
export const hostile: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...VALUES) },
  // Id that no row has. In a body that refers to rows, it passes validation and reaches the look-up.
  { weight: 1, arbitrary: fc.uuid() },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.double() },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** Arbitrary of a body with one or two changes: a value is replaced, removed, added or wrapped. */
export function disturbed(body: unknown): fc.Arbitrary<unknown> {
  return fc
    .array(fc.record({ at: fc.nat(), how: fc.constantFrom('replace', 'remove', 'add', 'wrap'), value: hostile }), {
      minLength: 1,
      maxLength: 2,
    })
    .map((changes) => {
      let changed: unknown = structuredClone(body);
      for (const { at, how, value } of changes) {
        const places = placesOf(changed);
        changed = apply(changed, places[at % places.length]!, how as never, value);
      }
      return changed;
    });
}

type Path = (string | number)[];

/** Returns every place in a value, including its root. */
function placesOf(value: unknown, path: Path = [], found: Path[] = []): Path[] {
  found.push(path);
  if (found.length < 200 && typeof value === 'object' && value !== null)
    for (const key of Object.keys(value)) placesOf((value as Record<string, unknown>)[key], [...path, key], found);
  return found;
}

function apply(root: unknown, path: Path, how: 'replace' | 'remove' | 'add' | 'wrap', value: unknown): unknown {
  if (path.length === 0) {
    if (how === 'add' && typeof root === 'object' && root !== null && !Array.isArray(root))
      return { ...root, nonsense: value };
    return how === 'wrap' ? [root] : how === 'replace' ? value : root;
  }
  const copy: any = Array.isArray(root) ? [...root] : { ...(root as object) };
  const [head, ...rest] = path as [string, ...Path];
  if (rest.length === 0 && how === 'remove') delete copy[head];
  else copy[head] = apply(copy[head], rest, how, value);
  return copy;
}

/**
 * Arbitrary of JSON texts that `JSON.stringify` never writes: duplicate keys, escapes of half surrogates, very large
 * numbers, invalid text.
 */
export function hostileText(body: unknown): fc.Arbitrary<string> {
  const text = JSON.stringify(body ?? {}) ?? '{}';
  const inside = text.startsWith('{') && text.length > 2 ? text.slice(1, -1) : '"a":1';
  return fc.constantFrom(
    `{${inside},${inside}}`,
    `{${inside},"__proto__":{"admin":true}}`,
    `{${inside},"name":"\\u0000"}`,
    `{${inside},"name":"\\ud800"}`,
    `{${inside},"days":1e400}`,
    `{${inside},"days":${'9'.repeat(5_000)}}`,
    `\ufeff${text}`,
    text.slice(0, -1),
    `${text}${text}`,
    '',
    'null',
    '"text"',
    '[]',
    '{'.repeat(5_000),
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
    '\u0000',
    'NaN',
    "{'a':1}",
  );
}

/** Arbitrary of hostile values for a path or a query. */
export const hostileWord: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'null',
    '-1',
    '0',
    '1e9',
    '99999999999999999999',
    '\u0000',
    '%',
    '%00',
    '..',
    'a/b',
    '\ufffd',
    '🦩',
    "' or 1=1",
    'x'.repeat(3_000),
    '00000000-0000-0000-0000-000000000000',
    'eyJhIjoxfQ',
  ),
  fc.string({ maxLength: 30 }),
);
