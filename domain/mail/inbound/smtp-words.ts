import type { Stage } from './refusal.ts';

/** Reads the parts of SMTP answers (RFC 5321, RFC 3463) out of the text of reports. All of it is linear in its input. */

const MAX_READ = 4000;

/**
 * The most telling RFC 3463 status: the reported one, unless it is a catch-all (`x.0.0`) and the diagnostic
 * text carries a precise one. A bare SMTP reply code gives `5.0.0` or `4.0.0`.
 */
export function bestStatus(reported: string | null, words: string): string | null {
  const given = /(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/.exec(reported ?? '')?.[1] ?? null;
  if (given !== null && !given.endsWith('.0.0')) return given;
  const text = words.slice(0, MAX_READ);
  const precise = /(?<![\d.])[245]\d\d[\s-]{1,3}\(?#?([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/.exec(text)?.[1];
  const other = precise ?? /(?:^|[\s#(;:])([45]\.\d{1,2}\.\d{1,3})(?![\d.]*\d)/.exec(text)?.[1];
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

/** The command a report says was answered; of several, the first that is named. */
export function stageIn(words: string): Stage | null {
  const text = words.slice(0, MAX_READ);
  // With pipelining (RFC 2920) the answers to RCPT come while DATA has been said; this follows them when all were refused.
  if (/no valid recipients|need rcpt/i.test(text)) return 'rcpt';
  let best: { at: number; stage: Stage } | null = null;
  for (const [stage, pattern] of STAGES) {
    const at = pattern.exec(text)?.index;
    if (at !== undefined && (best === null || at < best.at)) best = { at, stage };
  }
  if (best !== null) return best.stage;
  return /\brcpt[ _]to\b/i.test(text) ? 'rcpt' : null;
}
