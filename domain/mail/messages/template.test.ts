import test from 'ava';
import { render } from '../../../messages/render.ts';
import fc from 'fast-check';
import { MAX_ACTION_LENGTH, MAX_NESTING, MAX_RENDERED_LENGTH, MAX_SOURCE_LENGTH } from './limits.ts';
import { characters } from './template-functions.ts';
import { parseTemplate, renderTemplate } from './template.ts';

const VALUES = {
  FirstName: 'ada',
  LastName: '',
  Company: 'Ada & Søns <Ltd>',
  'Job Title': 'Countess',
  'job-level': 'C',
  seats: 0,
  App: { order: { total: 12.5, paid: false, tags: ['a', 'b'], items: [{ name: 'pen' }], note: null } },
};

function fill(source: string, values: object = VALUES): string {
  return renderTemplate(parseTemplate(source), values).text;
}

const CASES: readonly [source: string, expected: string][] = [
  ['Hi {{.FirstName}}!', 'Hi ada!'],
  ['{{ .FirstName }}', 'ada'],
  ['{{.App.order.total}} {{.App.order.paid}} {{.App.order.tags}}', '12.5 false a, b'],
  ['{{.App.order.items.0.name}}', 'pen'],
  ['{{index . "Job Title"}} {{.job-level}} {{index .App "order" "total"}}', 'Countess C 12.5'],
  ['{{.LastName | default "there"}}', 'there'],
  ['{{.LastName|default `raw "x"`}}', 'raw "x"'],
  ['{{default .FirstName .LastName | upper}}', 'ADA'],
  ['{{.seats | default "none"}}', '0'],
  ['{{or .LastName .FirstName "x"}}', 'ada'],
  ['{{"  a b-c  " | trim | title}}|{{"ÉA" | lower}}', 'A B-C|éa'],
  ['{{"abcdef" | truncate 4}} {{"abc" | truncate 3}} {{truncate 2 "👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧"}}', 'abc… abc 👩‍👩‍👧…'],
  ['{{"a&b c" | urlquery}}', 'a%26b%20c'],
  ['{{if .LastName}}L{{else if eq .FirstName "bob" "ada"}}F{{else}}N{{end}}', 'F'],
  ['{{if and .FirstName (not .LastName)}}yes{{end}}{{if or .LastName .seats}}no{{end}}', 'yes'],
  ['{{if ne .FirstName "ada"}}a{{else}}b{{end}}{{if gt .App.order.total 9}}c{{end}}{{if lt "10" "9"}}d{{end}}', 'bc'],
  ['{{if .FirstName}}{{if .LastName}}1{{else}}2{{end}}{{end}}', '2'],
  ['a{{/* }} is fine {{ here */}}b', 'ab'],
  ['a {{- /* x */ -}} b', 'ab'],
  ['a \n {{- .FirstName -}} \n b', 'aadab'],
  ['{{"}}"}}{{"a\\"\\u0041\\n"}}', '}}a"A\n'],
  ['{{-3}}{{true}}', '-3true'],
  ['a { b } } {{{.FirstName}}}', 'a { b } } {ada}'],
];

for (const [source, expected] of CASES) {
  test(`renders ${JSON.stringify(source)}`, (t) => {
    t.deepEqual(parseTemplate(source).errors, []);
    t.is(fill(source), expected);
  });
}

