import { fromMailSystem } from './delivery-report.ts';
import { ANSWER_HEADERS } from './fields.ts';
import { fold } from './fold.ts';
import { isMachineNotice } from './machine-notices.ts';
import { ownWords } from './own-words.ts';
import type { InboundMessage } from './parse.ts';
import { anyOf } from './patterns.ts';
import { isReadReceipt } from './read-receipt.ts';
import { returnDate } from '../reading/when.ts';
import { theirSubject } from './subjects.ts';

/** Why a message counts as automatic, or as mail that no person wrote. */
export type AutomaticReason = 'auto_reply' | 'auto_generated' | 'read_receipt' | 'mail_system';

/**
 * A message no person wrote. `outOfOffice` is true for away messages, false for receipts, notices and
 * the like.
 */
interface AutomaticMail {
  readonly outOfOffice: boolean;
  readonly reason: AutomaticReason;
}

/** Subjects mail programs and people give to automatic replies; folded, at the start of the subject. */
const AUTOMATIC_SUBJECT = anyOf(
  [
    String.raw`\[?auto(?:matic|mated)?[ -]?(?:reply|response|respons|responder|reaction)\]?\s?[:-]`,
    String.raw`\[?automatic message\]?\s?[:-]|\[?autoreply\]?\s?[:-]|\[?auto\]?\s?[:-]|automatic reply\b`,
    String.raw`auto(?:matic)?[ -]?reply\b|autorespond\w*|automatische antwort|reponse automatique`,
    String.raw`respuesta automatica|risposta automatica|resposta automatica|automatisch antwoord`,
    String.raw`automatische beantwoording|autoodpowiedz|automatyczna odpowiedz|automatikus valasz|automatisk svar|autosvar|automatiskt svar`,
    String.raw`automaattinen vastaus|automaattivastaus|automaticka odpoved|автоматическии ответ|автоответ|автоматична відповідь|otomatik yanıt|otomatik cevap`,
    fold('自動返信|自動応答|自动回复|自动答复|自動回覆'),
  ],
  '',
  '^',
);
const AWAY_SUBJECT = anyOf(
  [
    String.raw`\[?(?:out[ -]of[ -](?:the )?office|ooo|oof)\b`,
    String.raw`(?:i am |i'm )?(?:away (?:from|until)|on (?:vacation|holiday|(?:parental |maternity )?leave))`,
    String.raw`vacation|abwesenheits\p{L}{0,12}|abwesend|abwesenheit|ausser haus|urlaub|absence|absent\b`,
    String.raw`absente\b|en conges?\b|conges?\b|fuera de (?:la )?oficina|ausencia|ausente|de vacaciones`,
    String.raw`fuori (?:sede|ufficio)|assente|assenza|in ferie|fora do escritorio|de ferias|afwezig`,
    String.raw`niet aanwezig|met (?:vakantie|verlof)|poza biurem|nieobecnosc|urlop|hazon kivul`,
    String.raw`irodan kivul|szabadsag|pa ferie|ferie\b|ikke pa kontoret|fraværende|fravær|pa semester|semester\b|franvarande|franvaro|ikke til stede`,
    String.raw`poissa(?:olo)?|lomalla|nepritomn|dovolena|mimo kancelar|в отпуске|отпуск|нет на месте|відпустк|у відпустці|izinde|ofis dısında|ofis dışında|tatilde`,
    fold('不在|休暇|休假|外出'),
  ],
  'u',
  '^',
);

/** What people say when they are away; folded. */
const AWAY_WORDS = anyOf(
  [
    String.raw`out[ -]of[ -](?:the |my )?office|ooo(?!\p{L})`,
    String.raw`away from (?:my|the) (?:desk|office|email|mail)`,
    String.raw`(?:am|i'm|be|currently|is) (?:away|out|travell?ing|on (?:pto|a business trip|leave))`,
    String.raw`on (?:annual|paid|sick|parental|maternity|paternity) leave|on (?:vacation|holidays?|sabbatical)`,
    String.raw`(?:limited|no|without) access to (?:my )?(?:e-?mails?|mails?)`,
    String.raw`nicht (?:im (?:buro|haus|dienst)|am arbeitsplatz|erreichbar)|ausser haus`,
    String.raw`(?:im|in) (?:urlaub|elternzeit|mutterschutz)|abwesen(?:d|heit)|dienstreise`,
    String.raw`en (?:conges?|vacances|deplacement)|absent[es]?(?!\p{L})|(?:mon|notre) absence`,
    String.raw`hors du bureau|en conge (?:maternite|parental)|fuera de (?:la |mi )?oficina|de vacaciones`,
    String.raw`estoy ausente|mi ausencia|ausente|fuori (?:sede|ufficio)|in (?:ferie|vacanza)`,
    String.raw`assen(?:te|za)|fora do escritorio|de ferias|minha ausencia`,
    String.raw`(?:niet|afwezig) (?:op|van) kantoor|afwezig(?:heid)?|(?:met|op) (?:vakantie|verlof)`,
    String.raw`poza biurem|na urlopie|nieobecn\p{L}{1,6}|urlop(?:ie|u|em)?(?!\p{L})`,
    String.raw`szabadsag(?:on|om|omat)|(?:hazon|irodan) kivul|tavol vagyok`,
    String.raw`nem vagyok (?:az irodaban|elerheto)|(?:pa|i) (?:ferie|semester|permisjon|barsel)|ikke pa kontoret|inte pa kontoret|fraværende|franvarande|foraldraledig|tjansteledig`,
    String.raw`(?:olen |)lomalla|vuosilomalla|poissa(?: toimistolta)?|en ole (?:toissa|paikalla)|(?:na|mam) dovolen\p{L}{1,3}|mimo kancelar|nejsem v kancelari|nepritomn\p{L}{1,3}`,
    String.raw`(?:в|нахожусь в|буду в) отпуске|не в офисе|отсутств\p{L}{1,6}|(?:у|в) відпустці|не в офісі|відсутн\p{L}{1,5}|izindeyim|izinliyim|izinde olaca\p{L}{1,4}|ofis dısındayım|ofiste degilim|tatildeyim|yıllık izin\p{L}{0,6}`,
  ],
  'u',
  String.raw`(?<!\p{L})`,
);

