import { EgressError, type EgressErrorKind, type EgressResponse } from '../../../lib/egress/index.ts';
import { toComposed, isJsonObject, jsonProblem, parseKeepingNumbers } from '../../../lib/storable-json.ts';
import { message, type Message } from '../../../messages/index.ts';
import { MAX_ANSWER_BYTES } from './signed-request.ts';

/** The result of one attempt. `retryable`: another attempt can succeed. */
export type Answer =
  | { ok: true; output: Record<string, unknown> }
  | { ok: false; retryable: boolean; said: Message; fix: Message };

/** Kinds of failed connections after which another attempt may succeed. */
const PASSING: ReadonlySet<EgressErrorKind> = new Set(['dns', 'connect', 'tls', 'timeout', 'protocol', 'aborted']);

/** Parses the app's response to an app.action. Only a 2xx status with a JSON object is a success. */
export function readAnswer({ status, body, truncated }: EgressResponse): Answer {
  if (status < 200 || status > 299) return refusedStatus(status);
  if (truncated)
    return {
      ok: false,
      retryable: false,
      said: message('connect.app_answer_too_large', { kib: MAX_ANSWER_BYTES / 1024 }),
      fix: message('connect.app_answer_too_large.fix'),
    };
  const value = parse(body);
  if (!isJsonObject(value)) {
    return {
      ok: false,
      retryable: false,
      said: message('connect.app_answer_no_object'),
      fix: message('connect.app_answer_no_object.fix'),
    };
  }
  const problem = jsonProblem(value);
  if (problem)
    return {
      ok: false,
      retryable: false,
      said: message('connect.app_answer_fault', { problem }),
      fix: message('connect.app_answer_fault.fix'),
    };
  return { ok: true, output: value };
}

/** Converts a failed connection to the app into the result of an attempt. */
export function readFailure(error: EgressError): Answer {
  return {
    ok: false,
    retryable: PASSING.has(error.kind),
    said: error.said,
    fix: message('connect.app_not_reached.fix'),
  };
}

function refusedStatus(status: number): Answer {
  const retryable = status >= 500 || status === 429 || status === 408;
  const isRedirect = status >= 300 && status < 400;
  return {
    ok: false,
    retryable,
    said: isRedirect ? message('connect.app_redirect', { status }) : message('connect.app_status', { status }),
    fix: isRedirect ? message('connect.app_redirect.fix') : message('connect.app_status.fix'),
  };
}

function parse(body: Buffer): unknown {
  try {
    return toComposed(parseKeepingNumbers(new TextDecoder('utf-8', { fatal: true }).decode(body)));
  } catch {
    return undefined;
  }
}
