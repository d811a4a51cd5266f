import type { Context } from 'koa';
import { asUnavailable } from '../../domain/platform/kernel/over-time.ts';
import { AppError, ERROR_CODES, inWords, statusLabel, type ErrorCode, type Problem } from '../../lib/errors.ts';
import { traceIds } from '../../lib/trace.ts';
import { type Language, type Message, message } from '../../messages/index.ts';
import { preferredLanguage } from './language.ts';
import { oauthBody } from './oauth-errors.ts';
import type { ErrorStyle } from './route.ts';

/** A fault of a request as it is shown: in words, and as the code of a sentence with its values. */
export interface ShownProblem {
  path: string;
  message: string;
  code: string;
  values: Message['values'];
}

/** The envelope of every error. */
interface ErrorEnvelope {
  error: string;
  message: string;
  code: ErrorCode;
  request_id: string;
  /** The code of `message` and its values, for who says it in words of their own. */
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
 * Any thrown value as an {@link AppError}: what Koa and its parsers throw keeps its status; a statement that took too long and a
 * database that cannot be reached are a 503 with Retry-After; everything else is a 500 that says nothing.
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

/** The code of an error of which only the HTTP status is known. */
export function errorCodeOf(status: number): ErrorCode {
  return BY_STATUS[status] ?? 'bad_request';
}

/** The public part of an error, in the language of its reader. */
export function errorEnvelope(error: AppError, requestId: string, language?: Language): ErrorEnvelope {
  const { said, fix, problems } = error;
  return {
    error: statusLabel(error.status),
    message: inWords(said, language),
    code: error.code,
    message_code: said.code,
    message_values: said.values,
    request_id: requestId,
    ...traceOf(),
    ...(fix ? { fix: inWords(fix, language) } : {}),
    ...(problems ? { problems: problems.map((problem) => shownProblem(problem, language)) } : {}),
    ...error.extra,
  };
}

/** A fault of a request in a language. */
export function shownProblem({ path, message: said }: Problem, language?: Language): ShownProblem {
  return { path, message: inWords(said, language), code: said.code, values: said.values };
}

/** The trace of the request, where traces are recorded; for every form of an error. */
export function traceOf(): { trace_id?: string } {
  const ids = traceIds();
  return ids ? { trace_id: ids.trace_id } : {};
}

/** Writes an error as the answer, in the form of its route. */
export function sendError(ctx: Context, error: AppError, requestId: string, style?: ErrorStyle): void {
  ctx.status = ERROR_CODES[error.code];
  for (const [name, value] of Object.entries(error.headers ?? {})) ctx.set(name, value);
  ctx.body = style
    ? { ...oauthBody(error, style, requestId), ...traceOf() }
    : errorEnvelope(error, requestId, preferredLanguage(ctx.get('accept-language')));
}
