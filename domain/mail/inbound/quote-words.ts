import { anyOf } from './patterns.ts';

/**
 * The words mail programs put around what a reply quotes, in the languages Heron reads: English, German, French, Spanish,
 * Italian, Portuguese, Dutch, Danish, Swedish, Norwegian, Finnish, Polish, Czech, Hungarian, Russian, Ukrainian, Turkish,
 * Japanese and Chinese.
 */

/** "wrote", as the last words of a line such as "On Monday Ann wrote:" or within it. */
export const WROTE = anyOf(
  [
    String.raw`wrote|writes|schrieb|schreef|a écrit|escribió|ha scritto|scritto|escreveu|skrev|kirjoitti`,
    String.raw`napisał(?:\(a\)|a)?|pisze|napsal(?:\(a\)|a)?|ezt írta|írta|написал(?:\(а\)|а)?|пишет|пише|написав(?:\(ла\)|\(-ла\))?|написала`,
    String.raw`şunları yazdı|şunu yazdı|tarihinde yazdı|yazdı|さんは書きました|は書きました|が書きました|のメッセージ|写道|寫道|写了|寫了`,
  ],
  'i',
  String.raw`(?:^|[\s,>)]|(?=[さはがの写寫]))`,
  String.raw`(?=[\s:：(,]|$)`,
);

/** How a line begins that says who wrote when. */
export const INTRODUCTION_START = anyOf(
  [
    String.raw`on|am|le|el|il|em|op|w dniu|dnia|den|dne|pe|v|в|у|a|in data|på|i|\d{1,4}`,
    String.raw`(?:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so|lun|mar|mer|jeu|ven|sam|dim|ma|ti|ke|to|pe|la|su|man|tir|ons|tor|lør|søn|mån|tis|fre|lör|sön|pon|wt|śr|czw|pt|sob|ndz|po|út|st|čt|pá|ne|пн|вт|ср|чт|пт|сб|вс|нд|pzt|sal|çar|per|cum|cmt|paz|在|于)[\p{L}]{0,12}`,
  ],
  'iu',
  String.raw`^["'*]?`,
  String.raw`(?:[\s.,年/月-]|$)`,
);

/** A rule that says that what follows is another message. */
export const ORIGINAL_MARKER = anyOf(
  [
    String.raw`original (?:message|appointment)|reply message|forwarded message|forwarded by\b.{0,100}|begin forwarded message`,
    String.raw`ursprüngliche nachricht|original-nachricht|weitergeleitete nachricht|message d['’]origine|message original|message transféré|message d['’]origine`,
    String.raw`mensaje original|mensaje reenviado|messaggio originale|messaggio inoltrato|mensagem original|mensagem encaminhada`,
    String.raw`oorspronkelijk bericht|doorgestuurd bericht|oprindelig (?:besked|meddelelse)|videresendt (?:besked|meddelelse|melding)`,
    String.raw`ursprungligt meddelande|ursprungligt mail|vidarebefordrat meddelande|opprinnelig melding|alkuperäinen viesti|välitetty viesti|edelleenlähetetty viesti`,
    String.raw`wiadomość oryginalna|oryginalna wiadomość|przekazana wiadomość|wiadomość przekazana|původní (?:zpráva|e-mail)|přeposlaná zpráva`,
    String.raw`eredeti üzenet|továbbított üzenet|исходное сообщение|пересылаемое сообщение|пересланное сообщение|оригинальное сообщение|оригінальне повідомлення|переслане повідомлення|початкове повідомлення`,
    String.raw`orijinal (?:mesaj|ileti)|özgün ileti|iletilen (?:mesaj|ileti)|元のメッセージ|転送(?:された)?メッセージ|原始邮件|原始郵件|转发的?邮件|轉寄的?郵件|邮件原件`,
  ],
  'i',
  String.raw`^[-_*=>\s]{2,40}\s*`,
  String.raw`\s*[-_*=:<\s]{0,40}$`,
);

const AFTER_LABEL = String.raw`(?:\s(?:le|el|em|den|il|dnia))?\s{0,2}[:：]\*{0,2}(?:\s|\S)`;

/** `From:` and its like, at the start of a header block. */
export const AUTHOR_LABEL = anyOf(
  [
    String.raw`from|von|de|da|van|fra|från|lähettäjä|od|feladó|expéditeur|absender|remitente|mittente|remetente|afzender|avsändare|avsender|afsender|nadawca|odesílatel|от|від|кому|kimden|gönderen`,
    String.raw`差出人|送信者|发件人|寄件者|寄件人|發件人`,
  ],
  'iu',
  String.raw`^[\s>*_]{0,4}`,
  AFTER_LABEL,
);
/** The other labels of a header block: date, recipient, subject. */
export const OTHER_LABEL = anyOf(
  [
    String.raw`sent|date|to|cc|subject|gesendet|datum|an|betreff|envoyé|à|objet|date|enviado|fecha|para|asunto|inviato|data|a|oggetto|assunto|verzonden|aan|onderwerp`,
    String.raw`sendt|dato|til|emne|skickat|till|ämne|kopia|lähetetty|päivämäärä|päiväys|pvm|vastaanottaja|aihe|wysłano|do|temat|odesláno|komu|předmět|elküldve|küldve|dátum|címzett|tárgy`,
    String.raw`отправлено|дата|кому|тема|надіслано|копия|копія|gönderildi|gönderme tarihi|gönderilme tarihi|tarih|kime|alıcı|konu`,
    String.raw`送信日時|日付|日時|宛先|件名|发送时间|发送日期|時間|时间|日期|寄件日期|收件人|收件者|主题|主題|主旨`,
  ],
  'iu',
  String.raw`^[\s>*_]{0,4}`,
  AFTER_LABEL,
);

/** Lines that phones and programs put under what was written. */
export const DEVICE_LINE = anyOf(
  [
    String.raw`sent from (?:my\b|mail for\b|outlook\b|yahoo\b|proton\b|gmail\b)|get outlook for\b|von meinem \S{1,30} gesendet|gesendet (?:von|mit)(?: der| meinem| meiner)?\s?(?:mail|meinem|meiner|outlook|iphone|ipad|mobilen|\S{0,20} app)\b`,
    String.raw`envoyé (?:de mon|depuis|à partir de)\b|télécharger outlook pour|enviado desde (?:mi|outlook)\b|obtener outlook para|inviato (?:da|dal mio)\b|scarica outlook per|enviado do meu\b|obter o outlook para`,
    String.raw`(?:verzonden|verstuurd) (?:vanaf|met|via)\b|sendt fra (?:min|mit|outlook)\b|hent outlook til|skickat från (?:min|mitt|outlook)\b|hämta outlook för|lähetetty (?:\S{2,30}(?:sta|stä|lta|ltä)\b|laitteesta)`,
    String.raw`wysłan[eo] z\b|pobierz (?:aplikację )?outlook|odesláno z\b|získat outlook|az (?:én )?\S{1,20}[ -]r[őó]l küldve|отправлено (?:с|из)\b|надіслано (?:з|із|зі)\b|\S{1,20}['’]?(?:den|dan|ten|tan|umdan|imden) gönderildi`,
    String.raw`(?:私の)?iphoneから送信|\S{1,20}から送信|发自我的|發自我的|从我的.{1,20}发送`,
  ],
  'iu',
  String.raw`^\s{0,4}`,
);

/** The underlining above or below quoted headers. */
export const RULE = /^[_\-*=─—]{5,}$/;