const FAULTS: readonly [source: string, message: RegExp][] = [
  ['{{FirstName}}', /unknown function FirstName; a field is written \{\{\.FirstName\}\}/],
  ['{{.FirstName', /does not close/],
  ['{{.FirstName | default "x}}', /does not close/],
  ['{{}}', /value is missing/],
  ['{{.A | "x"}}', /after \| a function/],
  ['{{.A .B}}', /functions come first/],
  ['{{(.A}}', /closing parenthesis/],
  ['{{$x}}', /variables/],
  ['{{.A | default “x”}}', /straight double quotes/],
  ['{{range .A}}', /range is not supported/],
  ['{{upper .A .B}}', /different number/],
  ['{{index . .A}}', /literal keys/],
  ['{{if .A}}x', /without an \{\{end\}\}/],
  ['{{end}}', /without an \{\{if\}\}/],
  ['{{else}}', /without an \{\{if\}\}/],
  ['{{if .A}}{{else}}{{else}}{{end}}', /already given/],
  [`{{${'('.repeat(MAX_NESTING + 1)}.A${')'.repeat(MAX_NESTING + 1)}}}`, /nested/],
  [`${'{{if .A}}'.repeat(MAX_NESTING + 1)}${'{{end}}'.repeat(MAX_NESTING + 1)}`, /nested/],
  [`{{${' '.repeat(MAX_ACTION_LENGTH)}.A}}`, /does not close/],
  ['x'.repeat(MAX_SOURCE_LENGTH + 1), /longer than/],
];

for (const [source, message] of FAULTS) {
  test(`reports ${JSON.stringify(source.slice(0, 60))}`, (t) => {
    const { errors } = parseTemplate(source);
    t.is(errors.length, 1);
    t.regex(render(errors[0]!.message), message);
  });
}

test('an error names line and column, and a broken action stays in the text and is unresolved', (t) => {
  const template = parseTemplate('one\ntwo {{.FirstName}}\n  {{nope}} {{.FirstName}}');
  t.like(template.errors[0], { line: 3, column: 3 });
  const { text, unresolved } = renderTemplate(template, VALUES);
  t.is(text, 'one\ntwo ada\n  {{nope}} ada');
  t.deepEqual(unresolved, ['{{nope}}']);
});

test('values that leave a hole are unresolved once; defaults and tests leave none', (t) => {
  const unresolved = (source: string): readonly string[] => renderTemplate(parseTemplate(source), VALUES).unresolved;
  t.deepEqual(unresolved('{{.Nope}} {{.Nope | upper}} {{.LastName}}'), ['{{.Nope}}', '{{.LastName}}']);
  t.deepEqual(unresolved('{{.App.order.missing.deep}} {{.App.order.note}} {{.App.order}}'), [
    '{{.App.order.missing.deep}}',
    '{{.App.order.note}}',
    '{{.App.order}}',
  ]);
  t.deepEqual(unresolved('{{index . "No Such"}}'), ['{{index . "No Such"}}']);
  t.deepEqual(unresolved('{{default .LastName .Nope}}'), ['{{.LastName}}']);
  t.deepEqual(unresolved('{{.Nope | upper | default "x"}}{{.Nope | default ""}}{{or .Nope "y"}}{{.seats}}'), []);
  t.deepEqual(unresolved('{{if .Nope}}{{.Other}}{{end}}{{if not .Nope}}x{{end}}{{eq .Nope "x"}}'), []);
});

test('references list every path that can be read, and whether something stands in', (t) => {
  t.deepEqual(parseTemplate('{{if .A}}{{.B.c}}{{else if eq .D "x"}}{{.E | default .F}}{{end}}').references, [
    { path: ['A'], hasDefault: true },
    { path: ['B', 'c'], hasDefault: false },
    { path: ['D'], hasDefault: true },
    { path: ['F'], hasDefault: false },
    { path: ['E'], hasDefault: true },
  ]);
});

test("everything an action prints is escaped for HTML, the author's markup is not", (t) => {
  const template = parseTemplate('<b>{{.Company}}</b>{{"<i>"}}', { html: true });
  t.is(renderTemplate(template, VALUES, { escapeHtml: true }).text, '<b>Ada &amp; Søns &lt;Ltd&gt;</b>&lt;i&gt;');
});

test('in HTML an action may carry the entities an editor put there', (t) => {
  const template = parseTemplate('{{.LastName&nbsp;| default &quot;R&amp;D&quot;}}', { html: true });
  t.deepEqual(template.errors, []);
  t.is(renderTemplate(template, VALUES, { escapeHtml: true }).text, 'R&amp;D');
});

