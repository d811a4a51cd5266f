import { type Language, message } from '../../../messages/index.ts';
import type { CatalogueReader } from '../../../db/catalogue/reader.ts';
import type { Db, Trx } from '../../../db/connection.ts';
import { ofOrganization } from '../../../db/shares.ts';
import type { BlobStores } from '../../../lib/blobs/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Config } from '../../../lib/config/index.ts';
import type { Keyring } from '../../../lib/keyring.ts';
import type { Egress } from '../../../lib/egress/index.ts';
import type { Logger } from '../../../lib/log.ts';
import type { Quota } from '../../../lib/rate-limit.ts';
import type { SharedCache } from '../../../lib/shared-cache.ts';
import type { SystemMail } from '../../../lib/mail/index.ts';
import type { DnsRecords } from '../../../lib/dns.ts';
import type { WorkflowGateway } from '../../../temporal/dispatch.ts';
import { AppError } from '../../../lib/errors.ts';
import { systemActor, type Actor } from './actor.ts';
import type { DurableFamily, Tx } from './tx.ts';

/** Services of a process. They are created once at start and passed as arguments, never imported. */
export interface Deps {
  db: Db;
  clock: Clock;
  config: Config;
  log: Logger;
  keyring: Keyring;
  egress: Egress;
  /** DNS records of domains, for checks of senders and tracking domains. */
  dns: DnsRecords;
  systemMail: SystemMail;
  /** Cache for results of expensive queries. With REDIS_URL all processes share it. */
  cache: SharedCache;
  /** Stores of files outside PostgreSQL. */
  blobs: BlobStores;
  /** The prospect catalogue. Undefined if the installation has none. */
  catalogue?: CatalogueReader | undefined;
  /** Direct calls to Temporal, for the few functions that need an immediate result (mailbox checks, readiness). */
  workflows: WorkflowGateway;
  /** All families of workflows, declared in `activities/index.ts`. */
  families: readonly DurableFamily[];
  /** Checks every event against its schema and rolls the transaction back if one does not match. Enabled in tests. */
  strictEvents?: boolean;
}

/**
 * Context of a domain function: the services of the process, the caller and, inside a guarded write, the open
 * transaction.
 */
export interface Ctx extends Deps {
  actor: Actor;
  requestId: string;
  /**
   * Language that the request names, for its response and for mails to people without an account. Undefined if the
   * request names none.
   */
  language?: Language;
  /** Adds a rate limit that applies to the request to the RateLimit headers of its answer. Set by the HTTP server. */
  reportQuota?: ((quota: Quota) => void) | undefined;
  /**
   * Open transaction, set by the guard for idempotent writes. {@link transact} uses it instead of opening another one.
   */
  trx?: Trx;
  /**
   * Open transaction with its collected events, audit rows and intents, set together with `trx`. {@link transact} adds
   * to the collected items, and they are written at the end of the transaction in few statements.
   */
  joined?: Tx;
  /** Number of successive subscriber reactions that led to this call. It is stored with emitted events. */
  hops?: number;
}

/**
 * Returns the organization of a domain function's context.
 * @throws AppError no_organization (400) for a session without a selected organization
 */
export function organizationOf(ctx: Ctx): string {
  if (!ctx.actor.organizationId) {
    throw new AppError('no_organization', message('access.no_workspace'), {
      fix: message('access.no_workspace.fix'),
    });
  }
  return ctx.actor.organizationId;
}

/** Returns a context for work of the installation itself in one organization. */
export function systemCtx(deps: Deps, organizationId: string, requestId: string): Ctx {
  return withOwnShare({ ...deps, actor: systemActor(organizationId), requestId });
}

/**
 * Returns a context whose database connections are counted in the share of its organization (`db/shares.ts`). A context
 * without an organization is returned unchanged.
 * @param options.isUrgent true for work that stops something, which then does not wait behind other work of the
 * organization
 */
export function withOwnShare(ctx: Ctx, options: { isUrgent?: boolean } = {}): Ctx {
  const { organizationId } = ctx.actor;
  return organizationId ? { ...ctx, db: ofOrganization(ctx.db, organizationId, options) } : ctx;
}
