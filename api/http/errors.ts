import type { Context } from 'koa';
import { asUnavailable } from '../../domain/platform/kernel/over-time.ts';
import { AppError, ERROR_CODES, statusLabel, type ErrorCode, type Problem } from '../../lib/errors.ts';
import { traceIds } from '../../lib/trace.ts';
import { type Language, type Message, message } from '../../messages/index.ts';
import { preferredLanguage } from './language.ts';
import { oauthBody } from './oauth-errors.ts';
import type { ErrorStyle } from './route.ts';
import { render } from '../../messages/render.ts';

/** Problem of a request as sent to a client: as text, and as a message code with values. */
export interface ShownProblem {
  path: string;
  message: string;
  code: string;
  values: Message['values'];
}

/** JSON envelope of every error. */
interface ErrorEnvelope {
  error: string;
  message: string;
  code: ErrorCode;
  request_id: string;
  /** Code and values of `message`, for clients that write their own text. */
  message_code: string;
  message_values: Message['values'];
  fix?: string;
  problems?: ShownProblem[];
  [extra: string]: unknown;
}

const BY_STATUS: Record<number, ErrorCode> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  413: 'bad_request',
  415: 'bad_request',
  422: 'unprocessable',
  429: 'rate_limit_exceeded',
  501: 'not_implemented',
  503: 'service_unavailable',
};

/**
 * Converts any thrown value to an {@link AppError}. Errors of Koa and its parsers keep their status. A statement
 * timeout or an unreachable database becomes a 503 with Retry-After, everything else a 500 without details.
 */
export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const away = asUnavailable(error);
  if (away) return away;
  const http = error as { status?: number };
  if (http && typeof http.status === 'number' && http.status >= 400 && http.status < 500) {
    const said = http.status === 413 ? message('request.body_too_large') : message('request.unreadable');
    return new AppError(errorCodeOf(http.status), said, { cause: error });
  }
  return new AppError('internal_error', message('request.failed'), { cause: error });
}

/** Returns the error code for an HTTP status. Used for errors of which only the status is known. */
export function errorCodeOf(status: number): ErrorCode {
  return BY_STATUS[status] ?? 'bad_request';
}

/** Returns the public part of an error in the reader's language. */
export function errorEnvelope(error: AppError, requestId: string, language?: Language): ErrorEnvelope {
  const { said, fix, problems } = error;
  return {
    error: statusLabel(error.status),
    message: render(said, language),
    code: error.code,
    message_code: said.code,
    message_values: said.values,
    request_id: requestId,
    ...traceOf(),
    ...(fix ? { fix: render(fix, language) } : {}),
    ...(problems ? { problems: problems.map((problem) => shownProblem(problem, language)) } : {}),
    ...error.extra,
  };
}

/** Returns a problem of a request in a language. */
export function shownProblem({ path, message: said }: Problem, language?: Language): ShownProblem {
  return { path, message: render(said, language), code: said.code, values: said.values };
}

/** Returns the trace id of the request for an error answer; empty if traces are not recorded. */
export function traceOf(): { trace_id?: string } {
  const ids = traceIds();
  return ids ? { trace_id: ids.trace_id } : {};
}

/** Sends an error as the answer, in the error format of its route. */
export function sendError(ctx: Context, error: AppError, requestId: string, style?: ErrorStyle): void {
  ctx.status = ERROR_CODES[error.code];
  for (const [name, value] of Object.entries(error.headers ?? {})) ctx.set(name, value);
  ctx.body = style
    ? { ...oauthBody(error, style, requestId), ...traceOf() }
    : errorEnvelope(error, requestId, preferredLanguage(ctx.get('accept-language')));
}
