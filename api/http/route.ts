import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Config } from '../../lib/config/index.ts';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import type { AppError, ErrorCode, Problem } from '../../lib/errors.ts';
import type { OrgPermission, Permission } from '../../lib/permissions.ts';

/** What a session caller's role must allow. `owner` is the organization's owner. */
export type PermissionRule =
  | OrgPermission
  | { anyOf: readonly (OrgPermission | 'owner')[] }
  | { allOf: readonly OrgPermission[] };

/** A file of a multipart body, already on disk. */
export interface UploadedFile {
  path: string;
  filename: string;
  size: number;
  /** SHA-256 of its bytes, hex; part of the request hash of an Idempotency-Key. */
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

/** A request to a route, before anything of it is checked. */
export interface RouteRequest {
  params: unknown;
  query: unknown;
  body: unknown;
  files: Record<string, UploadedFile>;
  headers: Record<string, string | undefined>;
}

/** What a route answers. */
export interface RouteAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer | StreamReply['stream'];
  cookies?: readonly string[];
}

/**
 * Runs a route in process, for the caller who has been admitted already, under all its own rules: scope or permission,
 * write limit, mailbox restriction, validation, idempotency. The credential's request rate was counted at admission.
 * @throws AppError what the route answers with an error
 */
export type Invoke = (spec: AnyRoute, request: RouteRequest) => Promise<RouteAnswer>;

/** A body that is not JSON, or not in every case. */
export interface StreamReply {
  stream: Readable | string;
  contentType: string;
  headers?: Record<string, string>;
  /** For routes that speak a protocol of their own, and for pages; else the declared status. */
  status?: number;
  /** Set-Cookie lines. */
  cookies?: readonly string[];
}

/** An answer of a handler that waits for a person: 202 with what `awaiting` of the route declares. */
export class Awaiting<Body = unknown> {
  readonly body: Body;

  constructor(body: Body) {
    this.body = body;
  }
}

type Out<S> = S extends z.ZodType ? z.input<S> : S extends 'stream' ? StreamReply : void;

/** An answer in the OpenAPI document that is no envelope. */
export interface OtherAnswer {
  description: string;
  /** Without one the answer has no body. */
  contentType?: string;
  schema?: object;
}

/** Errors in OAuth's own form: of the token and revocation endpoints, or of client registration. */
export type ErrorStyle = 'oauth' | 'registration';

/** A body of which only the fields are there that are well-formed; of a list of objects, those of each. */
type Sound<B> = B extends readonly (infer Element)[] ? Partial<Element>[] : Partial<B>;

/**
 * One endpoint. Router, validation, authorization, idempotency, rate limits, OpenAPI and the suites that walk every
 * route are all derived from it. `scope` and `permission` have no default: an endpoint that says nothing does not compile.
 */
interface RouteSpec<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType | 'stream' | undefined,
  Prepared,
