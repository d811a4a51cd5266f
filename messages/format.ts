import { isDateElement, isPluralElement, type MessageFormatElement } from '@formatjs/icu-messageformat-parser';
import { IntlMessageFormat } from 'intl-messageformat';

/** Parsed message: plain text if it has no placeholders, otherwise the elements that the parser returns. */
export type ParsedSentence = string | MessageFormatElement[];

/** Locale of a reader: language (BCP 47) and time zone (IANA). */
export interface Reader {
  language: string;
  timeZone: string;
}

interface Prepared {
  format: IntlMessageFormat;
  moments: ReadonlySet<string>;
}

const prepared = new WeakMap<MessageFormatElement[], Map<string, Prepared>>();

/**
 * Formats a message with values, using the reader's format of numbers, lists and times.
 * @param values text, numbers, lists of text, and times as RFC 3339 text
 */
export function formatSentence(
  sentence: ParsedSentence,
  values: Readonly<Record<string, string | number | readonly string[]>>,
  reader: Reader,
): string {
  if (typeof sentence === 'string') return sentence;
  const { format, moments } = prepare(sentence, reader);
  const filled = Object.entries(values).map(([name, value]) => [
    name,
    Array.isArray(value)
      ? new Intl.ListFormat(reader.language).format(value as string[])
      : moments.has(name)
        ? new Date(value as string)
        : value,
  ]);
  return format.format(Object.fromEntries(filled)) as string;
}

/** Creates the formatter of a message once, because creating it takes far longer than using it. */
function prepare(sentence: MessageFormatElement[], { language, timeZone }: Reader): Prepared {
  const byReader = prepared.get(sentence) ?? new Map<string, Prepared>();
  prepared.set(sentence, byReader);
  const key = `${language} ${timeZone}`;
  const known = byReader.get(key);
  if (known) return known;
  const styles = {
    day: { dateStyle: 'medium', timeZone },
    moment: { dateStyle: 'medium', timeStyle: 'short', timeZone },
  } as const;
  const made = {
    format: new IntlMessageFormat(sentence, language, { date: styles }),
    moments: new Set(momentsIn(sentence)),
  };
  byReader.set(key, made);
  return made;
}

function momentsIn(elements: readonly MessageFormatElement[]): string[] {
  return elements.flatMap((element) => {
    if (isDateElement(element)) return [element.value];
    if (isPluralElement(element)) return Object.values(element.options).flatMap(({ value }) => momentsIn(value));
    return [];
  });
}
