import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Config } from '../../lib/config/index.ts';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import type { AppError, ErrorCode, Problem } from '../../lib/errors.ts';
import type { OrgPermission, Permission } from '../../lib/permissions.ts';

/** Permission that a session's role must have. `owner` is the organization's owner. */
export type PermissionRule =
  | OrgPermission
  | { anyOf: readonly (OrgPermission | 'owner')[] }
  | { allOf: readonly OrgPermission[] };

/** File of a multipart body, already on disk. */
export interface UploadedFile {
  path: string;
  filename: string;
  size: number;
  /** SHA-256 of the file's bytes (hex). Part of the request hash of an Idempotency-Key. */
  sha256: string;
}

export interface RouteInput<P, Q, B, Prepared> {
  params: P;
  query: Q;
  body: B;
  files: Record<string, UploadedFile>;
  headers: Record<string, string | undefined>;
  prepared: Prepared;
  /** Runs another route for the same caller. */
  invoke: Invoke;
}

/** Request to a route before any check. */
export interface RouteRequest {
  params: unknown;
  query: unknown;
  body: unknown;
  files: Record<string, UploadedFile>;
  headers: Record<string, string | undefined>;
}

/** Answer of a route. */
export interface RouteAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer | StreamReply['stream'];
  cookies?: readonly string[];
}

/**
 * Runs a route in process for the already admitted caller, under all its own rules: scope or permission, write limit,
 * mailbox restriction, validation, idempotency. The credential's request rate was counted at admission.
 * @throws AppError the route's error answer
 */
export type Invoke = (spec: AnyRoute, request: RouteRequest) => Promise<RouteAnswer>;

/** Answer whose body is not JSON, or not always. */
export interface StreamReply {
  stream: Readable | string;
  contentType: string;
  headers?: Record<string, string>;
  /** Status for routes with their own protocol and for pages. Default: the declared status. */
  status?: number;
  /** Values of Set-Cookie headers. */
  cookies?: readonly string[];
}

/**
 * Result of a handler whose action waits for a person. The answer is 202 with the body declared in the route's
 * `awaiting`.
 */
export class Awaiting<Body = unknown> {
  readonly body: Body;

  constructor(body: Body) {
    this.body = body;
  }
}

type Out<S> = S extends z.ZodType ? z.input<S> : S extends 'stream' ? StreamReply : void;

/** Answer in the OpenAPI document that does not use the envelope. */
export interface OtherAnswer {
  description: string;
  /** Content type of the answer. Omit for an answer without a body. */
  contentType?: string;
  schema?: object;
}

/** Errors in OAuth's own format: of the token and revocation endpoints, or of client registration. */
export type ErrorStyle = 'oauth' | 'registration';

/** Body with its well-formed fields only; for a list of objects, the well-formed fields of each. */
type Sound<B> = B extends readonly (infer Element)[] ? Partial<Element>[] : Partial<B>;

/**
 * Declaration of one endpoint. Router, validation, authorization, idempotency, rate limits, OpenAPI and test suites
 * over all routes are derived from it. `scope` and `permission` have no default, so an endpoint without them does not
 * compile.
 */
interface RouteSpec<
  P extends z.ZodType,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType | 'stream' | undefined,
  Prepared,
