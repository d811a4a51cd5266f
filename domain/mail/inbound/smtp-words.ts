import type { Stage } from './refusal.ts';

/** This file reads parts of SMTP answers (RFC 5321, RFC 3463) from the text of reports, in linear time. */

const MAX_READ = 4000;

/** A reply code followed by the server's enhanced status. */
const ANSWERED_STATUS = /(?<![\d.])([245])\d\d[\s-]{1,3}\(?#?(\1\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/;

/**
 * Returns the most informative RFC 3463 status: the one after the server's reply code, otherwise the reported one. If
 * that is generic (`x.0.0`), returns a precise status in the text. For a bare SMTP reply code, returns `5.0.0` or
 * `4.0.0`.
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

/** Returns the SMTP reply code of a refusal (400 to 599) in a text, or null. */
export function replyCode(words: string): number | null {
  const code = /(?:^|[\s;:([<"'])([45][0-5]\d)(?=[\s\-:#,](?!\d{2}:)|$)/.exec(words.slice(0, MAX_READ))?.[1];
  return code === undefined ? null : Number(code);
}

/** Patterns of the texts by which mail systems name the SMTP command that was answered. */
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

/**
 * Returns true for a text that servers send if they have refused all recipients in a pipelined session. With pipelining
 * (RFC 2920) the answers to RCPT arrive after DATA was sent.
 */
export function isPipelined(words: string): boolean {
  return /no valid recipients|need rcpt/i.test(words.slice(0, MAX_READ));
}

/** Marks of the client's commands and the server's answers in a transcript. */
const CLIENT_COMMAND = /^[\s>*]{0,8}(?:>>>|-->|C:|Sent <<<)\s{0,3}(ehlo|helo|mail|rcpt|data|\.)(?![\w.])/i;
const ANSWERED = /^[\s>*]{0,8}(?:<<<|<--|S:|Received >>>)\s{0,3}[45]\d\d(?!\d)/i;

/**
 * Returns the command before the first refusal in a transcript. Null if the words are not a transcript of several
 * commands.
 */
function stageInTranscript(text: string): Stage | null {
  let last: Stage | null = null;
  for (const line of text.split('\n')) {
    const command = CLIENT_COMMAND.exec(line)?.[1]?.toLowerCase();
    if (command !== undefined)
      last = command === 'rcpt' || command === 'mail' ? command : command.endsWith('lo') ? 'connect' : 'data';
    else if (last !== null && ANSWERED.test(line)) return last;
  }
  return null;
}

/**
 * Returns the server's answer within prose: from its reply code to the end of the paragraph. Empty if there is none.
 */
export function answerIn(prose: string): string {
  const answer =
    /(?:^|[\s;:([<"'])([45][0-5]\d(?=[\s\-:#])(?!\s{0,2}\d)[^\n]*(?:\n(?![ \t]*\n|[ \t]*--|[ \t]*(?:<<<|>>>))[^\n]*){0,8})/.exec(
      prose.slice(0, MAX_READ),
    )?.[1];
  const own = answer?.split(/\n(?:Giving up on|I'm not going to|Learn more|The message|\S+@)/)[0] ?? '';
  // sendmail adds this text after the message of a program that failed.
  return /\.\.\. service unavailable\s*$/i.test(own) ? '' : own;
}

/**
 * Returns the answered command according to a report. If there are several, returns the first one named, or in a
 * transcript the first one refused.
 */
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
