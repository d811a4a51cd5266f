import { DateTime } from 'luxon';
import { fold } from './fold.ts';
import { anyOf } from './patterns.ts';
import { writtenDates } from './written-dates.ts';
import type { WrittenDate } from './written-dates.ts';

const MAX_READ = 8000;

/** Words right before a date that make it the last day away, or the day of return. */
const UNTIL = anyOf(
  [
    String.raw`until|till|til|bis(?: einschliesslich| inkl\.?| inklusive)?(?: zum| am)?`,
    String.raw`jusqu'?(?:a|au|en)|hasta(?: el)?(?: dia)?|(?:fino|sino) a(?:l|ll')?`,
    String.raw`ate(?: ao?| o)?(?: dia)?|tot|do(?: dnia)?|(?:ind)?til|fram till|till|frem til|до`,
  ],
  'u',
  String.raw`(?<!\p{L})`,
  String.raw`\s(?:(?:and including|including|the|le|el|il|o|dem|den)\s)*$`,
);
const THROUGH =
  /(?<!\p{L})(?:through|thru|t\/m|tot en met|til og med|t\.o\.m\.|till och med|tom|включительно по|по)\s(?:the\s|den\s)?$/u;
/** Words of ending that stand behind the date; the folded forms. */
const UNTIL_AFTER =
  /^\s{0,2}(?:asti|saakka|(?:tarihine|ye|e|a)?\s?kadar|'[a-z]{1,3}\s(?:tarihine )?kadar|迄|まて|为止|為止)/u;
const THROUGH_AFTER = /^\s{0,2}(?:\([^)]{1,8}\)\s?)?(?:迄|まて)/u;
const UNTIL_EAST_ASIAN = /(?:至|到|截至)\s?$/u;
const BACK_EAST_ASIAN = /出社|復帰|戻り|再開|返回|回来|回來|回到|恢复|恢復|上班/u;
const INCLUSIVE = /einschliesslich|inkl|including|inclus|inclusive|compris|wlacznie|compreso/;
const TO = /(?:-|(?<!\p{L})(?:to|au|al|a|do|bis|tot)(?: zum| en met)?\s(?:(?:the|le|el|il)\s)?)\s?$/u;
const FROM = anyOf(
  [
    String.raw`from|since|starting|as of|beginning|ab|seit|vom|von|a partir d(?:u|e|el|o|al)|des le`,
    String.raw`du|desde(?: el| o)?|dal(?:l')?|vanaf|van|od(?: dnia)?|fra|fran|с|со|з`,
  ],
  'u',
  String.raw`(?<!\p{L})`,
  String.raw`(?: on)?(?:\s(?:dem|the|le|el|dia|o))?\s$`,
);
/** The beginning of a range, earlier in the sentence: "from Monday 5", "vom 24.11." */
const FROM_DAY = anyOf(
  ['from|since|vom|von|ab|seit|du|desde|del|dal|vanaf|van|od|de'],
  'u',
  String.raw`(?<!\p{L})`,
  String.raw`\s(?:\p{L}{1,12}[.,]?\s){0,2}\d`,
);
const NOT = String.raw`(?<!(?<!\p{L})(?:not|nicht|pas|non|no|nao|niet|nie|nem|limited|kaum|schwer)\s)`;
/** Words that speak of being back, near the date. Stems, so that every inflection counts. */
const BACK = anyOf(
  [
    'tilbage|tilbake|tillbaka|ater(?:kommer)?|palaan|palaa|takaisin|toissa|zpet|zpatky|vracim|вернусь|вернемся|возвращаюсь|буду снова|на связи|повернусь|повертаюсь|donecegim|donuyorum|geri|back|return|resum|zuruck|wieder|ruckkehr|retour|revien|rentr|regres|vuelv|volver|vuelta|reincorpor',
    'rientr|torn|ritorn|retorn|volt|terug|weer|wrac|wroc|powrot|powroc|ponownie|vissza|ujra',
    `${NOT}(?:available|reachable|erreichbar|verfugbar|disponib|disponiv|bereikbaar|dostepn|elerheto)`,
  ],
  'u',
  String.raw`(?<!\p{L})`,
);

