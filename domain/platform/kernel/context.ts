import { type Language, message } from '../../../messages/index.ts';
import type { CatalogueReader } from '../../../db/catalogue/reader.ts';
import type { Db, Trx } from '../../../db/connection.ts';
import type { BlobStores } from '../../../lib/blobs/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Config } from '../../../lib/config/index.ts';
import type { Keyring } from '../../../lib/keyring.ts';
import type { Egress } from '../../../lib/egress/index.ts';
import type { Logger } from '../../../lib/log.ts';
import type { SharedCache } from '../../../lib/shared-cache.ts';
import type { SystemMail } from '../../../lib/mail/index.ts';
import type { DnsRecords } from '../../../lib/dns.ts';
import type { WorkflowGateway } from '../../../temporal/dispatch.ts';
import { AppError } from '../../../lib/errors.ts';
import { systemActor, type Actor } from './actor.ts';
import type { DurableFamily, Tx } from './tx.ts';

/** The parts of a process: one of each, made at start, passed as arguments, never imported. */
export interface Deps {
  db: Db;
  clock: Clock;
  config: Config;
  log: Logger;
  keyring: Keyring;
  egress: Egress;
  /** Records of domains, for checks of senders and tracking domains. */
  dns: DnsRecords;
  systemMail: SystemMail;
  /** Answers that are dear to ask for; with REDIS_URL all processes share them. */
  cache: SharedCache;
  /** Where files are, other than in PostgreSQL. */
  blobs: BlobStores;
  /** The prospect catalogue; undefined where the installation has none. */
  catalogue?: CatalogueReader | undefined;
  /** Direct calls to Temporal, for the few verbs that need an answer now (mailbox checks, readiness). */
  workflows: WorkflowGateway;
  /** Every durable family, from `activities/index.ts`. */
  families: readonly DurableFamily[];
  /** Check every event against its schema, and roll the transaction back if one does not fit; on in tests. */
  strictEvents?: boolean;
}

/** What a verb gets: the process's parts, the actor, and (inside a guarded write) the open transaction. */
export interface Ctx extends Deps {
  actor: Actor;
  requestId: string;
  /** The language that the request names, for what it answers and for mails to strangers; undefined where it names none. */
  language?: Language;
  /** Set by the guard for idempotent writes; {@link transact} joins it instead of opening another. */
  trx?: Trx;
  /** With `trx`: {@link transact} adds what it collects to this transaction, which writes all of it at its end in few statements. */
  joined?: Tx;
  /** Number of reactions that led to this call; events it emits carry it. */
  hops?: number;
}

/**
 * The organization a verb works in.
 * @throws AppError no_organization (400) when a session has none selected
 */
export function organizationOf(ctx: Ctx): string {
  if (!ctx.actor.organizationId) {
    throw new AppError('no_organization', message('access.no_workspace'), {
      fix: message('access.no_workspace.fix'),
    });
  }
  return ctx.actor.organizationId;
}

/** A context for work of the installation itself in one organization. */
export function systemCtx(deps: Deps, organizationId: string, requestId: string): Ctx {
  return { ...deps, actor: systemActor(organizationId), requestId };
}
