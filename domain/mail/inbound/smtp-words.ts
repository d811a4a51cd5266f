import type { Stage } from './refusal.ts';

/** Reads the parts of SMTP answers (RFC 5321, RFC 3463) out of the text of reports. All of it is linear in its input. */

const MAX_READ = 4000;

/** A reply code with the enhanced status that the server put behind it. */
const ANSWERED_STATUS = /(?<![\d.])([245])\d\d[\s-]{1,3}\(?#?(\1\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/;

/**
 * The most telling RFC 3463 status: the one that the server itself wrote behind its reply code, else the reported one, unless
 * that is a catch-all (`x.0.0`) and the words carry a precise one. A bare SMTP reply code gives `5.0.0` or `4.0.0`.
 */
export function bestStatus(reported: string | null, words: string): string | null {
  const text = words.slice(0, MAX_READ);
  const precise = ANSWERED_STATUS.exec(text)?.[2];
  if (precise !== undefined && !precise.endsWith('.0.0')) return precise;
  const given = /(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/.exec(reported ?? '')?.[1] ?? null;
  if (given !== null && !given.endsWith('.0.0')) return given;
  const other = /(?:^|[\s#(;:])([45]\.\d{1,2}\.\d{1,3})(?![\d.]*\d)/.exec(text)?.[1];
  if (other !== undefined) return other;
  if (given !== null) return given;
  const code = replyCode(text);
  return code === null ? null : `${String(code)[0]}.0.0`;
}

/** The SMTP reply code of a refusal (400 to 599) in a text, or null. */
export function replyCode(words: string): number | null {
  const code = /(?:^|[\s;:([<"'])([45][0-5]\d)(?=[\s\-:#,](?!\d{2}:)|$)/.exec(words.slice(0, MAX_READ))?.[1];
  return code === undefined ? null : Number(code);
}

/** The forms in which mail systems name the command that was answered. */
const STAGES: readonly (readonly [Stage, RegExp])[] = [
  [
    'rcpt',
    />>> ?rcpt\b|\b(?:to|after|for|following|like our|in) (?:the )?rcpt\b|\[rcpt_?to\]|does not like recipient|did not like our rcpt|command\W{1,5}rcpt\b|\(state 1[34]\)|(?:during|at|from|in|by|sending) rcpt\b|rcpt (?:to )?failed|rejected (?:the )?(?:following )?recipients?\b|rcpt to command/i,
  ],
  [
    'mail',
    />>> ?mail\b|\b(?:to|after|for|following|like our|in) (?:the )?mail from\b|\[mail_?from\]|command\W{1,5}mail\b|my name was rejected|sender (?:was )?rejected/i,
  ],
  [
    'data',
    />>> ?(?:data|\.)(?=\s)|\b(?:to|after|for|following|like our|in) (?:the )?(?:end[ -]of[ -])?(?:data|text|message body)\b(?! format)|command\W{1,5}data\b|after i sent the message|end of message|\[data\]|\bdata command/i,
  ],
  [
    'connect',
    />>> ?(?:ehlo|helo)\b|initial connection|to (?:ehlo|helo)\b|after (?:ehlo|helo|connect)|refused to talk to me|greeting/i,
  ],
];

/** With pipelining (RFC 2920) the answers to RCPT come while DATA has been said; these words follow them when all were refused. */
export function isPipelined(words: string): boolean {
  return /no valid recipients|need rcpt/i.test(words.slice(0, MAX_READ));
}

/** What a transcript marks as said by the client and as answered by the server. */
const SAID = /^[\s>*]{0,8}(?:>>>|-->|C:|Sent <<<)\s{0,3}(ehlo|helo|mail|rcpt|data|\.)(?![\w.])/i;
const ANSWERED = /^[\s>*]{0,8}(?:<<<|<--|S:|Received >>>)\s{0,3}[45]\d\d(?!\d)/i;

/** The command before the first refusal of a transcript; null where the words are no transcript of several commands. */
function stageInTranscript(text: string): Stage | null {
  let last: Stage | null = null;
  for (const line of text.split('\n')) {
    const command = SAID.exec(line)?.[1]?.toLowerCase();
    if (command !== undefined)
      last = command === 'rcpt' || command === 'mail' ? command : command.endsWith('lo') ? 'connect' : 'data';
    else if (last !== null && ANSWERED.test(line)) return last;
  }
  return null;
}

/** The answer of a server within prose: from its reply code to the end of the paragraph; empty when there is none. */
export function answerIn(prose: string): string {
  const answer =
    /(?:^|[\s;:([<"'])([45][0-5]\d(?=[\s\-:#])(?!\s{0,2}\d)[^\n]*(?:\n(?![ \t]*\n|[ \t]*--|[ \t]*(?:<<<|>>>))[^\n]*){0,8})/.exec(
      prose.slice(0, MAX_READ),
    )?.[1];
  const own = answer?.split(/\n(?:Giving up on|I'm not going to|Learn more|The message|\S+@)/)[0] ?? '';
  // What sendmail makes of a program that failed; the program's own words stand above it.
  return /\.\.\. service unavailable\s*$/i.test(own) ? '' : own;
}

/** The command a report says was answered; of several, the first that is named, or in a transcript the first that was refused. */
export function stageIn(words: string): Stage | null {
  const text = words.slice(0, MAX_READ);
  if (isPipelined(text)) return 'rcpt';
  const transcript = stageInTranscript(text);
  if (transcript !== null) return transcript;
  let best: { at: number; stage: Stage } | null = null;
  for (const [stage, pattern] of STAGES) {
    const at = pattern.exec(text)?.index;
    if (at !== undefined && (best === null || at < best.at)) best = { at, stage };
  }
  if (best !== null) return best.stage;
  return /\brcpt[ _]to\b/i.test(text) ? 'rcpt' : null;
}
