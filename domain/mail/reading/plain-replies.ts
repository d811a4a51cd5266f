import { foldText } from './features.ts';

/**
 * Complete answers that only refuse. The model does not recognize them, because they are short and use the same words
 * as answers that agree.
 */
const REFUSALS: readonly string[] = [
  'not interested|no interest|we are not interested|we aren’t interested|we’re not interested|i am not interested|i’m not interested',
  'kein interesse|nicht interessiert|wir sind nicht interessiert|ich bin nicht interessiert|wir haben kein interesse|ich habe kein interesse',
  'pas intéressé|pas intéressée|pas intéressés|nous ne sommes pas intéressés|je ne suis pas intéressé|je ne suis pas intéressée|ça ne m’intéresse pas',
  'no me interesa|no nos interesa|no estoy interesado|no estoy interesada|no estamos interesados|sin interés',
  'non mi interessa|non ci interessa|non sono interessato|non sono interessata|non siamo interessati|nessun interesse',
  'não me interessa|não nos interessa|não tenho interesse|não temos interesse|não estou interessado|não estou interessada|não estamos interessados',
  'geen interesse|geen belangstelling|niet geïnteresseerd|ik ben niet geïnteresseerd|wij zijn niet geïnteresseerd|we zijn niet geïnteresseerd|ik heb geen interesse|we hebben geen interesse',
  'nie jestem zainteresowany|nie jestem zainteresowana|nie jesteśmy zainteresowani|brak zainteresowania|nie interesuje mnie to|nie interesuje nas to',
  'nemám zájem|nemáme zájem|nezajímá mě to|nezajímá nás to|bez zájmu',
  'nemám záujem|nemáme záujem|nezaujíma ma to|nezaujíma nás to|bez záujmu',
  'ikke interesseret|vi er ikke interesserede|vi er ikke interesseret|jeg er ikke interesseret|ingen interesse',
  'ikke interessert|vi er ikke interessert|jeg er ikke interessert|vi er ikke interesserte',
  'inte intresserad|inte intresserade|vi är inte intresserade|jag är inte intresserad|inget intresse',
  'en ole kiinnostunut|emme ole kiinnostuneita|ei kiinnosta|ei kiinnostusta',
  'nem érdekel|nem érdekel minket|nem vagyok érdekelt|nem érdekel bennünket|nincs érdeklődés',
  'nu mă interesează|nu ne interesează|nu sunt interesat|nu sunt interesată|nu suntem interesați',
  'ilgilenmiyorum|ilgilenmiyoruz|ilgimizi çekmiyor|ilgimi çekmiyor',
  'не интересно|неинтересно|нам не интересно|нам неинтересно|мне не интересно|мне неинтересно|не интересует|нас не интересует|меня не интересует|не заинтересованы',
  'не цікаво|нам не цікаво|мені не цікаво|не цікавить|нас не цікавить|мене не цікавить|не зацікавлені',
  'не ме интересува|не ни интересува|не проявяваме интерес|не съм заинтересован|не съм заинтересована|не сме заинтересовани',
  'ne zanima me|ne zanima nas|nisam zainteresiran|nisam zainteresirana|nismo zainteresirani',
  'δεν ενδιαφέρομαι|δεν ενδιαφερόμαστε|δεν μας ενδιαφέρει|δεν με ενδιαφέρει',
  'لست مهتما|لسنا مهتمين|غير مهتم|غير مهتمين|غير مهتمة|لا يهمنا|لا يهمني',
  'לא מעוניין|לא מעוניינת|לא מעוניינים|לא רלוונטי|איננו מעוניינים|אנחנו לא מעוניינים',
  'रुचि नहीं है|हमें रुचि नहीं है|मुझे रुचि नहीं है|interest nahi hai|interested nahi hai',
  'tidak tertarik|kami tidak tertarik|saya tidak tertarik|tidak berminat|kami tidak berminat|saya tidak berminat',
  'không quan tâm|tôi không quan tâm|chúng tôi không quan tâm|không có nhu cầu|chúng tôi không có nhu cầu',
  'ไม่สนใจ|ไม่สนใจครับ|ไม่สนใจค่ะ|เราไม่สนใจ',
  '관심 없습니다|관심없습니다|관심 없어요|관심없어요|관심이 없습니다|저희는 관심이 없습니다',
  '興味ありません|興味がありません|興味はありません|興味がない|関心がありません',
  '不感兴趣|没有兴趣|没兴趣|我们不感兴趣|我不感兴趣|不感興趣|沒有興趣|沒興趣|我們不感興趣',
];
/** Complete answers that only agree. */
const AGREEMENTS: readonly string[] = [
  'interested|i am interested|i’m interested|we are interested|interessiert|ich bin interessiert|wir sind interessiert|ich habe interesse|wir haben interesse',
  'intéressé|intéressée|je suis intéressé|je suis intéressée|nous sommes intéressés|ça m’intéresse|me interesa|nos interesa|estoy interesado|estoy interesada',
  'mi interessa|ci interessa|sono interessato|sono interessata|siamo interessati|tenho interesse|temos interesse|estou interessado|estou interessada|estamos interessados',
  'ik heb interesse|we hebben interesse|ik ben geïnteresseerd|jestem zainteresowany|jestem zainteresowana|jesteśmy zainteresowani|mám zájem|máme zájem|mám záujem|máme záujem',
  'jeg er interesseret|vi er interesserede|jeg er interessert|vi er interessert|jag är intresserad|vi är intresserade|olen kiinnostunut|olemme kiinnostuneita|kiinnostaa',
  'érdekel|érdekel minket|mă interesează|ne interesează|sunt interesat|sunt interesată|ilgileniyorum|ilgileniyoruz|интересно|мне интересно|нам интересно|цікаво|мені цікаво|нам цікаво',
  'интересува ме|интересува ни|zanima me|zanima nas|ενδιαφέρομαι|ενδιαφερόμαστε|μας ενδιαφέρει|με ενδιαφέρει|أنا مهتم|نحن مهتمون|מעוניין|מעוניינת|אנחנו מעוניינים',
  'saya tertarik|kami tertarik|tôi quan tâm|chúng tôi quan tâm|สนใจครับ|สนใจค่ะ|관심 있습니다|관심 있어요|興味があります|興味あります|感兴趣|我们感兴趣|我感兴趣|感興趣|我們感興趣',
];
/** Words of courtesy that may precede or follow an answer. */
const COURTESIES =
  'thanks|thank you|sorry|no|yes|ja|oui|si|sì|sim|tak|ano|áno|igen|da|evet|да|так|ναι|نعم|כן|ya|vâng|네|はい|是的|danke|vielen dank|leider|nein|merci|désolé|non|gracias|lo siento|grazie|obrigado|obrigada|não|bedankt|dank u|helaas|nee|dziękuję|dziękujemy|niestety|nie|děkuji|děkujeme|ďakujem|ďakujeme|tak|nej|takk|nei|tack|kiitos|ei|köszönöm|köszönjük|nem|mulțumesc|mulțumim|nu|teşekkürler|teşekkür ederiz|hayır|спасибо|нет|дякую|дякуємо|ні|благодаря|благодарим|hvala|ne|ευχαριστώ|ευχαριστούμε|όχι|شكرا|لا|תודה|לא|धन्यवाद|नहीं|terima kasih|maaf|cảm ơn|ขอบคุณ|감사합니다|죄송합니다|ありがとうございます|谢谢|抱歉|謝謝';
