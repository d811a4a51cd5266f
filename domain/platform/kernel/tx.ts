import type { Db, Trx } from '../../../db/connection.ts';
import type { ApprovalContent, AuditChanges } from '../../../db/json-columns.ts';
import type { ApprovalRow } from '../../../db/models/approval.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import type { Config } from '../../../lib/config/index.ts';
import type { Intent } from '../../../temporal/dispatch.ts';
import type { WorkflowContract } from '../../../workflows/contract.ts';
import type { Actor } from './actor.ts';
import type { EventData } from './event-payloads.ts';
import type { StoredEventType } from './events.ts';
import type { Message } from '../../../messages/index.ts';

/** A row of the audit trail. */
export interface AuditEntry {
  action: string;
  entityType: string;
  entityId?: string;
  /**
   * Values before and after a change. For a secret only placeholders, see `secretChanged` in
   * domain/platform/changes.ts.
   */
  changes?: AuditChanges;
  metadata?: Record<string, unknown>;
}

/** Transaction of a domain function. Events, audit rows and workflow intents are collected and commit with the rows. */
export interface Tx {
  trx: Trx;
  org: OrgScope;
  /** All families of workflows in this process. */
  families: readonly DurableFamily[];
  /** The caller. Functions whose permissions depend on rows check them against this actor. */
  actor: Actor;
  now: Date;
  /**
   * Number of successive subscriber reactions that led to this transaction. It is 0 outside subscribers. It is stored
   * with emitted events.
   */
  hops: number;
  /** Emits a domain event for webhooks and the realtime gateway. */
  emit<T extends StoredEventType>(type: T, data: EventData<T>): void;
  audit(entry: AuditEntry): void;
  /** Stores an intent to start or signal a workflow after the commit. */
  intend(intent: Intent): void;
  /**
   * Calls `work` just before the commit, once per key and in the order of the keys. Therefore all transactions take the
   * locks of this work in one order and hold them only briefly.
   */
  atEnd(key: string, work: () => Promise<void>): void;
}

/**
 * Declaration of one kind of workflow for the code outside `workflows/`. Each is declared in `activities/<family>.ts`.
 * All of them are in {@link Tx.families} and `Deps.families`.
 */
export interface DurableFamily {
  contract: WorkflowContract<any, any>;
  /** Workflows that must be open according to PostgreSQL, or the reason why the family needs no such query. */
  mustBeOpen: ExpectedRuns | { unneeded: string };
  /** Marks workflows that keep failing as blocked. Undefined if workflows of the family cannot be blocked. */
  blocked: BlockedRuns | undefined;
  /** Kinds of dead letters of the family, except the kind for blocked workflows. */
  deadLetters: readonly DeadLetterKind[];
  /** Action of the family that can wait for a person's approval. */
  approval: ApprovalSubject | undefined;
}

/**
 * A kind of action that needs a person's approval if no policy allows it. The action's own area implements these
 * functions, and `domain/approvals` calls them in the transaction of the decision.
 */
export interface ApprovalSubject<Subject = any> {
  type: ApprovalRow['subject_type'];
  /**
   * Locks the subject of an approval. Returns undefined if it is deleted. All code that changes the subject must take
   * this lock before the lock of the approval.
   */
  lock(tx: Tx, approval: ApprovalRow): Promise<Subject | undefined>;
  /**
   * Passes an approved action to a workflow, which later calls `executeApproved` (`domain/approvals/decide.ts`). If the
   * function is absent, the action is executed with the decision.
   */
  handOver?(tx: Tx, subject: Subject, approval: ApprovalRow): Promise<void>;
  /**
   * Returns the current content of a locked subject. `holdForApproval` (`domain/approvals/hold.ts`) shows it to a
   * person, and `executeApproved` compares it with what the person saw. Null when a part of it is deleted.
   */
  content(tx: Tx, subject: Subject, config: Config): Promise<ApprovalContent | null>;
  /**
   * Executes the action.
   * @throws AppError to refuse the action; then nothing changes and no decision is stored
   */
  execute(tx: Tx, subject: Subject, approval: ApprovalRow, config: Config): Promise<void>;
  /**
   * Stops an approved subject because an email differs from the approved content, and requests another approval. Does
   * nothing if the subject is in another state. Runs in its own transaction, which locks the subject first.
   */
  stop?(tx: Tx, stopped: StoppedEmail, config: Config): Promise<void>;
  /** Records that the action will not happen, and signals a workflow that waits for it. */
  refused(tx: Tx, subject: Subject, approval: ApprovalRow, why: NotExecuted, config: Config): Promise<void>;
}

/**
 * Reason why an action that needed approval is not executed. It was denied, its approval expired without a decision,
 * its content has changed, or the key or grant that requested it was revoked.
 */
export type NotExecuted = 'denied' | 'expired' | 'changed' | 'revoked';

/** An email that was not sent because it differs from the approved content. */
export interface StoppedEmail {
  /** Id of the campaign or the single email. */
  subjectId: string;
  /** The lead of a campaign email. Null for a single email. */
  enrollmentId: string | null;
  /** Id of the compared approval; null if the lead has none. */
  approvalId: string | null;
  /** Names of the fields that differ. */
  fields: string[];
}

/** A workflow that must be open: the variable part of its id (`position`), and the intent that starts it. */
export interface ExpectedRun {
  position: string;
  intent: Intent;
}

/** Queries for the workflows of a family that must be open. */
export interface ExpectedRuns {
  /**
   * SQL of {@link ExpectedRuns.page}, so that tests can run `explain` on it. Needs the bindings `:after` and `:limit`.
   */
  pageSql: string;
  /** Returns the next workflows that must be open after a position, in the order of their ids. */
  page(db: Db, after: string, limit: number): Promise<ExpectedRun[]>;
  /** Returns the workflows at the given positions that must still be open. */
  only(db: Db, positions: readonly string[]): Promise<ExpectedRun[]>;
}

/** Cause of a task's retry. */
export type RetryCause = 'operator' | 'sweep';

/** A kind of task that can become a dead letter. */
export interface DeadLetterKind {
  taskType: string;
  /**
   * Restriction for API keys that may use only certain mailboxes. `hidden`: they cannot see the dead letter.
   * `readOnly`: they cannot replay it.
   */
  restricted?: 'hidden' | 'readOnly' | undefined;
  /** Starts the task again, unless its row is deleted or the task has ended. The resolved value is ignored. */
  retry(tx: Tx, taskId: string, cause: RetryCause): Promise<unknown>;
}

/** Kind of dead letter for workflows of a family that fail repeatedly. */
export interface BlockedRuns extends DeadLetterKind {
  /**
   * Marks the row of a workflow as blocked. Returns the row's id, or undefined if the row is deleted or its work has
   * ended.
   */
  block(tx: Tx, workflowId: string, reason: Message): Promise<string | undefined>;
}