test('no prototype is reachable', (t) => {
  for (const path of [
    'constructor',
    '__proto__',
    'toString',
    'FirstName.length',
    'App.order.tags.length',
    'App.constructor.name',
  ]) {
    t.is(fill(`[{{.${path}}}]`), '[]', path);
  }
});

test('repeating a long value is cut at the rendering limit and says so', (t) => {
  const template = parseTemplate('{{.Big}}'.repeat(30_000));
  const result = renderTemplate(template, { Big: 'x'.repeat(60_000) });
  t.is(result.exceeded, 'length');
  t.is(result.text.length, MAX_RENDERED_LENGTH);
});

const FRAGMENTS = [
  '{{',
  '}}',
  '{',
  '}',
  '{{.A}}',
  '{{if .A}}',
  '{{else}}',
  '{{else if .B}}',
  '{{end}}',
  '{{.A | default "x"}}',
  '"',
  '`',
  '|',
  '(',
  ')',
  '.',
  '-',
  ' -}}',
  '{{- ',
  '{{/*',
  '*/}}',
  'upper',
  'and .A',
  '\\',
  '\n',
  'text',
  '&quot;',
  '\ud800',
];

test('any source at all parses and renders without throwing', (t) => {
  const source = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom(...FRAGMENTS)).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(source, fc.boolean(), (text, html) => {
      const template = parseTemplate(text, { html });
      const result = renderTemplate(template, { A: 'a', B: { c: 1 } }, { escapeHtml: html });
      return typeof result.text === 'string' && (template.errors.length > 0 || !result.unresolved.includes('{{'));
    }),
    { numRuns: 2000 },
  );
  t.pass();
});

test('any text quoted as a literal prints as it is, and any value prints as it is', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const literal = `{{${JSON.stringify(text)}}}`;
      return fill(literal) === text && fill('{{.V}}', { V: text }) === text;
    }),
  );
  t.pass();
});

test('hostile sources of full length are handled in linear work', (t) => {
  for (const unit of ['{', '{{', '{{"', '{{`', '{{/*', '{{.A}}', '{{if .A}}', '{{(', '}', '{{-  ', '{{.a-']) {
    const source = unit.repeat(Math.floor(MAX_SOURCE_LENGTH / unit.length));
    const { text } = renderTemplate(parseTemplate(source), {});
    t.true(text.length <= source.length);
  }
});

test('long values through slow functions end at the budget of work, however they are nested or repeated', (t) => {
  const x = 'a b '.repeat(25_000);
  for (const source of [
    '{{truncate 99999 .x}}',
    '{{title .x}}',
    '{{if eq (upper .x) "a"}}{{end}}',
    '{{.x | trim | lower | title}}',
  ]) {
    const whole = renderTemplate(parseTemplate(source.repeat(5_000)), { x });
    t.is(whole.exceeded, 'work', source);
    t.is(renderTemplate(parseTemplate(source), { x }).exceeded, null, `${source} once is fine`);
  }
  const list = Array.from({ length: 50_000 }, () => 'word');
  t.is(renderTemplate(parseTemplate('{{if .list}}x{{end}}'.repeat(1_000)), { list }).exceeded, 'work');
  t.is(
    renderTemplate(parseTemplate('Dear {{.x | truncate 80}}, '.repeat(200)), { x: 'Ada '.repeat(60) }).exceeded,
    null,
  );
});

test('characters are cut where a reader sees them end, however long the text is', (t) => {
  const unit = fc.constantFrom('a', ' ', 'e\u0301', '👩‍👩‍👧', '🇩🇪', '\r\n', '\u0300'.repeat(300), '\ud83d', 'नि');
  const naive = new Intl.Segmenter('en', { granularity: 'grapheme' });
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 400 }), (parts) => {
      const text = parts.join('');
      t.deepEqual(
        [...characters(text)],
        Array.from(naive.segment(text), ({ segment }) => segment),
      );
    }),
    { numRuns: 200 },
  );
});
