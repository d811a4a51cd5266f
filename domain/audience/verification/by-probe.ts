import { randomBytes } from 'node:crypto';
import { probeRecipients, type ProbeReply } from '../../../lib/smtp/probe.ts';
import { TargetLimits } from '../../../lib/target-limits.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { classifyRefusal } from '../../mail/inbound/refusal.ts';
import { hostOf } from '../../directory/suppression-check.ts';
import { ACCEPTS_MAIL } from './by-records.ts';
import type { Verdict } from './verdict.ts';

/** Maximum time (ms) of one SMTP session, and of waiting for a free session at a server. */
const CONVERSATION_MS = 12_000;
const WAIT_MS = 10_000;
/**
 * Maximum number of concurrent sessions of a process with one mail exchanger. A mail server could take more sessions
 * for an attack.
 */
const PER_EXCHANGER = 2;
/**
 * Maximum number of concurrent sessions of a process. At most half of them may be with exchangers that have not
 * answered yet.
 */
const AT_ONCE = 20;
/** Maximum number of exchangers tried per domain, in order of preference. */
const EXCHANGERS = 2;
/** Time (ms) for which an exchanger that did not answer is not contacted. It grows up to `MAX_REST_MS`. */
const REST_MS = 60_000;
const MAX_REST_MS = 3_600_000;

/** Limits of SMTP sessions for the whole process, because one exchanger serves many domains of many workspaces. */
const limits = new TargetLimits({
  total: AT_ONCE,
  perTarget: PER_EXCHANGER,
  perTenant: AT_ONCE,
  restMs: REST_MS,
  maxRestMs: MAX_REST_MS,
});

const verdict = (status: Verdict['status'], reason: string, isCatchAll = false): Verdict => ({
  status,
  reason,
  isCatchAll,
});

/**
 * Asks a domain's mail server whether it would accept mail for the address, and for a random address of the same
 * domain. A server that accepts both accepts every address, so the result shows nothing about the address. Temporary
 * refusals, and refusals because of the sender or the server, give no verdict either. No mail is sent.
 * @returns `later` when no exchanger could be reached
 */
export async function checkByProbe(
  { config, dns }: Pick<Deps, 'config' | 'dns'>,
  email: string,
): Promise<Verdict | 'later'> {
  const from = config.EMAIL_VERIFICATION_PROBE_FROM!;
  const domain = hostOf(email);
  const exchanges = await dns.mx(domain);
  if (exchanges === null) return 'later';
  const nobody = `${randomBytes(10).toString('hex')}@${domain}`;
  for (const host of exchanges.slice(0, EXCHANGERS)) {
    const permit = await limits.wait(host.toLowerCase(), 'verification', AbortSignal.timeout(WAIT_MS));
    if (!permit) continue;
    const result = await probeRecipients(host, [email, nobody], {
      port: config.EMAIL_VERIFICATION_PROBE_PORT,
      allowPrivate: config.ALLOW_PRIVATE_MAIL_HOSTS,
      name: config.EMAIL_VERIFICATION_PROBE_NAME ?? hostOf(from),
      from,
      timeoutMs: CONVERSATION_MS,
    });
    permit.release(result.kind === 'unreachable' ? 'hung' : 'answered');
    if (result.kind === 'unreachable') continue;
    if (result.kind === 'refused') return verdict('unknown', result.reply.code < 500 ? 'greylisted' : 'probe_refused');
    return verdictOf(result.replies);
  }
  return 'later';
}

/** Evaluates the replies for the address and for the random address. */
function verdictOf([address, nobody]: readonly ProbeReply[]): Verdict {
  if (!address || (address.code >= 400 && address.code < 500)) return verdict('unknown', 'greylisted');
  if (address.code >= 500) return refused(address);
  if (!nobody || nobody.code < 500)
    return nobody && nobody.code < 400 ? verdict('risky', 'catch_all', true) : verdict('unknown', ACCEPTS_MAIL);
  return verdict('valid', 'mailbox_answers');
}

/**
 * Counts a refusal against the address only if it names the mailbox. Other refusals concern the sender or the server.
 */
function refused({ code, words }: ProbeReply): Verdict {
  const status = /^([245]\.\d{1,3}\.\d{1,3})\b/.exec(words)?.[1] ?? null;
  const refusal = classifyRefusal({ status, code, stage: 'rcpt', words });
  if (refusal.class === 'recipient_gone') return verdict('invalid', 'no_mailbox');
  if (refusal.reason === 'full') return verdict('risky', 'mailbox_full');
  if (refusal.reason === 'disabled') return verdict('risky', 'mailbox_disabled');
  return verdict('unknown', 'probe_refused');
}
