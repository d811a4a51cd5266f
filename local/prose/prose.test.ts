import test from 'ava';
import { commentsOf, draw } from './draw.ts';
import { commentsIn } from './comments.ts';
import { findingsInMarkdown } from './markdown.ts';
import { compare, lowered } from './ratchet.ts';
import { findingsIn, sentencesIn } from './rules.ts';

const messages = (source: string): string[] => findingsIn(source).map(({ message }) => message);
const words = (count: number): string => Array.from({ length: count }, (_, index) => `word${index}`).join(' ');

test('comments are found with their lines, and nothing else that looks like one', (t) => {
  const source = [
    '/** One. */',
    'const url = "https://example.com/*x*/"; // two',
    '// three',
    "const text = `a // b ${ { c: '}' /* four */ }.c } // d`;",
    'const pattern = /[/*]\\/\\/ x/g, half = a / b / c; // five',
    '',
    '// six',
    '  // goes on',
    '/* seven',
    ' * goes on',
    ' */',
    'f(`${`${x}`} // no`) /* eight */',
  ].join('\n');
  t.deepEqual(commentsIn(source), [
    { text: 'One.', line: 1 },
    { text: 'two\nthree', line: 2 },
    { text: 'four', line: 4 },
    { text: 'five', line: 5 },
    { text: 'six\ngoes on', line: 7 },
    { text: 'seven\ngoes on', line: 9 },
    { text: 'eight', line: 12 },
  ]);
});

test('sentences end where a reader would end them', (t) => {
  const cases: [string, string[]][] = [
    ['Loads a row, e.g. a campaign. Locks it.', ['Loads a row, e.g. a campaign.', 'Locks it.']],
    ['Takes 1.5 s (i.e. 1500 ms). Is it so? Yes!', ['Takes 1.5 s (i.e. 1500 ms).', 'Is it so?', 'Yes!']],
    ['Calls `a.b. C` of {@link x.y}. See lib/dns.ts for it.', ['Calls CODE of CODE.', 'See lib/dns.ts for it.']],
    ['See https://example.com/a.b?c=d. Then go on.', ['See ADDRESS.', 'Then go on.']],
    ['Says "no." (Then not.) Goes on', ['Says "no."', '(Then not.)', 'Goes on']],
    ['Sends it\nto a server.\n\nA second paragraph', ['Sends it to a server.', 'A second paragraph']],
    ['Rules:\n- the first\n- the second\n1. the third', ['Rules:', 'the first', 'the second', 'the third']],
    ['Does it.\n@param name what it is\n@throws Error when not', ['Does it.', 'what it is', 'Error when not']],
    ['Reads it. @returns whether it is there', ['Reads it.', 'whether it is there']],
    ['Begins.\n```ts\nconst a = 1. Not this.\n```\n| a. | b. |\nEnds.', ['Begins.', 'Ends.']],
  ];
  for (const [comment, sentences] of cases) t.deepEqual(sentencesIn(comment), sentences, comment);
});

test('a comment opens with none of six words, unless it asks', (t) => {
  for (const word of ['What', 'How', 'Whether', 'Where', 'Of', 'Who'])
    t.deepEqual(messages(`/** ${word} it is. */`), [`opens with "${word}": begin with the noun, or with what is done`]);
  t.deepEqual(messages('// How long is it? A day.'), []);
  t.deepEqual(messages('/** Whoever asks. */ // Office hours\nconst a = 1; // Offset'), []);
  t.is(messages('// how it is').length, 1);
});

test('a sentence has 28 words at most; code and a path are one each', (t) => {
  t.deepEqual(messages(`// ${words(28)}. ${words(28)}.`), []);
  t.deepEqual(messages(`// ${words(29)}.`), ['29 words in "word0 word1 word2 word3 word4 …": at most 28']);
  t.deepEqual(messages(`// ${words(27)} \`${words(9)}\`.`), []);
  t.is(messages(`/**\n * ${words(15)}\n * ${words(14)}\n */`).length, 1);
});

