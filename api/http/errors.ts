import type { Context } from 'koa';
import { asUnavailable } from '../../domain/platform/kernel/over-time.ts';
import { AppError, ERROR_CODES, statusLabel, type ErrorCode } from '../../lib/errors.ts';
import { traceIds } from '../../lib/trace.ts';
import { oauthBody } from './oauth-errors.ts';
import type { ErrorStyle } from './route.ts';

/** The envelope of every error. */
interface ErrorEnvelope {
  error: string;
  message: string;
  code: ErrorCode;
  request_id: string;
  fix?: string;
  problems?: { path: string; message: string }[];
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
  const http = error as { status?: number; expose?: boolean; message?: string; type?: string };
  if (http && typeof http.status === 'number' && http.status >= 400 && http.status < 500) {
    const message =
      http.status === 413
        ? 'The body is too large'
        : http.expose === false
          ? 'The request could not be read'
          : String(http.message || 'Bad request');
    return new AppError(BY_STATUS[http.status] ?? 'bad_request', message, { cause: error });
  }
  return new AppError('internal_error', 'Something went wrong on our side', { cause: error });
}

/** The public part of an error. */
export function errorEnvelope(error: AppError, requestId: string): ErrorEnvelope {
  return {
    error: statusLabel(error.status),
    message: error.message,
    code: error.code,
    request_id: requestId,
    ...traceOf(),
    ...(error.fix ? { fix: error.fix } : {}),
    ...(error.problems ? { problems: error.problems } : {}),
    ...error.extra,
  };
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
  ctx.body = style ? { ...oauthBody(error, style, requestId), ...traceOf() } : errorEnvelope(error, requestId);
}