/** Complete answers that ask to stay on a list. */
const STAYING: readonly string[] = ['do not remove me|don’t remove me|please do not remove me|please don’t remove me'];
const LONGEST = 80;

type PlainKind = 'negative' | 'positive' | 'neutral';

const words = (text: string): string =>
  foldText(text)
    .replace(/[^\p{L}\p{M}']+/gu, ' ')
    .trim();
const setOf = (lists: readonly string[]): ReadonlySet<string> => new Set(lists.join('|').split('|').map(words));
const courtesies = setOf([COURTESIES]);
const kinds = new Map<string, PlainKind>([
  ...[...setOf(AGREEMENTS)].map((phrase) => [phrase, 'positive'] as const),
  ...[...setOf(REFUSALS)].map((phrase) => [phrase, 'negative'] as const),
  ...[...setOf(STAYING)].map((phrase) => [phrase, 'neutral'] as const),
]);

/**
 * Returns the kind of a short answer that consists of a known phrase and courtesies. Returns undefined for any other
 * text.
 */
export function plainReply(text: string): PlainKind | undefined {
  if (text.length > LONGEST) return undefined;
  const whole = kinds.get(words(text));
  if (whole || text.includes('?')) return whole;
  const parts = text
    .split(/[\n,.;!，。！、،]+/u)
    .map(words)
    .filter((part) => part !== '' && !courtesies.has(part));
  return parts.length === 1 ? kinds.get(parts[0]!) : undefined;
}
