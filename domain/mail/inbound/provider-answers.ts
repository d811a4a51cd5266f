import type { RefusalReason } from './refusal-words.ts';

/**
 * Meaning of a known answer of a provider's server, independent of the reporting system and of the SMTP command. Such
 * servers look up the recipient at RCPT, so their statements about the address are reliable. Sources are the providers'
 * postmaster pages and known answers of their servers.
 */
interface ProviderAnswer {
  /** Pattern for the name of the answering server, or for the recipient's domain. */
  readonly host: RegExp;
  readonly words: RegExp;
  readonly reason: RefusalReason;
}

const of = (...names: string[]): RegExp => new RegExp(`(?:^|\\.)(?:${names.join('|').replaceAll('.', '\\.')})$`);

const ANSWERS: readonly ProviderAnswer[] = [
  // KDDI (au, EZweb) names the address if it does not exist, but not if its spam settings refuse the email.
  { host: of('ezweb.ne.jp', 'au.com'), words: /5\d\d\W{1,6}user unknown/i, reason: 'unconfirmed' },
  { host: of('ezweb.ne.jp', 'au.com'), words: />\W{1,3}user unknown/i, reason: 'unknown_user' },
  { host: of('facebook.com'), words: /\b(?:rcp-p1|int-p[134])\b/i, reason: 'unknown_user' },
  { host: of('facebook.com'), words: /\b(?:rcp-p[23]|rcp-t4)\b/i, reason: 'unconfirmed' },
  // Mail.ru reports an unknown mailbox only after receiving the message.
  {
    host: of('mail.ru', 'bk.ru', 'inbox.ru', 'list.ru'),
    words: /is unavailable: user not found|invalid mailbox\b/i,
    reason: 'unknown_user',
  },
  // i.ua and email.ua explain each answer on a web page, whose URL is in the answer.
  { host: /./, words: /mail\.i\.ua\/err\/2\b/i, reason: 'unknown_user' },
  { host: /./, words: /mail\.i\.ua\/err\/(?:3|10)\b/i, reason: 'disabled' },
  // Orange, Wanadoo and La Poste identify the answer by a number.
  {
    host: of('laposte.net', 'orange.fr', 'wanadoo.fr'),
    words: /(?:ofr|lpn|ouk)\w{0,6}[-_]416\b/i,
    reason: 'unknown_user',
  },
  {
    host: of('laposte.net', 'orange.fr', 'wanadoo.fr'),
    words: /(?:ofr|lpn|ouk)\w{0,6}[-_]42[06]\b/i,
    reason: 'disabled',
  },
  {
    host: of('icloud.com', 'apple.com', 'me.com', 'mac.com'),
    words: /inactive email address|user does not exist|unknown or illegal alias/i,
    reason: 'unknown_user',
  },
  {
    host: of('icloud.com', 'apple.com', 'me.com', 'mac.com'),
    words: /recipient no longer on server/i,
    reason: 'moved',
  },
  { host: of('cox.net'), words: /recipient rejected/i, reason: 'unknown_user' },
  { host: of('secureserver.net'), words: /recipient not found|account does not exist/i, reason: 'unknown_user' },
  { host: of('messagelabs.com'), words: /no such user|\b542 /i, reason: 'unknown_user' },
  {
    host: of('mimecast.com'),
    words: /550 [^\n]{0,40}invalid recipient|503 [^\n]{0,40}user unknown|501 [^\n]{0,40}invalid address/i,
    reason: 'unknown_user',
  },
  {
    host: of('hotmail.com', 'outlook.com', 'live.com'),
    words: /requested action not taken: mailbox unavailable(?! or access)/i,
    reason: 'unknown_user',
  },
  {
    host: of('yahoodns.net', 'yahoo.com', 'qq.com'),
    words: /mailbox not found|this user does ?n['’]t have a/i,
    reason: 'unknown_user',
  },
  { host: of('aol.com'), words: /type=mx: malformed or unexpected name server reply/i, reason: 'refuses_all_mail' },
];

/** Returns the meaning of a provider's answer, or null if there is no rule for it. */
export function providerAnswer(hosts: readonly string[], words: string): RefusalReason | null {
  const text = words.slice(0, 4000);
  return ANSWERS.find((each) => hosts.some((host) => each.host.test(host)) && each.words.test(text))?.reason ?? null;
}
