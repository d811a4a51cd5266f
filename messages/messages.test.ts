import test from 'ava';
import { parse, TYPE, type MessageFormatElement } from '@formatjs/icu-messageformat-parser';
import { DASHBOARD } from './dashboard.ts';
import { LANGUAGES, message, SENTENCES, type Message, type MessageCode } from './index.ts';
import { render } from './render.ts';
import type { Values } from './values.ts';

/** Returns the placeholders of a message with their kinds: `count:number`. */
function placesOf(elements: readonly MessageFormatElement[]): string[] {
  return elements.flatMap((element) => {
    switch (element.type) {
      case TYPE.argument:
        return [`${element.value}:text`];
      case TYPE.number:
        return [`${element.value}:number`];
      case TYPE.date:
        return [`${element.value}:moment`];
      case TYPE.plural:
        return [`${element.value}:number`, ...Object.values(element.options).flatMap(({ value }) => placesOf(value))];
      case TYPE.select:
      case TYPE.time:
        return [`${element.value}:not understood`];
      default:
        return [];
    }
  });
}

type Texts = Readonly<Record<string, string>>;

/** All messages of every file by language: the server's together, the dashboard's by area. */
const ALL = [
  SENTENCES as Readonly<Record<string, Texts>>,
  ...Object.keys(DASHBOARD.en).map((area) =>
    Object.fromEntries(LANGUAGES.map((one) => [one, DASHBOARD[one][area as keyof typeof DASHBOARD.en] as Texts])),
  ),
];

test('every sentence is ICU MessageFormat, and takes the same values in every language', (t) => {
  for (const sentences of ALL)
    for (const language of LANGUAGES)
      t.deepEqual(Object.keys(sentences[language]!).toSorted(), Object.keys(sentences.en!).toSorted(), language);
  for (const [code, english, sentences] of ALL.flatMap((one) =>
    Object.entries(one.en!).map((entry) => [...entry, one] as const),
  )) {
    const places = new Set(placesOf(parse(english, { ignoreTag: true })));
    t.false(
      [...places].some((place) => place.endsWith('not understood')),
      `${code}: a sentence of its own, not select or time`,
    );
    for (const language of LANGUAGES) {
      const text = sentences[language]![code]!;
      t.not(text.trim(), '', `${language} ${code}`);
      const own = new Set(placesOf(parse(text, { ignoreTag: true })));
      t.deepEqual([...own].toSorted(), [...places].toSorted(), `${language} ${code}`);
    }
  }
});

test('values are put in as the reader writes them: numbers, plurals, lists, sentences within sentences', (t) => {
  t.is(render(message('field.text_longer', { max: 255 })), 'must be at most 255 characters');
  t.is(render(message('field.text_longer', { max: 1 })), 'must be at most 1 character');
  t.is(render(message('field.number_greater', { max: 12_500 })), 'must be at most 12,500');
  t.is(render(message('field.number_greater', { max: 12_500 }), 'de'), 'darf höchstens 12.500 sein');
  t.is(render(message('field.choice', { choices: ['a', 'b', 'c'] })), 'must be one of a, b, and c');
  t.is(render(message('field.choice', { choices: ['a', 'b', 'c'] }), 'de'), 'muss eines von diesen sein: a, b und c');
  t.is(render(message('not_found', { thing: message('thing.contact') }), 'de'), 'Nicht gefunden: Kontakt');
  t.is(render(message('field.value', { value: '{not} <a> place' })), 'must be {not} <a> place');
});

test('a stored code that no sentence has any more stands as it is', (t) => {
  t.is(render({ code: 'gone.long_ago' as MessageCode, values: {} }), 'gone.long_ago');
});

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_ extends true>(): void => undefined;
type Plain = string | readonly string[] | Message;

test('the values that a sentence takes are known to the compiler', (t) => {
  holds<Equal<keyof Values<'nothing to fill', Message>, never>>();
  holds<Equal<Values<'{a} and {b}', Message>, { a: Plain; b: Plain }>>();
  holds<Equal<Values<"write '{{.Name}}' or '{'x'}' for {a}", Message>, { a: Plain }>>();
  holds<Equal<Values<'{n, number} of {at, date, moment}', Message>, { n: number; at: string }>>();
  holds<Equal<Values<'{n, plural, one {# lead} other {# leads}} of {name}', Message>, { n: number; name: Plain }>>();
  holds<
    Equal<Values<'{n, plural, =0 {none} one {the lead {name}} other {# leads}}', Message>, { n: number; name: Plain }>
  >();
  holds<Equal<Values<"as '{{'.Name'}}' or '{'{name}'}'", Message>, { name: Plain }>>();
  t.pass();
});
