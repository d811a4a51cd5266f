import type { Db, Trx } from '../../../db/connection.ts';
import type { ApprovalContent, PolicyReason } from '../../../db/json-columns.ts';
import type { ApprovalRow } from '../../../db/models/approval.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import type { Config } from '../../../lib/config/index.ts';
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
  /** The action of the family that can wait for a person. */
  approval: ApprovalSubject | undefined;
}

/**
 * A kind of action that waits for a person where no policy allows it. The room that acts implements it; `domain/approvals`
 * calls it, in the transaction of the decision.
 */
export interface ApprovalSubject<Subject = any> {
  type: ApprovalRow['subject_type'];
  /** Locks the subject; undefined when it is gone. Every other change of it takes this lock before the approval's. */
  lock(tx: Tx, subjectId: string): Promise<Subject | undefined>;
  /**
   * Leaves an approved action to a workflow, which calls `carryOut` (domain/approvals/decide.ts) later. Without it the
   * decision carries the action out.
   */
  handOver?(tx: Tx, subject: Subject, approval: ApprovalRow): Promise<void>;
  /** The content of this moment, which is compared with what the person saw; null when a part of it is gone. */
  content(tx: Tx, subject: Subject, approval: ApprovalRow, config: Config): Promise<ApprovalContent | null>;
  /**
   * Carries the action out.
   * @throws AppError a refusal: then nothing happens, and a decision is not taken either
   */
  execute(tx: Tx, subject: Subject, approval: ApprovalRow, config: Config): Promise<void>;
  /** Asks a person about a locked subject as it is now. For verbs of rooms before the subject's. */
  ask?(tx: Tx, subject: Subject, asked: AskedApproval, config: Config): Promise<ApprovalRow>;
  /**
   * Stops what an approval let happen, because an email that was about to leave is not what the person saw, and asks for another approval.
   * Nothing happens to a subject that has moved on. In a transaction of its own, which locks the subject first.
   */
  stop?(tx: Tx, stopped: StoppedEmail, config: Config): Promise<void>;
  /** Records that the action does not happen, and tells a workflow that waits for it. */
  refused(tx: Tx, subject: Subject, approval: ApprovalRow, why: NotCarriedOut, config: Config): Promise<void>;
}

/** Why an action that waited does not happen: a person denied it, nobody decided in time, it has changed since, or its credential is gone. */
export type NotCarriedOut = 'denied' | 'expired' | 'changed' | 'revoked';

/** Who asks for an approval, and why it needs one. */
export interface AskedApproval {
  requester: Pick<Actor, 'kind' | 'apiKeyId' | 'oauthGrantId'>;
  reasons: readonly PolicyReason[];
}

/** An email that did not leave, because it is not what a person approved. */
export interface StoppedEmail {
  /** Of the campaign, or of the single email. */
  subjectId: string;
  /** The lead that it was for; null of a single email. */
  enrollmentId: string | null;
  /** The approval it was compared with; null where its lead never had one. */
  approvalId: string | null;
  /** Names of the fields that differ. */
  fields: string[];
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
