import { EgressError, type EgressErrorKind, type EgressResponse } from '../../../lib/egress/index.ts';
import { composed, isJsonObject, jsonProblem, parseKeepingNumbers } from '../../../lib/storable-json.ts';
import { inWords } from '../../../lib/errors.ts';

/** The result of one attempt. `retryable` says whether another one may succeed. */
export type Answer =
  | { ok: true; output: Record<string, unknown> }
  | { ok: false; retryable: boolean; message: string; fix: string };

/** Failures of the connection to the app that usually pass. */
const PASSING: ReadonlySet<EgressErrorKind> = new Set(['dns', 'connect', 'tls', 'timeout', 'protocol', 'aborted']);

/** Reads the answer to an app.action: 2xx with a JSON object, nothing else. */
export function readAnswer({ status, body, truncated }: EgressResponse): Answer {
  if (status < 200 || status > 299) return refusedStatus(status);
  if (truncated)
    return {
      ok: false,
      retryable: false,
      message: 'The answer is larger than 64 KiB.',
      fix: 'Answer with the values later steps use, and nothing else.',
    };
  const value = parse(body);
  if (!isJsonObject(value)) {
    return {
      ok: false,
      retryable: false,
      message: 'The answer is not a JSON object.',
      fix: 'Answer 2xx with a JSON object, {} when there is nothing to say.',
    };
  }
  const problem = jsonProblem(value);
  if (problem)
    return {
      ok: false,
      retryable: false,
      message: `The answer ${inWords(problem)}.`,
      fix: 'Correct the text in the answer of the app.',
    };
  return { ok: true, output: value };
}

/** The result for a failure of the connection to the app. */
export function readFailure(error: EgressError): Answer {
  return {
    ok: false,
    retryable: PASSING.has(error.kind),
    message: error.message,
    fix: 'Test the app connection with POST /v1/app-connections/:id/test, then retry the step run.',
  };
}

function refusedStatus(status: number): Answer {
  const retryable = status >= 500 || status === 429 || status === 408;
  const isRedirect = status >= 300 && status < 400;
  return {
    ok: false,
    retryable,
    message: isRedirect
      ? `The app answered with a redirect (${status}), which is not followed.`
      : `The app answered ${status}.`,
    fix: isRedirect
      ? 'Point the app connection and the path of the step to the final address.'
      : 'Check the log of the app for this request, then retry the step run.',
  };
}

function parse(body: Buffer): unknown {
  try {
    return composed(parseKeepingNumbers(new TextDecoder('utf-8', { fatal: true }).decode(body)));
  } catch {
    return undefined;
  }
}