> {
  operationId: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Relative to /v1; with `atRoot`, from the root. Parameters as `:id`. */
  path: string;
  atRoot?: true;
  area: string;
  summary: string;
  description?: string;
  /** Permission bits a key or token needs (all of them), or who else may call. */
  scope: readonly Permission[] | 'public' | 'session' | 'any';
  /** What a session needs; null where any signed-in person may call. */
  permission: PermissionRule | null;
  /** For administrators of the installation; the permission is needed besides. */
  platformAdmin?: true;
  /** Refused for workspaces on the free plan, where the installation has plans that are paid for (REQUIRE_PAID_PLAN). */
  needsPaidPlan?: true;
  /**
   * Refused for keys that are restricted to mailboxes: it shows, hands on or changes what happens in all mailboxes of the
   * workspace, and cannot be narrowed to some.
   */
  everyMailbox?: true;
  /** False where no workspace needs to be selected (sign-in, choosing one). */
  organization?: false;
  /** Name of the path parameter that is a mailbox id: a key restricted to mailboxes must have that mailbox. */
  mailboxParam?: string;
  /** Mutating routes accept an Idempotency-Key unless they say `none`. */
  idempotency?: 'none' | 'required';
  /** Reads that are POSTs (searches) are not writes: no organization write limit, no idempotency. */
  readOnly?: true;
  /** Path of this route's own protected resource metadata (RFC 9728), where it is not the API's. */
  resourceMetadata?: string;
  params?: P;
  query?: Q;
  body?: B;
  /**
   * Faults of a body beyond its schema, of the fields that are well-formed. Asked when others are not, so that one answer
   * names them all; the verb looks at a body that is well-formed throughout.
   */
  furtherProblems?: (
    ctx: Ctx,
    body: Sound<z.output<B>>,
    params: { [name: string]: string },
  ) => Promise<readonly Problem[]>;
  /** The code of a bad request by its first fault, of a route that has codes of its own for it; bad_request unless said. */
  refusal?: (first: Problem) => ErrorCode;
  /** Parts of a multipart body that must be files. */
  files?: readonly string[];
  /** `raw` leaves the body unread: the handler gets the request's stream as its body. */
  consumes?: 'json' | 'form' | 'multipart' | 'raw';
  /** Bytes of the largest accepted body, or the setting that says so; 1 MiB unless said. */
  bodyLimit?: number | ((config: Config) => number);
  success: {
    status: 200 | 201 | 202 | 204;
    body?: R;
    description?: string;
    contentType?: string;
    /** JSON Schema of a streamed body that is JSON; any text unless said. */
    schema?: object;
    /** Headers of a streamed answer that say something of it, as OpenAPI writes them. */
    headers?: Readonly<Record<string, { description: string; schema: object }>>;
  };
  /** Body of the 202 with which it answers an {@link Awaiting}: what was asked for waits for a person. */
  awaiting?: z.ZodType;
  /** What a route that speaks a protocol of its own, or to people, answers beyond `success` and `errors`. */
  otherAnswers?: Readonly<Record<number, OtherAnswer>>;
  /** Cache-Control of every answer, errors too. */
  cacheControl?: 'no-store' | 'public, max-age=300';
  /** The form of errors; the envelope by default. */
  errorStyle?: ErrorStyle;
  /** Codes this endpoint can answer beyond those every endpoint can. */
  errors?: readonly ErrorCode[];
  /** Slow calls to outside services (dialing a mail server), before the transaction opens. */
  prepare?: (ctx: Ctx, input: RouteInput<z.output<P>, z.output<Q>, z.output<B>, undefined>) => Promise<Prepared>;
  /**
   * Calls the verb and presents what it returns. The verb opens the transaction of a write (`transact`); with an
   * Idempotency-Key the guard has opened it already, and the stored answer commits with it. An error that it throws
   * rolls that back; one that it returns is answered in the same way, and what the verb has written stays.
   */
  handler: (
    ctx: Ctx,
    input: RouteInput<z.output<P>, z.output<Q>, z.output<B>, Prepared>,
  ) => Promise<Out<R> | Awaiting | AppError>;
}

/** A route without its type parameters, as the router and the walking test suites use it. */
export type AnyRoute = RouteSpec<z.ZodType, z.ZodType, z.ZodType, z.ZodType | 'stream' | undefined, unknown>;

/** Declares an endpoint: router, guard, OpenAPI, client and the walking suites are all derived from what is given here. It does nothing by itself. */
export function route<
  P extends z.ZodType = z.ZodType<Record<string, never>>,
  Q extends z.ZodType = z.ZodType<Record<string, never>>,
  B extends z.ZodType = z.ZodType<undefined>,
  R extends z.ZodType | 'stream' | undefined = undefined,
  Prepared = undefined,
>(spec: RouteSpec<P, Q, B, R, Prepared>): AnyRoute {
  return spec as unknown as AnyRoute;
}

/** Whether the route changes something. */
export function isWrite(spec: AnyRoute): boolean {
  return spec.method !== 'get' && !spec.readOnly;
}

/** How the route treats an Idempotency-Key. */
export function idempotencyOf(spec: AnyRoute): 'none' | 'supported' | 'required' {
  if (!isWrite(spec) || spec.scope === 'public' || spec.organization === false) return 'none';
  return spec.idempotency ?? 'supported';
}

/** The full path from the server's root. */
export function fullPath(spec: AnyRoute): string {
  return spec.atRoot ? spec.path : `/v1${spec.path}`;
}
