import { z } from 'zod';
import type { StreamEvent } from '../../../domain/platform/realtime/read.ts';
import { shownProblem, traceOf, type ShownProblem } from '../../http/errors.ts';
import { issueMessage } from '../../../lib/issue-message.ts';
import { message } from '../../../messages/index.ts';
import { AppError, inWords, type ErrorCode } from '../../../lib/errors.ts';

/** Subprotocol a client may offer (Sec-WebSocket-Protocol); the gateway takes this one and no other. */
export const SUBPROTOCOL = 'realtime.v1';
/** A browser, which cannot set headers, may offer its credential as `bearer.<token>` beside {@link SUBPROTOCOL}. */
export const BEARER_SUBPROTOCOL = 'bearer.';
/** Most bytes of a client's message. */
export const MAX_MESSAGE_BYTES = 16 * 1024;

/** Why the gateway closes a socket (docs/reference/realtime.md). Those from 4000 follow the HTTP status that says the same. */
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

/** Codes of error messages: those of the API, and two that only a stream can have. */
type StreamErrorCode = ErrorCode | 'resume_expired' | 'slow_consumer';

/** What a client may say. */
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
 * Reads a client's message.
 * @throws AppError bad_request naming every fault
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

/** What the gateway says, beside events. */
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

/** An error as a message. */
export function errorMessage(error: AppError): ServerMessage {
  const { code, said, fix, problems } = error;
  return {
    type: 'error',
    code,
    message: inWords(said),
    ...traceOf(),
    ...(fix ? { fix: inWords(fix) } : {}),
    ...(problems ? { problems: problems.map((problem) => shownProblem(problem)) } : {}),
  };
}

/** The events after the one to resume from are no longer stored. */
export const RESUME_EXPIRED: ServerMessage = {
  type: 'error',
  code: 'resume_expired',
  message: inWords(message('realtime.resume_expired')),
  fix: inWords(message('realtime.resume_expired.fix')),
};

/** An event as a WebSocket frame; its payload is the JSON text of PostgreSQL, unchanged. */
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
