import {
  BOUNCE_HEADERS,
  MAIL,
  NEGATIONS,
  NEWSLETTERS,
  OPT_IN_HEADERS,
  OPT_OUT_HEADERS,
  OPT_OUT_NAMES,
  PERMISSIONS,
  REFUSALS,
  STATUS_HEADERS,
  YES,
} from './consent-words.ts';
import { normalizedWords, signs, normalizedWordSet, words } from './header-words.ts';

/** Mapping targets of permission columns. */
export type ConsentTarget = 'subscribed' | 'unsubscribed' | 'bounced';

const optOutHeader = signs(OPT_OUT_HEADERS);
const optOutNames = normalizedWordSet(OPT_OUT_NAMES);
const bounceHeader = signs(BOUNCE_HEADERS);
const optInHeader = signs(OPT_IN_HEADERS);
const statusHeader = signs(STATUS_HEADERS);
const newsletter = signs(NEWSLETTERS);
const mail = words(MAIL);
const permission = words(PERMISSIONS);
const refusal = signs(REFUSALS);
const negations = normalizedWordSet(NEGATIONS);
const yes = normalizedWordSet(YES);

/** Germanic languages join words, so the second part of a long word decides. */
const JOINED_REFUSAL =
  /(?:newsletter|mailing|marketing|werbe|kontakt|mail|versand)\p{L}*(?:sperre|verbot|widerspruch|abmeldung|stopp?)\b/u;
const JOINED_PERMISSION =
  /\p{L}(?:einwilligung|zustimmung|samtycke|samtykke|toestemming|suostumus)|(?:newsletter|mailing|marketing|werbe|kontakt|mail)\p{L}*(?:erlaubnis|freigabe|anmeldung|abonnent|empf(?:a|ae)nger)|\p{L}(?:newsletter|nyhetsbrev|nyhedsbrev|nieuwsbrief|uutiskirje)/u;
/** `e-mail` and `e-post` as two words. */
const SPLIT_MAIL = /\be (?:mail\p{L}{0,4}|post\p{L}{0,3})(?!\p{L})/gu;
/** Headers of counts, links, texts and other channels. */
const OTHER =
  /\b(?:link|url|rate|ratio|percent|soft bounces?|campaign (?:title|id|name)|client id|map|ip|template|subject|count of|number of|no of|track|tracking|cookies?)\b/;
/** Other channels. A header that also names mail counts. */
const CHANNELS = /\b(?:calls?|phone|sms|whats ?app|fax|push|telefon\p{L}*)\b/u;
const NAMES_MAIL = /\b(?:emails?|mails?|mailings?|newsletters?)\b/;
/** Headers of the time, place, source or contents of a subscription, and of statistics. They prove no permission. */
const ABOUT_SUBSCRIPTION =
  /\b(?:date|time|source|method|reason|datum|zeit|fecha|name|id|sent|opened|opens|clicked|clicks|delivered|replied|received|count|frequency|topic|format|provider|since|key|number|rating|hash|version)\b|^data (?!process|protect|privacy|use|sharing)|\b(?:data|at|on|am|le|el|il|dal|seit|desde|depuis)$|(?:日|日時|数|回数|日期|时间|次数|일|일시|횟수)$/;
const ABOUT_ADDRESS = /\b(?:verif\p{L}*|valid\p{L}*|found|type|work|business|corporate|primary|personal)\b/u;

/** Returns the target of a permission column by its header; undefined for any other column. */
export function consentTarget(header: string): ConsentTarget | undefined {
  const plain = normalizedWords(header);
  if (plain === '' || OTHER.test(plain) || isOtherChannel(plain)) return undefined;
  if (optOutNames.has(plain) || optOutHeader(plain) || refusesMail(plain)) return 'unsubscribed';
  if (bounceHeader(plain)) return 'bounced';
  if (!permitsMail(plain) || ABOUT_SUBSCRIPTION.test(plain)) return undefined;
  return negationIn(plain) === -1 ? 'subscribed' : 'unsubscribed';
}

/** Returns true for the header of a state column, such as `Lead status`, whose words may forbid mail. */
export function isStatusHeader(header: string): boolean {
  const plain = normalizedWords(header);
  return statusHeader(plain) && !isOtherChannel(plain);
}

function isOtherChannel(plain: string): boolean {
  return CHANNELS.test(plain) && !NAMES_MAIL.test(plain);
}

/** Returns true if a normalized text is about permission to mail, such as `not subscribed`. */
export function speaksOfPermission(plain: string): boolean {
  return permitsMail(plain) || /\b(?:permission|permissions|marketable|marketing)\b/.test(plain);
}

function permitsMail(plain: string): boolean {
  if (optInHeader(plain) || newsletter(plain) || JOINED_PERMISSION.test(plain)) return true;
  return mail(plain.replace(SPLIT_MAIL, 'email')) !== -1 && permission(plain) !== -1;
}

function refusesMail(plain: string): boolean {
  if (JOINED_REFUSAL.test(plain)) return true;
  const joined = plain.replace(SPLIT_MAIL, 'email');
  const named = newsletter(plain) ? plain.length : mail(joined);
  if (named === -1 || ABOUT_ADDRESS.test(plain)) return false;
  if (refusal(plain)) return true;
  const negation = negationIn(joined);
  return negation !== -1 && negation < named;
}

/** Returns the position of a negation before another word, or -1. The "no" of `yes/no` negates nothing. */
function negationIn(plain: string): number {
  const each = plain.split(' ');
  let position = 0;
  for (const [index, word] of each.entries()) {
    const isChoice = yes.has(each[index - 1] ?? '');
    if (negations.has(word) && index < each.length - 1 && !isChoice) return position;
    position += word.length + 1;
  }
  return -1;
}