test('metaphors of the house are named with the plain word; the same words in plain use are not', (t) => {
  for (const sentence of [
    'Sends the letter.',
    'The request on its way.',
    'The worker is told.',
    'Says what was said.',
    'Then it looks again.',
    'Each turn takes one.',
    'Rolled back apart.',
    'The home of the row.',
    'The hands that send.',
  ])
    t.regex(messages(`// ${sentence}`).join(), /is a metaphor: \w/, sentence);
  for (const sentence of [
    'Kept as a dead letter.',
    'Takes letters and digits, or a letter of another script.',
    'By the way in which it is read.',
    'It turns into a look-up.',
    'Two days apart, apart from tests.',
    'The home page, made by hand.',
  ])
    t.deepEqual(messages(`// ${sentence}`), [], sentence);
});

test('a document has short lines and paragraphs, plain sentences, and a head that names its readers', (t) => {
  const found = (text: string, isPage = false) => findingsInMarkdown(text, isPage).map(({ message }) => message);
  t.deepEqual(found(`# A page\n\nFor operators. It is short.\n\n${words(120)}\n`, true).length, 2);
  t.deepEqual(found('# A page\n\nIt is short.\n', true).length, 1);
  t.deepEqual(found('- One. Two. Three.\n- One. Two. Three.\n'), []);
  t.deepEqual(found('One. Two. Three. Four. Five. Six.\n'), ['a paragraph of 6 sentences: at most 5']);
  t.deepEqual(found('The email is on its way.\n').length, 1);
  t.deepEqual(found(`## What is sent\n\n\`\`\`sh\n${words(120)}\n\`\`\`\n| ${'cell '.repeat(12)}|\n`), []);
  t.deepEqual(found('[How it works](how.md) is a page.\n'), []);
  t.deepEqual(found('How it works is a page.\n').length, 1);
  t.deepEqual(found(`\`npm run docs\` makes this page from the sources.\n\n${words(120)}\n`), []);
});

test('directives of programs are no prose', (t) => {
  t.deepEqual(messages(`// oxlint-disable-next-line no-console: ${words(40)}`), []);
});

test('numbers of findings only sink', (t) => {
  const allowed = { 'a.ts': 2, 'b.ts': 2, 'gone.ts': 1 };
  const counts = { 'a.ts': 3, 'b.ts': 1, 'new.ts': 1, 'clean.ts': 0 };
  t.deepEqual(compare(counts, allowed), {
    above: [
      { file: 'a.ts', found: 3, allowed: 2 },
      { file: 'new.ts', found: 1, allowed: 0 },
    ],
    below: [
      { file: 'b.ts', found: 1, allowed: 2 },
      { file: 'gone.ts', found: 0, allowed: 1 },
    ],
  });
  t.deepEqual(lowered(counts, allowed), { 'a.ts': 2, 'b.ts': 1 });
  t.deepEqual(compare({ 'a.ts': 2 }, { 'a.ts': 2 }), { above: [], below: [] });
});

test('a draw gives each text at most once, and the same ones for a seed', (t) => {
  const all = Array.from({ length: 200 }, (_, index) => index);
  const drawn = draw(all, 100, 7);
  t.is(new Set(drawn).size, 100);
  t.deepEqual(draw(all, 100, 7), drawn);
  t.notDeepEqual(draw(all, 100, 8), drawn);
  t.deepEqual(draw([1, 2], 5, 7).toSorted(), [1, 2]);
});

test('a drawn comment shows the code that it stands on', (t) => {
  const source = [
    '/** Days',
    ' * of grace. */',
    'const GRACE = 3;',
    'call(1); // once',
    'call(2);',
    '// oxlint-disable-next-line',
  ].join('\n');
  t.deepEqual(commentsOf(new Map([['a.ts', source]])), [
    { place: 'a.ts:1', text: 'Days\nof grace.', context: 'const GRACE = 3;' },
    { place: 'a.ts:4', text: 'once', context: 'call(1);' },
  ]);
});
