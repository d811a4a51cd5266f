import { message, type Message, type MessageCode } from '../messages/index.ts';
import { render } from '../messages/render.ts';

/**
 * Every error code of the API, with its HTTP status. The list is closed: any other code does not compile, and a test
 * suite checks that each documented code can occur.
 */
export const ERROR_CODES = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  unprocessable: 422,
  internal_error: 500,
  not_implemented: 501,
  service_unavailable: 503,
  rate_limit_exceeded: 429,
  usage_cap_exceeded: 429,
  no_organization: 400,
  workspace_deletion_scheduled: 403,
  invalid_setting: 400,
  setup_token_invalid: 401,
  setup_already_complete: 403,
  registration_invite_only: 403,
  registration_closed: 403,
  invitation_invalid: 403,
  mailbox_allowance_reached: 403,
  mailbox_worker_unreachable: 503,
  mailbox_auth_failed: 400,
  mailbox_unhealthy: 503,
  mailbox_provider_requires_oauth: 400,
  mailbox_provider_not_configured: 503,
  mailbox_consent_expired: 404,
  mailbox_send_as_unsupported: 400,
  mailbox_send_as_unknown: 400,
  mailbox_identity_unavailable: 503,
  warmup_enable_failed: 400,
  contact_email_taken: 409,
  invalid_lead_status: 400,
  invalid_engagement: 400,
  lead_filter_requires_campaign: 400,
  unknown_verification_status: 400,
  unknown_verification_provider: 400,
  invalid_action: 400,
  no_contacts: 400,
  invalid_lead_query: 400,
  invalid_sort: 400,
  invalid_limit: 400,
  invalid_cursor: 400,
  invalid_b2b_filter: 400,
  invalid_selection: 400,
  b2b_email_required: 400,
  b2b_unavailable: 503,
  b2b_query_failed: 503,
  too_many_contacts: 400,
  too_many_tasks: 400,
  invalid_filter: 400,
  selection_too_large: 400,
  list_bounce_risk: 400,
  leads_undeliverable: 400,
  empty_step_body: 400,
  no_leads: 400,
  no_remaining_leads: 400,
  campaign_invalid: 400,
  campaign_no_mailbox: 400,
  storage_limit_reached: 400,
  attachments_expired: 409,
  redirect_not_allowed: 400,
  app_connection_in_use: 409,
  app_connection_not_found: 400,
  mailbox_provisioning_unavailable: 503,
  ai_not_configured: 503,
  mailbox_provisioning_failed: 503,
  provision_provider_invalid: 400,
  provision_count_invalid: 400,
  provision_domain_invalid: 400,
  provision_domains_invalid: 400,
  domain_unavailable: 400,
  quote_not_found: 404,
  quote_expired: 409,
  quote_consumed: 409,
  event_contact_not_found: 404,
  event_not_found: 404,
  event_run_not_found: 404,
  person_has_contact: 409,
  identity_merge_contacts: 409,
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

const LABELS: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  422: 'Unprocessable',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
};

/** Returns the human-readable label of an HTTP status. */
export function statusLabel(status: number): string {
  return LABELS[status] ?? 'Error';
}

/** One problem of a bad request: its place (dotted path from `body`, `query` or `params`) and message. */
export interface Problem {
  path: string;
  message: Message;
}

export interface AppErrorOptions {
  /** One-line remedy shown to the client. */
  fix?: Message;
  /** All problems of a bad request. */
  problems?: Problem[];
  /** Endpoint-specific public fields in addition to the envelope, such as `retry_after` (seconds). */
  extra?: Record<string, unknown>;
  /** Response headers, such as Retry-After. */
  headers?: Record<string, string>;
  /** Internal cause: logged, never shown. */
  cause?: unknown;
}

/**
 * The only error class whose content clients see. `said` is public, and `message` is the same text in English. Private
 * details belong in `cause`.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly said: Message;
  readonly fix: Message | undefined;
  readonly problems: Problem[] | undefined;
  readonly extra: Record<string, unknown> | undefined;
  readonly headers: Record<string, string> | undefined;

  constructor(code: ErrorCode, said: Message, options: AppErrorOptions = {}) {
    super(render(said), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.said = said;
    this.status = ERROR_CODES[code];
    this.fix = options.fix;
    this.problems = options.problems;
    this.extra = options.extra;
    this.headers = options.headers;
  }
}

/** Types of records that a request may name. Their display names are the messages `thing.…`. */
export type RecordType = MessageCode extends infer Code ? (Code extends `thing.${infer Name}` ? Name : never) : never;

/** Returns the name of a record type, for use as a value in another message. */
export function recordTypeMessage(thing: RecordType): Message {
  return { code: `thing.${thing}`, values: {} };
}

/** Returns the same 404 for an unknown id, a malformed id and another organization's id. */
export function notFound(thing: RecordType = 'resource'): AppError {
  return new AppError('not_found', message('not_found', { thing: recordTypeMessage(thing) }));
}

/** Returns a 400 with one or more problems, each with its path. */
export function badRequest(said: Message, problems?: Problem[]): AppError {
  return new AppError('bad_request', said, problems ? { problems } : {});
}

/** Returns a 429 with the wait in `retry_after` and Retry-After, in whole seconds. */
export function tooManyRequests(waitMs: number, what: Message): AppError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new AppError('rate_limit_exceeded', message('request.too_many', { what }), {
    fix: message('request.too_many.fix', { seconds }),
    extra: { retry_after: seconds },
    headers: { 'Retry-After': String(seconds) },
  });
}

/** Returns a 503 for a temporary failure, with the wait in `retry_after` and Retry-After, in whole seconds. */
export function unavailable(said: Message, waitMs: number, cause: unknown): AppError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new AppError('service_unavailable', said, {
    fix: message('request.try_again.fix', { seconds }),
    extra: { retry_after: seconds },
    headers: { 'Retry-After': String(seconds) },
    cause,
  });
}

/**
 * Throws if there is any problem.
 * @throws AppError of the code, listing every problem
 */
export function refuseProblems(problems: readonly Problem[], code: ErrorCode = 'bad_request'): void {
  if (problems.length === 0) return;
  throw new AppError(code, message('request.problems', { count: problems.length }), {
    problems: [...problems],
  });
}
