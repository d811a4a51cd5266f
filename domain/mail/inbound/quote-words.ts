import { anyOf } from './patterns.ts';

/**
 * This file contains the words that mail programs put around the quote in a reply, in the supported languages. These
 * are the 31 languages of `domain/mail/reading`.
 */

/** "wrote", at the end of or within a line such as "On Monday Ann wrote:". */
export const WROTE = anyOf(
  [
    String.raw`wrote|writes|schrieb|schreef|a écrit|escribió|ha scritto|scritto|escreveu|skrev|kirjoitti`,
    String.raw`napisał(?:\(a\)|a)?|pisze|napsal(?:\(a\)|a)?|ezt írta|írta|написал(?:\(а\)|а)?|пишет|пише|написав(?:\(ла\)|\(-ла\))?|написала`,
    String.raw`şunları yazdı|şunu yazdı|tarihinde yazdı|yazdı|さんは書きました|は書きました|が書きました|のメッセージ|写道|寫道|写了|寫了`,
    String.raw`a scris|έγραψε|написа|napisao(?:/la)? je|napisala je|napísal(?:\(a\)|a)?|님이 작성|menulis|đã viết|เขียนว่า|ने लिखा|כתב(?:/ה)?|כתבה|مאת|كتب`,
  ],
  'i',
  String.raw`(?:^|[\s,>)]|(?=[さはがの写寫]))`,
  String.raw`(?=[\s:：(,]|$)`,
);

/** Beginnings of a line that names the date and author of a quote. */
export const INTRODUCTION_START = anyOf(
  [
    String.raw`on|am|le|el|il|em|op|w dniu|dnia|den|dne|pe|v|в|у|a|in data|på|i|\d{1,4}`,
    String.raw`(?:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so|lun|mar|mer|jeu|ven|sam|dim|ma|ti|ke|to|pe|la|su|man|tir|ons|tor|lør|søn|mån|tis|fre|lör|sön|pon|wt|śr|czw|pt|sob|ndz|po|út|st|čt|pá|ne|пн|вт|ср|чт|пт|сб|вс|нд|pzt|sal|çar|per|cum|cmt|paz|在|于)[\p{L}]{0,12}`,
  ],
  'iu',
  String.raw`^["'*]?`,
  String.raw`(?:[\s.,年/月-]|$)`,
);

/** Separator lines above a quoted or forwarded message, such as "Original Message". */
export const ORIGINAL_MARKER = anyOf(
  [
    String.raw`original (?:message|appointment)|reply message|forwarded message|forwarded by\b.{0,100}|begin forwarded message`,
    String.raw`ursprüngliche nachricht|antwort nachricht|original-nachricht|weitergeleitete nachricht|message d['’]origine|message original|message transféré|message d['’]origine`,
    String.raw`mensaje original|mensaje reenviado|messaggio originale|messaggio inoltrato|mensagem original|mensagem encaminhada`,
    String.raw`oorspronkelijk bericht|doorgestuurd bericht|oprindelig (?:besked|meddelelse)|videresendt (?:besked|meddelelse|melding)`,
    String.raw`ursprungligt meddelande|ursprungligt mail|vidarebefordrat meddelande|opprinnelig melding|alkuperäinen viesti|välitetty viesti|edelleenlähetetty viesti`,
    String.raw`wiadomość oryginalna|oryginalna wiadomość|przekazana wiadomość|wiadomość przekazana|původní (?:zpráva|e-mail)|přeposlaná zpráva`,
    String.raw`eredeti üzenet|továbbított üzenet|исходное сообщение|пересылаемое сообщение|пересланное сообщение|оригинальное сообщение|оригінальне повідомлення|переслане повідомлення|початкове повідомлення`,
    String.raw`mesaj(?:ul)? original|mesaj (?:redirecționat|retrimis)|αρχικό μήνυμα|προωθημένο μήνυμα|원본 ?(?:메시지|메일)|전달된 ?(?:메시지|메일)|הודעה מקורית|הודעה שהועברה|الرسالة الأصلية|رسالة معاد توجيهها|pôvodná správa|preposlaná správa`,
    String.raw`оригинално съобщение|препратено съобщение|(?:izvorna|originalna|proslijeđena) poruka|pesan (?:asli|terusan)|(?:thư|tin nhắn) (?:gốc|chuyển tiếp)|ข้อความต้นฉบับ|ข้อความที่ส่งต่อ|मूल संदेश|अग्रेषित संदेश`,
    String.raw`orijinal (?:mesaj|ileti)|özgün ileti|iletilen (?:mesaj|ileti)|元のメッセージ|転送(?:された)?メッセージ|原始邮件|原始郵件|转发的?邮件|轉寄的?郵件|邮件原件`,
  ],
  'i',
  String.raw`^[-_*=>\s]{2,40}\s*`,
  String.raw`\s*[-_*=:<\s]{0,40}$`,
);

const AFTER_LABEL = String.raw`(?:\s(?:le|el|em|den|il|dnia))?\s{0,2}[:：]\*{0,2}(?:\s|\S)`;

