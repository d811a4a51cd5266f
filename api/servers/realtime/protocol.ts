import { z } from 'zod';
import type { StreamEvent } from '../../../domain/platform/realtime/read.ts';
import { shownProblem, traceOf, type ShownProblem } from '../../http/errors.ts';
import { issueMessage } from '../../../lib/issue-message.ts';
import { message } from '../../../messages/index.ts';
import { AppError, type ErrorCode } from '../../../lib/errors.ts';
import { render } from '../../../messages/render.ts';

/** Subprotocol that a client may offer (Sec-WebSocket-Protocol). The gateway accepts no other. */
export const SUBPROTOCOL = 'realtime.v1';
/**
 * Prefix of the subprotocol by which a browser, which cannot set headers, offers its credential: `bearer.<token>` in
 * addition to {@link SUBPROTOCOL}.
 */
export const BEARER_SUBPROTOCOL = 'bearer.';
/** Maximum size (bytes) of a client's message. */
export const MAX_MESSAGE_BYTES = 16 * 1024;

/** Close codes of the gateway (docs/reference/realtime.md). Codes from 4000 follow the HTTP status of the same meaning. */
export const CLOSE = {
  internalError: 1011,
  restarting: 1012,
  unauthorized: 4401,
  forbidden: 4403,
  tooSlowToAuthenticate: 4408,
  rightsChanged: 4409,
  slowConsumer: 4413,
  tooMany: 4429,
} as const;
export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE];

/** Codes of error messages: the codes of the API, and two codes that only a stream can have. */
type StreamErrorCode = ErrorCode | 'resume_expired' | 'slow_consumer';

/** Messages of a client. */
const clientMessage = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('authenticate'), token: z.string().min(1).max(8192) }),
  z.strictObject({
    type: z.literal('subscribe'),
    event_types: z.array(z.string().max(100)).max(200).default([]),
    after: z.string().max(100).optional(),
  }),
]);
export type ClientMessage = z.output<typeof clientMessage>;

/**
 * Parses a client's message.
 * @throws AppError bad_request naming every problem
 */
export function readMessage(text: string): ClientMessage {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new AppError('bad_request', message('realtime.no_json'));
  }
  const parsed = clientMessage.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...issue.path, key].join('.'), message: message('field.unknown') }))
      : [{ path: issue.path.join('.') || 'message', message: issueMessage(issue) }],
  );
  throw new AppError('bad_request', message('realtime.unknown_message'), {
    problems,
    fix: message('realtime.unknown_message.fix'),
  });
}

/** Messages of the gateway, apart from events. */
export type ServerMessage =
  | { type: 'authenticated'; organization_id: string; heartbeat_ms: number }
  | { type: 'subscribed'; event_types: string[]; last_event_id: string | null }
  | { type: 'heartbeat'; at: string; last_event_id: string | null }
  | {
      type: 'error';
      code: StreamErrorCode;
      message: string;
      trace_id?: string;
      fix?: string;
      problems?: ShownProblem[];
    };

/** Converts an error to a message for the client. */
export function errorMessage(error: AppError): ServerMessage {
  const { code, said, fix, problems } = error;
  return {
    type: 'error',
    code,
    message: render(said),
    ...traceOf(),
    ...(fix ? { fix: render(fix) } : {}),
    ...(problems ? { problems: problems.map((problem) => shownProblem(problem)) } : {}),
  };
}

/** Message to a client whose resume position is too old, because the events after it were deleted. */
export const RESUME_EXPIRED: ServerMessage = {
  type: 'error',
  code: 'resume_expired',
  message: render(message('realtime.resume_expired')),
  fix: render(message('realtime.resume_expired.fix')),
};

/** Encodes an event as a WebSocket frame. Its payload is the JSON text of PostgreSQL, unchanged. */
export function eventFrame(organizationId: string, event: StreamEvent): Buffer {
  const { id, type, created_at: at, data } = event;
  const head = JSON.stringify({
    type: 'event',
    id,
    event_type: type,
    organization_id: organizationId,
    created_at: at.toISOString(),
  });
  return Buffer.from(`${head.slice(0, -1)},"data":${data}}`);
}
