import type { Db, Trx } from '../../../db/connection.ts';
import type { ApprovalRow } from '../../../db/models/approval.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import type { Intent } from '../../../temporal/dispatch.ts';
import type { WorkflowContract } from '../../../workflows/contract.ts';
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
  /** Every durable family of the process. */
  families: readonly DurableFamily[];
  /** The caller. Verbs check permissions against it where they depend on rows. */
  actor: Actor;
  now: Date;
  /** Number of reactions that led to this transaction; 0 outside of reactions. Its events carry it. */
  hops: number;
  /** A domain event for webhooks and the realtime gateway. */
  emit<T extends StoredEventType>(type: T, data: EventData<T>): void;
  audit(entry: AuditEntry): void;
  /** Stores an intent: work that Temporal must do after the commit. */
  intend(intent: Intent): void;
  /**
   * Runs once per key just before the commit. Keys run in sorted order, so that all transactions take the locks of this
   * work in one order, and hold them only until the commit.
   */
  atEnd(key: string, work: () => Promise<void>): void;
}

/**
 * Everything outside of workflows/ that depends on one kind of run: declared once, in `activities/<family>.ts`, and
 * handed to the verbs as {@link Tx.families} and `Deps.families`.
 */
export interface DurableFamily {
  contract: WorkflowContract<any, any>;
  /** Runs that PostgreSQL says must be open, or the reason why no run of the family must be. */
  mustBeOpen: ExpectedRuns | { unneeded: string };
  /** Marks runs that keep failing; absent where a run cannot be blocked. */
  blocked: BlockedRuns | undefined;
  /** Dead letters of the family that are about something else than a blocked run. */
  deadLetters: readonly DeadLetterKind[];
  /** The subject of approvals for whose decision a run waits. The first part of the workflow id is the subject's id. */
  approval: ApprovalRow['subject_type'] | undefined;
}

/** A run that must be open: the id of the row that says so, and the intent that opens the run. */
export interface ExpectedRun {
  position: string;
  intent: Intent;
}

/** Queries for the runs of a family that must be open. */
export interface ExpectedRuns {
  /** The statement of {@link ExpectedRuns.page}, for `explain`; `:after` and `:limit` are bound. */
  pageSql: string;
  /** The next runs after a position, in the order of their rows' ids. */
  page(db: Db, after: string, limit: number): Promise<ExpectedRun[]>;
  /** The runs among the given rows that must still be open. */
  only(db: Db, positions: readonly string[]): Promise<ExpectedRun[]>;
}

/** The one who retries a task. */
export type RetryCause = 'operator' | 'sweep';

/** A kind of task that can be a dead letter. */
export interface DeadLetterKind {
  taskType: string;
  /** Limits a key that is restricted to mailboxes: it does not see the letter (`hidden`), or cannot replay it (`readOnly`). */
  restricted?: 'hidden' | 'readOnly' | undefined;
  /** Starts the task again, unless its row is gone or has ended. What it resolves to is not read. */
  retry(tx: Tx, taskId: string, cause: RetryCause): Promise<unknown>;
}

/** The dead letter of a run that keeps failing. */
export interface BlockedRuns extends DeadLetterKind {
  /** Marks the row of the run as blocked; its id, or undefined when it was deleted or has ended. */
  block(tx: Tx, workflowId: string, reason: string): Promise<string | undefined>;
}