/** Labels such as `From:` at the start of a header block. */
export const AUTHOR_LABEL = anyOf(
  [
    String.raw`from|von|de|da|van|fra|från|lähettäjä|od|feladó|expéditeur|absender|remitente|mittente|remetente|afzender|avsändare|avsender|afsender|nadawca|odesílatel|от|від|кому|kimden|gönderen`,
    String.raw`差出人|送信者|发件人|寄件者|寄件人|發件人|de la|από|보낸 ?사람|발신자|מאת|من|šalje|dari|từ|จาก|प्रेषक`,
  ],
  'iu',
  String.raw`^[\s>*_]{0,4}`,
  AFTER_LABEL,
);
/** Other labels of a header block: date, recipient, subject. */
export const OTHER_LABEL = anyOf(
  [
    String.raw`sent|date|to|cc|subject|gesendet|datum|an|betreff|envoyé|à|objet|date|enviado|fecha|para|asunto|inviato|data|a|oggetto|assunto|verzonden|aan|onderwerp`,
    String.raw`sendt|dato|til|emne|skickat|till|ämne|kopia|lähetetty|päivämäärä|päiväys|pvm|vastaanottaja|aihe|wysłano|do|temat|odesláno|komu|předmět|elküldve|küldve|dátum|címzett|tárgy`,
    String.raw`отправлено|дата|кому|тема|надіслано|копия|копія|gönderildi|gönderme tarihi|gönderilme tarihi|tarih|kime|alıcı|konu`,
    String.raw`送信日時|日付|日時|宛先|件名|发送时间|发送日期|時間|时间|日期|寄件日期|收件人|收件者|主题|主題|主旨`,
    String.raw`trimis|către|subiect|στάλθηκε|ημερομηνία|προς|θέμα|보낸 ?날짜|날짜|받는 ?사람|제목|참조|נשלח|תאריך|אל|נושא|تم الإرسال|تاريخ الإرسال|التاريخ|إلى|الموضوع|odoslané|predmet`,
    String.raw`изпратено|до|относно|poslano|prima|dikirim|tanggal|kepada|subjek|đã gửi|ngày|tới|đến|chủ đề|ส่ง|วันที่|ถึง|เรื่อง|भेजा गया|दिनांक|प्रति|विषय`,
  ],
  'iu',
  String.raw`^[\s>*_]{0,4}`,
  AFTER_LABEL,
);

/** Header block labels that people rarely type: sending date and subject. */
export const DISTINCTIVE_LABEL = anyOf(
  [
    String.raw`sent|subject|gesendet|betreff|envoyé|objet|enviado|asunto|inviato|oggetto|assunto|verzonden|onderwerp|sendt|emne|skickat|ämne|lähetetty|aihe`,
    String.raw`wysłano|temat|odesláno|předmět|elküldve|küldve|tárgy|отправлено|тема|надіслано|gönderildi|gönderme tarihi|gönderilme tarihi|konu|送信日時|件名|发送时间|发送日期|寄件日期|主题|主題|主旨`,
    String.raw`trimis|subiect|στάλθηκε|θέμα|보낸 ?날짜|제목|נשלח|נושא|تم الإرسال|الموضوع|odoslané|predmet|изпратено|относно|poslano|dikirim|subjek|đã gửi|chủ đề|ส่ง|เรื่อง|भेजा गया|विषय`,
  ],
  'iu',
  String.raw`^[\s>*_]{0,4}`,
  AFTER_LABEL,
);

/** Phrases such as "you wrote" and "schrieb ich". Only people write them; programs write the author's name. */
export const PERSONAL = anyOf(
  [
    String.raw`(?:we|i|he|she|they|who|it)(?: \w{2,10})? (?:wrote|writes)|schrieb (?:ich|er|sie|es|man)|(?:il|elle|on|qui) a écrit|escribió (?:usted|él|ella)|(?:usted|él|ella|que) escribió|(?:lei|lui|che) ha scritto|(?:você|ele|ela|que) escreveu`,
    String.raw`schreef (?:ik|u|je|jij|hij|ze|zij)|(?:du|jeg|jag|vi|han|hun|hon|i|ni|de) skrev|skrev (?:du|jeg|jag|vi|han|hun|hon|i|ni|de)|pani? (?:napisał|pisze)|(?:он|она|я|ты) (?:написал|пишет)|(?:він|вона|я|ти) (?:написав|написала|пише)`,
  ],
  'iu',
  String.raw`(?:^|[^\p{L}])`,
  String.raw`(?![\p{L}])`,
);

/** A line such as "Ann wrote:" or "Ann says:" above a manual quote. */
export const ATTRIBUTION_LINE =
  /(?:wrote|writes|said|says|asked|quot\w*|below|inline|comments?|schr[ie]+bt?|sagte|fragte|zit\w*|unten|écrit|dit|cit\w*|escrib\w*|dijo|scritt\w*|detto|escreve\w*|schreef|zei|skrev|sagde|kirjoitti|napisał\w*|napsal\w*|írta|написа\w*|пишет|пише|yazdı|書きました|写道|寫道)[^:：]{0,40}[:：]$/iu;

