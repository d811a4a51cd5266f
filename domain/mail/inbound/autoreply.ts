import { readReply } from '../reading/read-reply.ts';
import { returnDate } from '../reading/when.ts';
import { fromMailSystem } from './delivery-report.ts';
import { ANSWER_HEADERS } from './fields.ts';
import { fold } from './fold.ts';
import { isMachineNotice } from './machine-notices.ts';
import { replyText } from './reply-text.ts';
import type { InboundMessage } from './parse.ts';
import { anyOf } from './patterns.ts';
import { isReadReceipt } from './read-receipt.ts';
import { withoutOwnSubject } from './subjects.ts';

/** Reason why a message is classified as automatic. */
export type AutomaticReason = 'auto_reply' | 'auto_generated' | 'read_receipt' | 'mail_system';

/**
 * A message written by a program. `outOfOffice` is true for away messages, and false for receipts, notices and similar
 * mail.
 */
interface AutomaticMail {
  readonly outOfOffice: boolean;
  readonly reason: AutomaticReason;
}

/**
 * Subject beginnings of automatic replies, as written by mail programs and people. Matched against folded text
 * (fold.ts).
 */
const AUTOMATIC_SUBJECT = anyOf(
  [
    String.raw`\[?auto(?:matic|mated)?[ -]?(?:reply|response|respons|responder|reaction)\]?\s?[:-]`,
    String.raw`\[?automatic message\]?\s?[:-]|\[?autoreply\]?\s?[:-]|\[?auto\]?\s?[:-]|automatic reply\b`,
    String.raw`auto(?:matic)?[ -]?reply\b|autorespond\w*|automatische antwort|reponse automatique`,
    String.raw`respuesta automatica|risposta automatica|resposta automatica|automatisch antwoord`,
    String.raw`automatische beantwoording|autoodpowiedz|automatyczna odpowiedz|automatikus valasz|automatisk svar|autosvar|automatiskt svar`,
    String.raw`automaattinen vastaus|automaattivastaus|automaticka odpoved|автоматическии ответ|автоответ|автоматична відповідь|otomatik yanıt|otomatik cevap`,
    String.raw`raspuns automat|automaticka odpoved|automatski odgovor|automaticen odgovor|balasan otomatis|jawaban otomatis|tra loi tu đong`,
    fold(
      'автоматичен отговор|αυτόματη απάντηση|자동 회신|자동 응답|자동응답|부재중 자동|תשובה אוטומטית|מענה אוטומטי|رد تلقائي|الرد التلقائي|الرد الآلي|ตอบกลับอัตโนมัติ|ข้อความตอบกลับอัตโนมัติ|स्वचालित उत्तर|स्वतः उत्तर',
    ),
    fold('自動返信|自動応答|自动回复|自动答复|自動回覆|自動回應|自动响应'),
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
    String.raw`in concediu|odsutan|godisnji odmor|na godisnjem|cuti\b|sedang cuti|nghi phep|vang mat|mimo kancelarie|na dovolenke`,
    fold(
      'извън офиса|в отпуск|отсъствие|εκτός γραφείου|σε άδεια|απουσία|부재중|휴가|מחוץ למשרד|בחופשה|היעדרות|خارج المكتب|في إجازة|غير متواجد|ไม่อยู่ที่สำนักงาน|ลาพักร้อน|ลางาน|कार्यालय से बाहर|छुट्टी पर',
    ),
    fold('不在|休暇|休假|外出'),
  ],
  'u',
  '^',
);

/** Phrases which say that the writer has left the company permanently, so that no return date is expected. */
const GONE = anyOf(
  [
    String.raw`no longer (?:with|works?|working|employed|at)`,
    String.raw`(?:has|have) left (?:the )?(?:company|organi[sz]ation|us)|i have left (?!for|to|on|my|a|the|early|work|home|it|you)[\p{L}]{3,}(?=[ .,])`,
    String.raw`nicht mehr (?:fur|bei|im unternehmen)|ne (?:fait|travaille) plus|ya no (?:trabaj|forma)`,
    String.raw`non (?:lavora|fa) piu|nao trabalha mais|niet meer werkzaam|nie pracuje juz|juz nie pracuj`,
    String.raw`mar nem dolgoz|arbejder ikke (?:længere|mere)|ikke længere ansat|jobbar inte (?:langre|kvar)|slutat (?:pa|hos)|jobber ikke lenger|sluttet (?:hos|i)|ei ole enaa|ei tyoskentele enaa|uz (?:zde |)nepracuj|больше не работает|більше не працює|artık calısmıyor|artik calismiyor`,
    fold('退職|离职|離職'),
  ],
  'u',
);

/**
 * Detects mail sent by a machine: automatic replies (RFC 3834 and the headers used before it), away messages, notices
 * and read receipts. Returns null for mail written by a person. "I'm on vacation, ask Ann" typed by a person is a
 * reply. Therefore words about absence, which the trained model recognizes, are considered only together with another
 * sign of a program. `Precedence` and `X-Auto-Response-Suppress` are not such signs, because help desks, gateways and
 * lists add them to people's mail. The workspace's out_of_office_keywords are not used here.
 * @param subjects subjects that we sent; a reply repeats them, so their words are ignored
 */
export function detectAutomatic(
  message: InboundMessage,
  receivedAt: Date,
  subjects: readonly string[] = [],
): AutomaticMail | null {
  const subject = withoutOwnSubject(message.subject, subjects);
  const words = replyText(message);
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
  const byRule = isSet(headers['x-ms-exchange-inbox-rules-loop']) || message.returnPath === '';
  if (byRule && readReply(words).kind === 'out_of_office') return 'auto_reply';
  if (fromMailSystem(message)) return 'mail_system';
  return isMachineNotice(message, words, (sentence) => GONE.test(sentence)) ? 'auto_generated' : null;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && !/^\s*(?:no|false|0)?\s*$/i.test(value);
}

/**
 * Returns true if an automatic message announces a temporary absence. A message that the writer has left permanently is
 * not an away message.
 */
function isAway(message: InboundMessage, words: string, subject: string, receivedAt: Date): boolean {
  if (GONE.test(fold(words.slice(0, 8000))) && !AWAY_SUBJECT.test(subject)) return false;
  const { kind } = readReply(words);
  if (AWAY_SUBJECT.test(subject) || kind === 'out_of_office') return true;
  if (/\(vacation\)/i.test(message.headers['auto-submitted'] ?? '')) return kind !== 'automatic';
  return AUTOMATIC_SUBJECT.test(subject) && kind !== 'automatic' && returnDate(words, receivedAt) !== null;
}
