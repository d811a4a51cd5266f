import { z } from 'zod';
import { EgressError } from '../../../lib/egress/index.ts';
import { VERDICT_WORDS } from '../../directory/verification-words.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import type { Verdict } from './verdict.ts';

/** Timeout (ms) of a request. ZeroBounce answers within 30 s. */
const TIMEOUT_MS = 35_000;
const MAX_ANSWER_BYTES = 64 * 1024;

const answerSchema = z.object({
  status: z.enum(['valid', 'invalid', 'catch-all', 'unknown', 'spamtrap', 'abuse', 'do_not_mail']),
  sub_status: z.string().max(100).default(''),
});

/**
 * Sub-statuses of `unknown` after which the check is retried, because the mail server did not answer in time.
 * ZeroBounce does not charge for `unknown`.
 */
const PASSING = new Set([
  'greylisted',
  'mail_server_temporary_error',
  'mail_server_did_not_respond',
  'timeout_exceeded',
  'failed_smtp_connection',
  'forcible_disconnect',
  'exception_occurred',
]);

/**
 * Checks an address with ZeroBounce (GET /v2/validate). Returns `later` for a refused key, missing credits (both are an
 * `error` in the answer), an unexpected answer, or no answer.
 */
export async function checkByZeroBounce({ config, egress, log }: Deps, email: string): Promise<Verdict | 'later'> {
  const url = new URL(`${config.ZEROBOUNCE_URL}/v2/validate`);
  url.searchParams.set('api_key', config.ZEROBOUNCE_API_KEY ?? '');
  url.searchParams.set('email', email);
  // ZeroBounce requires this parameter, but accepts an empty value.
  url.searchParams.set('ip_address', '');
  const request = { method: 'GET', url, timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_ANSWER_BYTES } as const;
  const response = await egress.request(request).catch((error: unknown) => {
    if (error instanceof EgressError) return error;
    throw error;
  });
  if (response instanceof EgressError) {
    log.warn({ kind: response.kind }, 'the verification service did not answer');
    return 'later';
  }
  const answer = answerSchema.safeParse(parsed(response.body.toString('utf8')));
  if (response.status !== 200 || !answer.success) {
    log.warn(
      { status: response.status },
      'the verification service gave no verdict: its key, credits or limits may be the cause',
    );
    return 'later';
  }
  const { status, sub_status: detail } = answer.data;
  if (status === 'unknown' && PASSING.has(detail)) return 'later';
  return {
    status: VERDICT_WORDS.zerobounce[status],
    reason: detail || status.replace('-', '_'),
    isCatchAll: status === 'catch-all',
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
