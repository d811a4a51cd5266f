import { fold } from './fold.ts';
import type { InboundMessage } from './parse.ts';
import { anyOf } from './patterns.ts';
import { ANSWERS, withoutOwnSubject } from './subjects.ts';

/** Names of read receipts in subjects and first lines. Matched against folded text (fold.ts). */
const RECEIPT = anyOf(
  [
    String.raw`(?:read|return|reading) receipt|confirmation of (?:reading|receipt)|lesebestatigung|empfangsbestatigung|gelesen-bestatigung`,
    String.raw`accuse de (?:lecture|reception)|confirmation de lecture|confirmacion de lectura|acuse de (?:recibo|lectura)`,
    String.raw`conferma di lettura|ricevuta di (?:ritorno|lettura)|confirmacao de leitura|recibo de leitura|leesbevestiging|ontvangstbevestiging`,
    String.raw`potwierdzenie (?:odczytu|przeczytania)|potvrzeni o (?:precteni|doruceni)|olvasasi visszaigazolas|tertiveveny`,
    String.raw`laskvitto|laeskvittering|læsekvittering|lesekvittering|lukukuittaus|уведомление о прочтении|сповіщення про прочитання|okundu bilgisi`,
    fold('開封確認|開封通知|已读回执|已讀回條'),
  ],
  'u',
);
const DATED = /(?<!\d)\d{1,2}[:.]\d{2}(?!\d)/;
const DATE_AND_TIME = /(?:19|20)\d\d.{0,40}?\d{1,2}[:.]\d{2}|\d{1,2}[:.]\d{2}.{0,40}?(?:19|20)\d\d/;
const LABELLED = /^[\p{L} ]{1,20}\s?[:：]\s*(\S.*)$/u;
const MAX_WORDS = 90;
/** Maximum length (words) of a receipt that is a single sentence. */
const MAX_SENTENCE_WORDS = 25;

/**
 * Returns true if a plain text message reports that our message was displayed. It detects the name of a receipt, and
 * the receipts of Exchange in any language, with one to three words before our subject. Exchange writes one sentence
 * with date and time, or a heading, our three headers (to, subject, sent) and a line with a date.
 * @param subjects subjects that we sent
 */
export function isReadReceipt(message: InboundMessage, subjects: readonly string[]): boolean {
  const text = message.text.trim();
  const length = text.split(/\s+/, MAX_WORDS + 1).length;
  if (text === '' || length > MAX_WORDS || /[?？]/.test(text)) return false;
  const isNamed = RECEIPT.test(fold(message.subject));
  if (isNamed && (RECEIPT.test(fold(text.slice(0, 200))) || DATE_AND_TIME.test(text))) return true;
  const prefix = /^[^\s:：]{1,20}(?: [^\s:：]{1,20}){0,2}\s?[:：]/.exec(message.subject)?.[0];
  if (prefix === undefined || ANSWERS.test(fold(prefix))) return false;
  const ours = message.subject.slice(prefix.length).trim();
  if (ours === '' || (subjects.length > 0 && withoutOwnSubject(ours, subjects) !== '')) return false;
  return (subjects.length > 0 && length <= MAX_SENTENCE_WORDS && DATE_AND_TIME.test(text)) || hasOurHeaders(text, ours);
}

function hasOurHeaders(text: string, subject: string): boolean {
  const lines = text.split('\n').flatMap((line) => line.trim() || []);
  const values = lines.map((line) => LABELLED.exec(line)?.[1]?.trim());
  const first = values.findIndex((value) => value !== undefined);
  const last = values.findLastIndex((value) => value !== undefined);
  const headers = values.slice(first, last + 1).flatMap((value) => value ?? []);
  return (
    lines.length <= 8 &&
    first === 1 &&
    last >= 3 &&
    headers.length === last - first + 1 &&
    headers.some((value) => fold(value) === fold(subject)) &&
    headers.some((value) => DATED.test(value)) &&
    DATED.test(lines.slice(last + 1).join(' '))
  );
}
