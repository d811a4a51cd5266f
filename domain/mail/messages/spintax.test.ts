import test from 'ava';
import fc from 'fast-check';
import { inspectSource, renderField } from './render-source.ts';
import { MAX_NESTING, MAX_SOURCE_LENGTH } from './limits.ts';
import { expandSpintax, maskSpintax } from './spintax.ts';

function outcomes(source: string, options?: { html: boolean }): string[] {
  const seen = new Set(Array.from({ length: 200 }, (_, seed) => expandSpintax(source, `send-${seed}`, options)));
  return [...seen].sort();
}

const CASES: readonly [source: string, expected: string[]][] = [
  ['{a|b}', ['a', 'b']],
  ['{a|b|{c|d}}', ['a', 'b', 'c', 'd']],
  ['{{a|b}|c}', ['a', 'b', 'c']],
  ['{{a|b}|{c|d}}', ['a', 'b', 'c', 'd']],
  ['x{ y|}z', ['x yz', 'xz']],
  ['{Hi {{.FirstName | default "you"}}|Hello}', ['Hello', 'Hi {{.FirstName | default "you"}}']],
  ['{{{.City}}|there}', ['there', '{{.City}}']],
  ['{there|{{.City}}}', ['there', '{{.City}}']],
  ['a { color: red } b', ['a { color: red } b']],
  ['{ x {a|b} }', ['{ x a }', '{ x b }']],
  ['{a|b', ['{a|b']],
  ['a|b}', ['a|b}']],
  ['{a {b|c}', ['{a b', '{a c']],
  ['\\{a|b\\}', ['{a|b}']],
  ['{a\\|b|c\\}}', ['a|b', 'c}']],
  ['C:\\dir a\\|b', ['C:\\dir a\\|b']],
  ['{{.A | upper}}', ['{{.A | upper}}']],
];

for (const [source, expected] of CASES) {
  test(`expands ${source}`, (t) => {
    t.deepEqual(outcomes(source), expected);
  });
}

test('style, script and comments of an HTML body are left alone', (t) => {
  const opaque = '<style>@media x { a[lang|=en] { color:red } }</style><!--[if {a|b}]--><script>{a|b}</script>';
  t.deepEqual(outcomes(`${opaque}<p>{a|b}</p>`, { html: true }), [`${opaque}<p>a</p>`, `${opaque}<p>b</p>`]);
  t.deepEqual(outcomes('<style>{a|b}', { html: true }), ['<style>{a|b}']);
});

test('options are taken about evenly, and groups choose independently', (t) => {
  const counts = new Map<string, number>();
  for (let send = 0; send < 9000; send += 1) {
    const text = expandSpintax('{a|b|c}{x|y|z}', `01890000-0000-7000-8000-${send}`);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  t.is(counts.size, 9);
  for (const [text, count] of counts) t.true(count > 800 && count < 1200, `${text}: ${count}`);
});

/** A source built from known groups, with the set of all its possible expansions. */
interface Known {
  source: string;
  possible: string[];
}

const { group } = fc.letrec<{ part: Known; group: Known }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'spintax' },
    fc
      .constantFrom('a', 'b', '{{.X}}', '{{.Y | default "|}"}}', ' ')
      .map((text) => ({ source: text, possible: [text] })),
    tie('group'),
  ),
  group: fc.array(tie('part'), { minLength: 2, maxLength: 4, depthIdentifier: 'spintax' }).map((options) => ({
    source: `{${options.map((option) => option.source).join('|')}}`,
    possible: options.flatMap((option) => option.possible),
  })),
}));

test('a group expands to one of its options, the same for the same seed', (t) => {
  fc.assert(
    fc.property(group, fc.string(), ({ source, possible }, seed) => {
      const text = expandSpintax(source, seed);
      return possible.includes(text) && text === expandSpintax(source, seed);
    }),
  );
  t.pass();
});

test('any source expands without throwing, and never to something longer', (t) => {
  const source = fc
    .array(fc.constantFrom('{', '}', '|', '\\', '{{', '}}', '"', '.A', 'x', '<style>', '</style>', '<!--'))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(
      source,
      fc.boolean(),
      (text, html) =>
        expandSpintax(text, 'seed', { html }).length <= text.length &&
        maskSpintax(text, { html }).length === text.length,
    ),
    { numRuns: 2000 },
  );
  t.pass();
});

test('a text without bars and backslashes is never touched', (t) => {
  const source = fc.array(fc.constantFrom('{', '}', 'a', ' ', '{{', '}}', ':', ';')).map((parts) => parts.join(''));
  fc.assert(fc.property(source, (text) => expandSpintax(text, 'seed') === text));
  t.pass();
});

test('merge values are never expanded', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('{', '}', '|', 'a', '\\') }), fc.string(), (value, seed) => {
      const { text } = renderField('body_plain', '{<{{.V}}>|<{{.V}}>}', { V: value }, seed);
      return text === `<${value}>`;
    }),
  );
  t.is(renderField('subject', '{{.V}}', { V: '{{.Secret}}{a|b}', Secret: 's' }, '').text, '{{.Secret}}{a|b}');
});

test('masking keeps positions and shows the fields of every option', (t) => {
  const source = 'a\n{x {{.A}}|{y|{{.B | default "z"}}} \\{} {{.C';
  t.is(maskSpintax(source), 'a\n x {{.A}}  y {{.B | default "z"}}   {  {{.C');
  const { errors, references } = inspectSource('body_plain', source);
  t.deepEqual(
    references.map(({ path }) => path[0]),
    ['A', 'B'],
  );
  t.like(errors[0], { line: 2, column: source.indexOf('{{.C') - 1 });
});

test('hopeless nesting is left alone', (t) => {
  const deep = `${'{a|'.repeat(MAX_NESTING + 1)}${'}'.repeat(MAX_NESTING + 1)}`;
  t.is(expandSpintax(deep, 'seed'), deep);
  t.is(maskSpintax(deep), deep);
});

test('hostile sources of full length are handled in linear work', (t) => {
  for (const unit of ['{', '|', '{|', '{a|b}', '{{"', '\\{', '<style', '<!--', '{'.repeat(20) + '}'.repeat(20)]) {
    const source = unit.repeat(Math.floor(MAX_SOURCE_LENGTH / unit.length));
    t.true(expandSpintax(source, 'seed', { html: true }).length <= source.length);
  }
});
