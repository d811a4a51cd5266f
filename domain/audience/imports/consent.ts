import {
  BOUNCE_HEADERS,
  BOUNCED,
  MAILABLE,
  NEGATIONS,
  NO,
  NOT_NOW,
  OPT_IN_HEADERS,
  OPT_OUT_HEADERS,
  OPT_OUT_NAMES,
  REFUSED,
  STATUS_HEADERS,
  YES,
} from './consent-words.ts';
import { normalizedWords, signs, normalizedWordSet } from './header-words.ts';

/** Permission to mail a person, read from the columns of an imported list. `unclear`: the text is not understood. */
export type Permission = 'given' | 'withheld' | 'opted_out' | 'bounced' | 'unclear';

/** Mapping targets of permission columns. */
type ConsentTarget = 'subscribed' | 'unsubscribed' | 'bounced';

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
/** Words that forbid mail wherever they occur in a longer text. */
const forbids = signs(
  'unsubscrib|unsub|opted out|opt out|optout|do not contact|do not mail|do not email|dnc|blocklist|blacklist|complain|marked as spam|abgemeldet|abbestellt|désabonné|désinscrit|dado de baja|disiscritto|descadastrado|uitgeschreven|afgemeld|avregistrerad|avmeldt|afmeldt|wypisan|odhlášen|leiratkozott|dezabonat|odjavljen|отписан|відписан|配信停止|配信拒否|購読解除|수신거부|수신 거부|구독취소|退订|退訂|拒收',
);
const tellsOfBounce = signs('bounce|hard bounce|cleaned|undeliverable|unzustellbar');
const CONTRACTED = /\bisn ?t\b|\bdoesn ?t\b/;
const DATE = /^\d{1,4}[-./年]\s?\d{1,2}[-./月]\s?\d{1,4}|^\d{4}-?\d{2}-?\d{2}\b|^\w{3,9}\.? \d{1,2},? \d{4}/;
const NO_DATE = /^0{1,4}[-./]0{1,2}[-./]0{1,4}|^1970-01-01/;

const optOutHeader = signs(OPT_OUT_HEADERS);
const optOutNames = normalizedWordSet(OPT_OUT_NAMES);
const bounceHeader = signs(BOUNCE_HEADERS);
const optInHeader = signs(OPT_IN_HEADERS);
const statusHeader = signs(STATUS_HEADERS);
/**
 * Headers that contain permission words but belong to columns with counts, links, texts or other channels than email.
 */
const OTHER =
  /\b(?:link|url|rate|ratio|percent|soft bounces?|campaign (?:title|id|name)|client id|map|ip|call|sms|whats ?app|fax|push|template|subject|count of)\b/;

/** Headers of columns with the time, place or source of an opt-in, which do not prove permission. */
const OF_OPT_IN = /\b(?:date|time|at|on|source|method|reason|datum|zeit|fecha|data)\b/;

/** Returns the target of a permission column by its header. Returns undefined for any other column. */
export function consentTarget(header: string): ConsentTarget | undefined {
  const plain = normalizedWords(header);
  if (plain === '' || OTHER.test(plain)) return undefined;
  if (optOutNames.has(plain) || optOutHeader(plain)) return 'unsubscribed';
  if (bounceHeader(plain)) return 'bounced';
  if (optInHeader(plain) && !OF_OPT_IN.test(plain)) return isNegated(plain) ? 'unsubscribed' : 'subscribed';
  return undefined;
}

/** Returns true for the header of a state column, such as `Lead status`, whose words may forbid mail. */
export function isStatusHeader(header: string): boolean {
  return statusHeader(normalizedWords(header));
}

/** Reads a cell of a column that permits mail. A blank cell is read as permission. */
export function readSubscribed(cell: string): Permission {
  switch (statementOf(cell)) {
    case 'blank':
    case 'yes':
    case 'mailable':
      return 'given';
    case 'no':
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
    default:
      // In a bounce column any other text is read as a bounce, because it is the mail server's answer.
      return kind === 'bounced' && !isNothing(cell) ? 'bounced' : isNothing(cell) ? 'given' : 'unclear';
  }
}

/** Reads a cell of a state column. Only words that forbid mail are used, because others are ambiguous. */
export function readStatus(cell: string): Permission {
  const statement = statementOf(cell);
  if (statement === 'refused') return 'opted_out';
  if (statement === 'bounced') return 'bounced';
  return 'given';
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
  if (text === '') return 'blank';
  if (/^[✗✘☒❌⛔🚫]/u.test(text)) return 'no';
  if (/^[✅☑✓✔]/u.test(text)) return 'yes';
  if (NO_DATE.test(text)) return 'no';
  if (/^[-+]?\d+(?:[.,]\d+)?\s*%?$/.test(text)) return numberStatement(Number(text.replace(',', '.').replace('%', '')));
  if (DATE.test(text)) return 'date';
  // Removes a reason in brackets after the state.
  const plain = normalizedWords(text.replace(/\s*[([{].*$/s, '')) || normalizedWords(text);
  return listed(plain) ?? negated(plain) ?? (forbids(plain) ? 'refused' : tellsOfBounce(plain) ? 'bounced' : 'unknown');
}

function numberStatement(value: number): Statement {
  return value === 0 ? 'no' : value === 1 ? 'yes' : 'number';
}

function listed(plain: string): Statement | undefined {
  return LISTS.find(([, words]) => words.has(plain))?.[0];
}

/** Reads a negated state, such as `not subscribed` or `nicht abgemeldet`, and inverts it. */
function negated(plain: string): Statement | undefined {
  const [first = '', ...rest] = plain.split(' ');
  if (rest.length === 0 || !(negations.has(first) || CONTRACTED.test(plain))) return undefined;
  const state = listed(rest.join(' '));
  return state && (NEGATED[state] ?? state);
}

function isNegated(plain: string): boolean {
  const [first = '', ...rest] = plain.split(' ');
  return rest.length > 0 && negations.has(first);
}
