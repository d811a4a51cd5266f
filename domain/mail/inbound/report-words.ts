import { providerAnswer } from './provider-answers.ts';
import { classifyRefusal, obstacleIn, refusalFor, namesCause } from './refusal.ts';
import type { Refusal } from './refusal.ts';
import { answerIn, bestStatus, isPipelined, replyCode, stageIn } from './smtp-words.ts';

/** This file reads a mail system's prose about the recipients of a message, in standard and other reports. */

const MAX_PROSE = 8000;
const MAX_SECTION = 2000;

/** Markers at which the copy of the returned message begins. */
const COPY_MARKERS = [
  '--- below this line is a copy',
  '--- below the next line is a copy',
  'this is a copy of ',
  '--- original message',
  '--original message',
  '----- original',
  '----- message header',
  '--- enclosed',
  '----- unsent message',
  'original message headers',
  'original message follows',
  '----- transcript of message follows',
  'copy of the original message',
  'message headers follow',
  'header of the original message',
  'headers of the original message',
  'diagnostic information for administrators',
  'return-path: <',
  'received: from',
  'received: by',
];

/** Returns the mail system's own text, without the copy of the returned message below it. */
export function proseOf(text: string): string {
  const lower = text.slice(0, 4 * MAX_PROSE).toLowerCase();
  const starts = COPY_MARKERS.map((marker) => lower.indexOf(marker)).filter((at) => at > 0);
  return text.slice(0, Math.min(MAX_PROSE, ...starts));
}

/**
 * Returns the text about one recipient: from its address to the address of the next recipient. Empty if the prose does
 * not name the recipient.
 */
export function sectionFor(address: string, all: readonly string[], prose: string): string {
  const lower = prose.toLowerCase();
  const start = lower.indexOf(address);
  if (start < 0) return '';
  const ends = all
    .filter((other) => other !== address)
    .map((other) => lower.indexOf(other, start + address.length))
    .filter((at) => at >= 0);
  return prose.slice(start, Math.min(prose.length, start + MAX_SECTION, ...ends));
}

/** Removes the sentences in which a mail system only lists possible causes. */
function certain(words: string): string {
  return words.replace(
    /[^.!?\n]*\b(?:may|might|could be|possibl[ey]|perhaps|either|reasons include|check (?:that|whether|if))\b[^.!?\n]*/gi,
    ' ',
  );
}

/**
 * Domains of mobile carriers that answer "user unknown" even if the recipient only blocks the sender (KDDI, NTT Docomo,
 * SoftBank).
 */
const FILTERING_CARRIERS = /[@.](?:docomo|ezweb|softbank|vodafone|biz\.ezweb)\.ne\.jp$|@(?:au\.com|i\.softbank\.jp)$/;

/** Content of a report about one recipient. */
interface ReportedRefusal {
  readonly recipient: string;
  /** Status that the report states, or null. */
  readonly reported: string | null;
  /** Server's answer quoted in a standard report. Empty in a prose report. */
  readonly diagnostic: string;
  /** Prose about this recipient. May be empty. */
  readonly section: string;
  readonly prose: string;
  /** Servers named by the report: the answering server and the reporting server. */
  readonly hosts?: readonly (string | null)[];
}

/**
 * Returns the names of servers that may have answered: servers named by the report or its prose, and the recipient's
 * domain.
 */
function hostsOf(recipient: string, stated: readonly (string | null)[], text: string): string[] {
  const named = Array.from(
    text.slice(0, MAX_SECTION).matchAll(/\b(?:host|server|mx)\s{1,3}<?([\w-]{1,63}(?:\.[\w-]{1,63}){1,8})/gi),
    (match) => match[1] ?? '',
  );
  const all = [...stated, recipient.slice(recipient.lastIndexOf('@') + 1), ...named.slice(0, 10)];
  return all.flatMap(
    (host) =>
      host
        ?.toLowerCase()
        .split(/[\s;,(]/, 1)[0]
        ?.replace(/\.$/, '') ?? [],
  );
}

/**
 * Determines the cause of one recipient's refusal from the most informative text. Prefers the diagnostic, then the
 * prose section about the recipient, then all of the prose. Often only the prose names the answered command.
 */
export function readRefusal(report: ReportedRefusal): Refusal {
  const { recipient, reported, diagnostic, section, prose, hosts = [] } = report;
  const words =
    [diagnostic, answerIn(section), section, answerIn(prose), prose].find(namesCause) ??
    (diagnostic || section || prose);
  const status = bestStatus(bestStatus(reported, diagnostic), words);
  const seen = `${diagnostic}\n${section === '' ? prose : section}`;
  const stage = stageIn(seen) ?? stageIn(prose);
  const known = status?.startsWith('4.')
    ? null
    : providerAnswer(hostsOf(recipient, hosts, `${diagnostic}\n${section}`), `${diagnostic}\n${words}`);
  const read = classifyRefusal({
    status,
    code: replyCode(diagnostic) ?? replyCode(words),
    // That RCPT was answered is only inferred from pipelined commands, and a security status contradicts it.
    stage: stage === 'rcpt' && isPipelined(seen) && status?.startsWith('5.7.') === true ? null : stage,
    words,
    statusByReporter: replyCode(diagnostic) !== null && bestStatus(null, words) !== status,
    quoted: replyCode(diagnostic) !== null && !FILTERING_CARRIERS.test(recipient),
  });
  const refusal = known === null ? read : refusalFor(known);
  if (refusal.class !== 'recipient_gone') return refusal;
  // Some systems put only a general code into the fields, and the real cause into the prose.
  const obstacle = obstacleIn(certain(section)) ?? obstacleIn(certain(prose));
  if (obstacle === null || (obstacle === 'disabled' && status === '5.1.1')) return refusal;
  return { class: 'recipient_unavailable', reason: obstacle };
}