/**
 * The day the writer of an away message is back, at its start in their time zone; null when none can be read
 * from it.
 *
 * Reads the languages of `quote-words.ts`. A date counts
 * only beside words of returning ("back on", "zurück am") or ending ("until", "jusqu'au"); the former win.
 * The end of a range, and an end that is said to be included, mean the day after. For dates with two readings
 * see `writtenDates`.
 *
 * @param receivedAt when the message arrived; the result is never before it nor more than a year after
 * @param timezone IANA name; UTC when absent or unknown
 */
export function returnDate(text: string, receivedAt: Date, timezone = 'utc'): Date | null {
  const received = inZone(receivedAt, timezone);
  const today = received.startOf('day');
  const folded = fold(text.slice(0, MAX_READ));
  const dates = writtenDates(folded, today);
  const breaks = sentenceBreaks(folded, dates);
  let best: { rank: number; day: DateTime } | null = null;
  for (const [at, date] of dates.entries()) {
    const meaning = date.day && meaningOf(folded, dates, at, breaks);
    if (!date.day || !meaning || (best && best.rank >= meaning.rank)) continue;
    best = { rank: meaning.rank, day: meaning.dayAfter ? date.day.plus({ days: 1 }) : date.day };
  }
  if (!best) return null;
  const latest = received.plus({ years: 1 });
  return DateTime.min(DateTime.max(best.day, received), latest).toJSDate();
}

function inZone(moment: Date, timezone: string): DateTime {
  const local = DateTime.fromJSDate(moment, { zone: timezone });
  return local.isValid ? local : DateTime.fromJSDate(moment, { zone: 'utc' });
}

/** Positions where a sentence ends. Dots inside dates ("5. Januar") end nothing. */
function sentenceBreaks(text: string, dates: readonly WrittenDate[]): number[] {
  return Array.from(text.matchAll(/\n\s*\n|[.!?;](?=\s|$)|[。！？]/g), ({ index }) => index).filter(
    (at) => !dates.some(({ start, end }) => at >= start && at < end),
  );
}

function meaningOf(
  text: string,
  dates: readonly WrittenDate[],
  at: number,
  breaks: readonly number[],
): { rank: number; dayAfter: boolean } | null {
  const date = dates[at];
  if (!date) return null;
  const sentenceStart = (breaks.findLast((position) => position < date.start) ?? -1) + 1;
  const sentenceEnd = breaks.find((position) => position >= date.end) ?? text.length;
  const previousEnd = dates[at - 1]?.end ?? 0;
  const nextStart = dates[at + 1]?.start ?? text.length;
  const beforeStart = Math.max(sentenceStart, previousEnd, date.start - 120);
  const before = text.slice(beforeStart, date.start).replaceAll('\n', ' ');
  const after = text.slice(date.end, Math.min(sentenceEnd, nextStart, date.end + 100)).replaceAll('\n', ' ');
  const sentenceBefore = text.slice(Math.max(sentenceStart, date.start - 200), date.start);
  const backAfter = nextStart >= sentenceEnd && BACK.test(after);

  if (THROUGH_AFTER.test(after)) return { rank: 2, dayAfter: true };
  if (UNTIL_AFTER.test(after) || UNTIL_EAST_ASIAN.test(before)) return { rank: 2, dayAfter: false };
  if (BACK_EAST_ASIAN.test(after.slice(0, 30)) || BACK_EAST_ASIAN.test(before.slice(-20)))
    return { rank: 3, dayAfter: false };
  if (/^-?(?:ig|eig|jeig|aig)(?!\p{L})/u.test(after)) return { rank: 2, dayAfter: true };
  if (THROUGH.test(before)) return { rank: 2, dayAfter: true };
  if (UNTIL.test(before)) {
    const included = INCLUSIVE.test(before.slice(-40)) || INCLUSIVE.test(after.slice(0, 30));
    return { rank: 2, dayAfter: included || FROM_DAY.test(sentenceBefore) };
  }
  if (FROM.test(before)) return backAfter || BACK.test(before) ? { rank: 3, dayAfter: false } : null;
  const ranges = previousEnd > sentenceStart || /\d/.test(before.slice(-30));
  if (ranges && TO.test(before)) return { rank: 1, dayAfter: true };
  return BACK.test(before) || backAfter ? { rank: 3, dayAfter: false } : null;
}
