import type { Trx } from '../../../db/connection.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import type { Intent } from '../../../temporal/dispatch.ts';
import type { Actor } from './actor.ts';
import type { EventData } from './event-payloads.ts';
import type { StoredEventType } from './events.ts';

/** One row of the audit trail. */
export interface AuditEntry {
  action: string;
  entityType: string;
  entityId?: string;
  /** Old and new values; secrets only as "changed". */
  changes?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
}

/** One transaction of a verb. What it collects commits with the rows: events, audit rows, workflow intents. */
export interface Tx {
  trx: Trx;
  org: OrgScope;
  /** Who acts. Verbs check permissions against it where they depend on rows. */
  actor: Actor;
  now: Date;
  /** Number of reactions that led to this transaction; 0 outside of reactions. Its events carry it. */
  hops: number;
  /** A domain event for webhooks and the realtime gateway. */
  emit<T extends StoredEventType>(type: T, data: EventData<T>): void;
  audit(entry: AuditEntry): void;
  /** What Temporal must do after the commit. */
  intend(intent: Intent): void;
  /**
   * Runs once per key just before the commit. Keys run in sorted order, so that all transactions take the locks of this
   * work in one order, and hold them only until the commit.
   */
  atEnd(key: string, work: () => Promise<void>): void;
}