/** Names of phones and mail programs in the line that they add below a text. */
const DEVICE = String.raw`(?:\S{0,20}(?:iphone|ipad|ipod|android|blackberry|galaxy|huawei|xiaomi|pixel|xperia|outlook|yahoo|gmail|proton|windows|typeapp|boxer|tutanota|gmx|web\.de|t-online|telekom|seznam|rambler|mail for\b|mail[ -]?app|mail\.(?:ru|de|com)|smart(?:ph|f)on|\bphone|iphon|handy\b|mobil|móvil|cellul|celular|tablet|telef[oó]n|téléphone|telefoon|puhelim|laitteesta|aplikac|яндекс|почты|телефон|смартфон|планшет|мобільн|мобильн))`;
/** Matches up to three words before the device name. */
const FEW = String.raw`(?:[^\s.,!?;:]{1,20}\s){0,3}?`;

/**
 * Lines that phones and mail programs add below a text, such as "Sent from my phone". Does not match "Sent by courier".
 */
export const DEVICE_LINE = anyOf(
  [
    String.raw`sent from (?:my\b|(?:the |an? |aol |samsung )?${DEVICE})|sent (?:with|via|using) ${FEW}${DEVICE}|get outlook for\b|von (?:meinem|meiner|mein) \S{1,30}(?: \S{1,20}){0,3} gesendet|gesendet (?:von|mit|über) ${FEW}${DEVICE}|diese nachricht wurde von meinem\b`,
    String.raw`envoyé (?:de mon|de ma|depuis|à partir de|avec|via) ?${FEW}${DEVICE}|télécharger outlook pour|enviado (?:desde|con|do|a partir do|pelo|via) ${FEW}${DEVICE}|obtener outlook para|inviato (?:da|dal|con|tramite) ?${FEW}${DEVICE}|scarica outlook per|obter o outlook para`,
    String.raw`(?:verzonden|verstuurd) (?:vanaf|met|via|vanuit) ${FEW}${DEVICE}|outlook voor \S{2,10} downloaden|sendt (?:fra|med|via) ${FEW}${DEVICE}|hent outlook til|skickat (?:från|med|via) ${FEW}${DEVICE}|hämta outlook för|lähetetty ${FEW}${DEVICE}|hanki outlook`,
    String.raw`wysłan[eoya] (?:z|za pomocą|przez) ${FEW}${DEVICE}|pobierz (?:aplikację )?outlook|odesláno (?:z|ze|pomocí|prostřednictvím) ${FEW}${DEVICE}|získat outlook|az (?:én )?\S{1,20}[ -]?r[őóo]l küldve|(?:от|на)?правлено (?:с|из|через) ${FEW}${DEVICE}|надіслано (?:з|із|зі|через) ${FEW}${DEVICE}|\S{1,20}['’]?(?:den|dan|ten|tan|umdan|ımdan|imden) gönderildi`,
    String.raw`trimis (?:de pe|din|cu|prin) ${FEW}${DEVICE}|στάλθηκε (?:από|μέσω) ${FEW}${DEVICE}|${DEVICE}에서 보냄|나의 \S{1,20}에서 보냄|נשלח מ\S{0,4}${DEVICE}|(?:أُ?رسلت|تم الإرسال) من ${FEW}${DEVICE}|odoslané (?:z|zo|pomocou) ${FEW}${DEVICE}|изпратено (?:от|чрез) ${FEW}${DEVICE}|poslano (?:s|sa|iz) ${FEW}${DEVICE}|dikirim dari ${FEW}${DEVICE}|đã gửi từ ${FEW}${DEVICE}|ส่งจาก ?${FEW}${DEVICE}|मेरे \S{1,20} से भेजा गया`,
    String.raw`(?:私の)?(?:iphone|ipad|android|スマートフォン|携帯\S{0,6}|\S{0,10}メール\S{0,10}|\S{0,10}mail\S{0,10}|\S{0,10}xperia|\S{0,10}galaxy)から送信|发自我的|發自我的|(?:从|来自|來自)我的\S{0,8}(?:iphone|ipad|手机|手機|android|华为|小米|安卓|平板|设备|邮箱)\S{0,8}(?:发送|發送)?$`,
  ],
  'iu',
  String.raw`^\s{0,4}`,
);

/**
 * Text that may follow the device name in a line such as "Sent from my phone", for example an apology for typing
 * errors.
 */
export const EXCUSE =
  /excuse|pardon|apolog|typo|brevity|brief|short|spelling|entschuldig|tippfehler|kürze|désolé|fautes|disculp|errores|scus|errori|desculp|erros|excuses|fouten|https?:|<http|aka\.ms/i;

/** Horizontal rule above or below quoted headers. */
export const RULE = /^[_\-*=─—]{5,}$/;
