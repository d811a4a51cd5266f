import { speaksOfPermission, type ConsentTarget } from './consent-headers.ts';
import { BOUNCED, FORBIDDING, MAILABLE, NEGATIONS, NO, NOT_NOW, REFUSED, YES } from './consent-words.ts';
import { normalizedWords, signs, normalizedWordSet } from './header-words.ts';
import { isSpreadsheetError } from './spreadsheet-error.ts';

/** Permission to mail a person, read from the columns of an imported list. `unclear`: the text is not understood. */
export type Permission = 'given' | 'withheld' | 'opted_out' | 'bounced' | 'unclear';

type Statement =
  | 'blank'
  | 'yes'
  | 'no'
  | 'number'
  | 'date'
  | 'mailable'
  | 'not_now'
  | 'refused'
  | 'bounced'
  | 'crossed'
  | 'error'
  | 'unknown';

const LISTS: readonly (readonly [Statement, ReadonlySet<string>])[] = [
  ['refused', normalizedWordSet(REFUSED)],
  ['bounced', normalizedWordSet(BOUNCED)],
  ['not_now', normalizedWordSet(NOT_NOW)],
  ['no', normalizedWordSet(NO)],
  ['yes', normalizedWordSet(YES)],
  ['mailable', normalizedWordSet(MAILABLE)],
];
const NEGATED: Partial<Record<Statement, Statement>> = {
  mailable: 'not_now',
  yes: 'no',
  refused: 'mailable',
  bounced: 'mailable',
};
const negations = normalizedWordSet(NEGATIONS);
/** Texts that mean that a cell has no value. */
const nothing = normalizedWordSet(
  'n a|na|null|none|nil|undefined|empty|blank|keine angabe|k a|s o|brak|nan|ninguno|aucun|nessuno',
);
/** Tests a longer text for words that forbid mail. Single words such as `blocked` count only alone or in brackets. */
const forbids = signs(
  `${FORBIDDING}|${REFUSED.split('|')
    .filter((words) => words !== 'de baja' && words.includes(' '))
    .join('|')}`,
);
const isRefusal = signs(REFUSED);
const isBounce = signs(BOUNCED);
const isPostponement = signs(NOT_NOW);
const tellsOfBounce = signs('bounce|hard bounce|cleaned|undeliverable|unzustellbar');
/** A cause in brackets after a state. */
const CAUSE = /\s*[([{].*$/s;
const CONTRACTED = /\bisn ?t\b|\bdoesn ?t\b/;
const DATE =
  /^\d{1,4}[-./年]\s?\d{1,2}[-./月]\s?\d{1,4}|^\d{4}-?\d{2}-?\d{2}\b|^(?:\p{L}{2,10}\.?,? )?(?:\p{L}{3,10}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{1,2}\.?[-/ ](?:de )?\p{L}{3,10}\.?[-/ ,](?: ?de )?\d{2,4})\b/u;
const NO_DATE = /^0{1,4}[-./]0{1,2}[-./]0{1,4}|^1970-01-01/;

/** Marks of checkboxes and of questionnaires. A cross may mean a no, or a checked box. */
const MARKS: readonly (readonly [marks: RegExp, statement: Statement])[] = [
  [/^[✅☑✓✔○〇◯⭕●]\ufe0f?/u, 'yes'],
  [/^[☐□⬜▢]\ufe0f?/u, 'no'],
  [/^[✗✘☒❌⛔🚫×✕✖]\ufe0f?/u, 'crossed'],
];
/** Negations of scripts without spaces, before the negated word. */
const NEGATED_WITHOUT_SPACE = /^(?:未|不|非|没有|没|無|无|미|비)/u;
const EAST_ASIAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Reads a cell of a permission column. */
type ReadPermission = (cell: string) => Permission;

/**
 * Returns the reader of a permission column by its target and header. In lists with a Chinese, Japanese or Korean
 * header, O means yes and X means no.
 */
export function permissionReader(target: ConsentTarget | 'status', header: string): ReadPermission {
  const read = READERS[target];
  if (target === 'status' || !EAST_ASIAN.test(header)) return read;
  return (cell) => read(/^\s*[xｘ]\s*$/i.test(cell) ? '×' : /^\s*[oｏ]\s*$/i.test(cell) ? '○' : cell);
}

const READERS: Readonly<Record<ConsentTarget | 'status', ReadPermission>> = {
  subscribed: readSubscribed,
  unsubscribed: readUnsubscribed,
  bounced: (cell) => readUnsubscribed(cell, 'bounced'),
  status: readStatus,
};

/** Reads a cell of a column that permits mail. A blank cell is read as permission. */
export function readSubscribed(cell: string): Permission {
  switch (statementOf(cell)) {
    case 'blank':
    case 'yes':
    case 'mailable':
      return 'given';
    case 'no':
    case 'crossed':
    case 'not_now':
      return 'withheld';
    case 'refused':
      return 'opted_out';
    case 'bounced':
      return 'bounced';
    default:
      return 'unclear';
  }
}

/** Reads a cell of a column that forbids mail with a "yes". Dates and counts also forbid mail. */
export function readUnsubscribed(cell: string, kind: 'opted_out' | 'bounced' = 'opted_out'): Permission {
  switch (statementOf(cell)) {
    case 'blank':
    case 'no':
    case 'mailable':
      return 'given';
    case 'yes':
    case 'date':
    case 'number':
      return kind;
    case 'refused':
      return 'opted_out';
    case 'bounced':
      return 'bounced';
    case 'not_now':
      return 'withheld';
    case 'crossed':
    case 'error':
      return 'unclear';
    default:
      // In a bounce column any other text is read as a bounce, because it is the mail server's answer.
      return kind === 'bounced' && !isNothing(cell) ? 'bounced' : isNothing(cell) ? 'given' : 'unclear';
  }
}

/**
 * Reads a cell of a state column. Only words that forbid mail, or deny a permission to mail, count. Others, such as
 * `inactive`, are ambiguous.
 */
export function readStatus(cell: string): Permission {
  const statement = statementOf(cell);
  if (statement === 'refused') return 'opted_out';
  if (statement === 'bounced') return 'bounced';
  return statement === 'not_now' && speaksOfPermission(normalizedWords(cell)) ? 'withheld' : 'given';
}

function isNothing(cell: string): boolean {
  return nothing.has(normalizedWords(cell)) || /^[-–—.\s]*$/.test(cell);
}

/** Cache of interpreted cells, because cells are often equal and interpreting one is slow. */
const read = new Map<string, Statement>();
const MAX_CACHED = 2_000;

function statementOf(cell: string): Statement {
  const known = read.get(cell);
  if (known) return known;
  const statement = findStatement(cell);
  if (read.size < MAX_CACHED) read.set(cell, statement);
  return statement;
}

function findStatement(cell: string): Statement {
  const text = cell.trim();
  if (/^[[\](){}"',;]*$/.test(text)) return 'blank';
  if (isSpreadsheetError(text)) return 'error';
  for (const [marks, statement] of MARKS) {
    if (!marks.test(text)) continue;
    const rest = text.replace(marks, '').trim();
    return normalizedWords(rest) ? findStatement(rest) : statement;
  }
  if (NO_DATE.test(text)) return 'no';
  if (/^[-+]?\d+(?:[.,]\d+)?\s*%?$/.test(text)) return numberStatement(Number(text.replace(',', '.').replace('%', '')));
  if (DATE.test(text)) return 'date';
  const [state, cause] = [normalizedWords(text.replace(CAUSE, '')), normalizedWords(CAUSE.exec(text)?.[0] ?? '')];
  return state ? stricter(wordsStatement(state), cause) : wordsStatement(cause);
}

function wordsStatement(plain: string): Statement {
  return listed(plain) ?? negated(plain) ?? (forbids(plain) ? 'refused' : tellsOfBounce(plain) ? 'bounced' : 'unknown');
}

/**
 * Returns the statement of the cause in brackets if the cause forbids mail, as in `Active (bounced)`. Otherwise returns
 * `state`, and always if `state` is `refused` or `bounced`.
 */
function stricter(state: Statement, cause: string): Statement {
  if (cause === '' || state === 'refused' || state === 'bounced') return state;
  if (negated(cause)) return state;
  if (isRefusal(cause) || forbids(cause)) return 'refused';
  if (isBounce(cause)) return 'bounced';
  return isPostponement(cause) || / (?:removed|deleted|revoked)\b/.test(` ${cause}`) ? 'not_now' : state;
}

function numberStatement(value: number): Statement {
  return value === 0 ? 'no' : value === 1 ? 'yes' : 'number';
}

function listed(plain: string): Statement | undefined {
  return LISTS.find(([, words]) => words.has(plain))?.[0];
}

/** Reads a negated state, such as `not subscribed` or `nicht abgemeldet`, and inverts it. */
function negated(plain: string): Statement | undefined {
  const unspaced = plain.replace(NEGATED_WITHOUT_SPACE, '');
  if (unspaced !== plain && listed(unspaced)) return NEGATED[listed(unspaced)!] ?? 'unknown';
  const [first = '', ...rest] = plain.split(' ');
  if (rest.length === 0 || !(negations.has(first) || CONTRACTED.test(plain))) return undefined;
  const state = listed(rest.join(' '));
  return state && (NEGATED[state] ?? state);
}