> {
  operationId: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Path relative to /v1, or to the root with `atRoot`. Parameters as `:id`. */
  path: string;
  atRoot?: true;
  area: string;
  summary: string;
  description?: string;
  /** Permissions that a key or token needs (all of them), or a word for another group of callers. */
  scope: readonly Permission[] | 'public' | 'session' | 'any';
  /** Permission that a session needs; null if any signed-in person may call. */
  permission: PermissionRule | null;
  /** Set if only administrators of the installation may call the route, in addition to `permission`. */
  platformAdmin?: true;
  /**
   * Set if the route refuses workspaces on the free plan. Applies if the installation requires paid plans
   * (REQUIRE_PAID_PLAN).
   */
  needsPaidPlan?: true;
  /**
   * Set if the route refuses keys that are restricted to mailboxes, because its answer or effect concerns all mailboxes
   * of the workspace.
   */
  everyMailbox?: true;
  /** False if the route works without a selected workspace, as for sign-in. */
  organization?: false;
  /** Name of the path parameter that is a mailbox id. A key restricted to mailboxes must have that mailbox. */
  mailboxParam?: string;
  /** Idempotency-Key handling. Routes that change data accept a key unless this is `none`. */
  idempotency?: 'none' | 'required';
  /** Set for a POST that only reads, such as a search. The write limit and Idempotency-Key do not apply to it. */
  readOnly?: true;
  /**
   * Set for a search, count or report, whose cost grows with the rows of the workspace. The route then reads in one
   * transaction with a short time limit, and in a small share of the connections (`askQuestion`).
   */
  isQuestion?: true;
  /**
   * Set for a write that stops something: revokes, pauses, cancels, denies or suppresses. A function decides by the
   * body. The write limit of the workspace neither counts nor refuses such a write.
   */
  stops?: true | ((body: z.output<B>) => boolean);
  /**
   * Set for a write that a workspace accepts although its deletion is scheduled: an export, or the call that cancels
   * the deletion. Such a workspace accepts reads and writes that stop something, and refuses every other write.
   */
  duringDeletion?: true;
  /**
   * Set if web pages of any site may call the route (CORS). Only for routes that need no credential, or read it from
   * the Authorization header alone.
   */
  anyOrigin?: true;
  /** Path of this route's own protected resource metadata (RFC 9728), if it differs from the API's. */
  resourceMetadata?: string;
  params?: P;
  /** Query parameters. All others are refused, see {@link refusesUnknownQuery}. */
  query?: Q;
  body?: B;
  /**
   * Finds problems of well-formed fields that the schema cannot express. Called only if other fields are malformed, so
   * that one answer lists all problems. An entirely well-formed body is checked by the domain function.
   */
  furtherProblems?: (
    ctx: Ctx,
    body: Sound<z.output<B>>,
    params: { [name: string]: string },
  ) => Promise<readonly Problem[]>;
  /**
   * Returns the error code of a bad request from its first problem, for routes with specific codes. Default:
   * bad_request.
   */
  refusal?: (first: Problem) => ErrorCode;
  /** Names of the multipart parts that must be files. */
  files?: readonly string[];
  /** Body format. `raw` leaves the body unread: the handler gets the request's stream as its body. */
  consumes?: 'json' | 'form' | 'multipart' | 'raw';
  /** Maximum body size (bytes), or a function that reads it from the settings. Default: 1 MiB. */
  bodyLimit?: number | ((config: Config) => number);
  success: {
    status: 200 | 201 | 202 | 204;
    body?: R;
    description?: string;
    contentType?: string;
    /** JSON Schema of a streamed JSON body. Default: any text. */
    schema?: object;
    /** Headers of a streamed answer, as OpenAPI describes them. */
    headers?: Readonly<Record<string, { description: string; schema: object }>>;
  };
  /** Body of the 202 for an {@link Awaiting}: the requested action waits for a person. */
  awaiting?: z.ZodType;
  /** Answers in addition to `success` and `errors`, for routes with their own protocol and for pages. */
  otherAnswers?: Readonly<Record<number, OtherAnswer>>;
  /** Cache-Control of every answer, including errors. */
  cacheControl?: 'no-store' | 'public, max-age=300';
  /** Format of errors. Default: the envelope. */
  errorStyle?: ErrorStyle;
  /** Error codes of this endpoint, in addition to the common ones. */
  errors?: readonly ErrorCode[];
  /** Makes slow calls to outside services (such as dialling a mail server) before the transaction opens. */
  prepare?: (ctx: Ctx, input: RouteInput<z.output<P>, z.output<Q>, z.output<B>, undefined>) => Promise<Prepared>;
  /**
   * Calls a domain function and converts its result. The domain function opens the transaction of a write (`transact`).
   * With an Idempotency-Key the guard has opened the transaction already, and the stored answer commits with it. A
   * thrown error rolls it back. A returned error keeps the writes and is answered like a thrown one.
   */
  handler: (
    ctx: Ctx,
    input: RouteInput<z.output<P>, z.output<Q>, z.output<B>, Prepared>,
  ) => Promise<Out<R> | Awaiting | AppError>;
}

/** Route without its type parameters, for code that handles all routes. */
export type AnyRoute = RouteSpec<z.ZodType, z.ZodObject, z.ZodType, z.ZodType | 'stream' | undefined, unknown>;

/**
 * Declares an endpoint. Router, guard, OpenAPI, client and test suites are derived from the declaration. Has no side
 * effects.
 */
export function route<
  P extends z.ZodType = z.ZodType<Record<string, never>>,
  Q extends z.ZodObject = z.ZodObject<Record<string, never>>,
  B extends z.ZodType = z.ZodType<undefined>,
  R extends z.ZodType | 'stream' | undefined = undefined,
  Prepared = undefined,
>(spec: RouteSpec<P, Q, B, R, Prepared>): AnyRoute {
  return spec as unknown as AnyRoute;
}

/** Returns true if the route changes data. */
export function isWrite(spec: AnyRoute): boolean {
  return spec.method !== 'get' && !spec.readOnly;
}

/**
 * Returns true if the route refuses query parameters that it does not declare, as the JSON routes under /v1 do. Pages,
 * metadata and hooks at the root ignore them, because browsers, mail gateways and load balancers add their own. So do
 * OAuth's endpoints (RFC 6749, section 3.2) and the MCP endpoint.
 */
export function refusesUnknownQuery(spec: AnyRoute): boolean {
  return !spec.atRoot && spec.errorStyle === undefined && spec.consumes !== 'raw';
}

/** Returns the route's handling of an Idempotency-Key. */
export function idempotencyOf(spec: AnyRoute): 'none' | 'supported' | 'required' {
  if (!isWrite(spec) || spec.scope === 'public' || spec.organization === false) return 'none';
  return spec.idempotency ?? 'supported';
}

/** Returns the full path from the server's root. */
export function fullPath(spec: AnyRoute): string {
  return spec.atRoot ? spec.path : `/v1${spec.path}`;
}