/** The same in writing without spaces between words. */
const AWAY_EAST_ASIAN = new RegExp(fold('休暇|不在|お休みをいただ|休業|休假|不在办公室|不在辦公室|外出|出差'), 'u');

/** The writer won't come back: nothing to wait for. */
const GONE = anyOf(
  [
    String.raw`no longer (?:with|works?|working|employed|at)`,
    String.raw`(?:has|have) left (?:the )?(?:company|organi[sz]ation|us)`,
    String.raw`nicht mehr (?:fur|bei|im unternehmen)|ne (?:fait|travaille) plus|ya no (?:trabaj|forma)`,
    String.raw`non (?:lavora|fa) piu|nao trabalha mais|niet meer werkzaam|nie pracuje juz|juz nie pracuj`,
    String.raw`mar nem dolgoz|arbejder ikke (?:længere|mere)|ikke længere ansat|jobbar inte (?:langre|kvar)|slutat (?:pa|hos)|jobber ikke lenger|sluttet (?:hos|i)|ei ole enaa|ei tyoskentele enaa|uz (?:zde |)nepracuj|больше не работает|більше не працює|artık calısmıyor|artik calismiyor`,
    fold('退職|离职|離職'),
  ],
  '',
);

/**
 * Recognises mail that a machine sent: automatic replies (RFC 3834 and the headers programs used before it),
 * away messages, notices and read receipts. Null for what a person wrote.
 *
 * "I'm on vacation, ask Ann" typed by a person is a reply, so words about absence count only beside a mark of a machine.
 * `Precedence` and `X-Auto-Response-Suppress` are no such marks: help desks, gateways and lists give them to people's mail.
 * Custom out_of_office_keywords play no part (they feed the reply-intent record only).
 *
 * @param subjects of what we sent, whose words say nothing about an answer that repeats them
 */
export function detectAutomatic(
  message: InboundMessage,
  receivedAt: Date,
  subjects: readonly string[] = [],
): AutomaticMail | null {
  const subject = theirSubject(message.subject, subjects);
  const words = ownWords(message);
  const reason = automaticReason(message, words, subject, subjects);
  if (reason === null) return null;
  const mayBeAway = reason === 'auto_reply' || reason === 'auto_generated';
  return { outOfOffice: mayBeAway && isAway(message, words, subject, receivedAt), reason };
}

function automaticReason(
  message: InboundMessage,
  words: string,
  subject: string,
  subjects: readonly string[],
): AutomaticReason | null {
  const { headers } = message;
  if (message.reportType === 'disposition-notification' || isReadReceipt(message, subjects)) return 'read_receipt';
  if (message.contentType === 'multipart/report') return 'mail_system';
  const submitted = /^[a-z-]+/.exec(headers['auto-submitted']?.trim().toLowerCase() ?? '')?.[0] ?? 'no';
  const precedence = (headers.precedence ?? headers['x-precedence'] ?? '').trim().toLowerCase();
  if (submitted === 'auto-replied' || ANSWER_HEADERS.some((name) => isSet(headers[name]))) return 'auto_reply';
  if (/^auto[-_ ]?reply$/.test(precedence)) return 'auto_reply';
  if (AUTOMATIC_SUBJECT.test(subject) || AWAY_SUBJECT.test(subject)) return 'auto_reply';
  if (submitted !== 'no') return 'auto_generated';
  const text = fold(words);
  const byRule = isSet(headers['x-ms-exchange-inbox-rules-loop']) || message.returnPath === '';
  if (byRule && AWAY_WORDS.test(text)) return 'auto_reply';
  if (fromMailSystem(message)) return 'mail_system';
  return isMachineNotice(message, words, (sentence) => GONE.test(sentence)) ? 'auto_generated' : null;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && !/^\s*(?:no|false|0)?\s*$/i.test(value);
}

function isAway(message: InboundMessage, words: string, subject: string, receivedAt: Date): boolean {
  const text = fold(words.slice(0, 8000));
  if (GONE.test(text) && !AWAY_SUBJECT.test(subject)) return false;
  if (/\(vacation\)/i.test(message.headers['auto-submitted'] ?? '')) return true;
  if (AWAY_SUBJECT.test(subject) || AWAY_WORDS.test(subject) || AWAY_WORDS.test(text)) return true;
  if (AWAY_EAST_ASIAN.test(text)) return true;
  return AUTOMATIC_SUBJECT.test(subject) && returnDate(words.slice(0, 8000), receivedAt) !== null;
}
