import { databaseFault } from '../lib/error-report.ts';
import { AppError, type ErrorCode } from '../lib/errors.ts';
import { ShareUsedUp } from '../lib/fair-queue.ts';
import { message, type Message } from '../messages/index.ts';

/** Public error of each constraint. This is the only mapping from database names to error codes. */
const CONSTRAINTS: Record<string, { code: ErrorCode; said: Message; fix?: Message }> = {
  contacts_email_key: {
    code: 'contact_email_taken',
    said: message('contact.email_taken'),
    fix: message('contact.email_taken.fix'),
  },
  mailboxes_email_key: { code: 'conflict', said: message('mailbox.connected_already') },
  app_connections_name_key: { code: 'conflict', said: message('app_connection.name_taken') },
  agent_policies_api_key_key: {
    code: 'conflict',
    said: message('policy.key_taken'),
    fix: message('policy.taken.fix'),
  },
  agent_policies_oauth_grant_key: {
    code: 'conflict',
    said: message('policy.grant_taken'),
    fix: message('policy.taken.fix'),
  },
  roles_name_key: { code: 'conflict', said: message('role.name_taken') },
  invitations_open: { code: 'conflict', said: message('invitation.open') },
  users_email_key: { code: 'conflict', said: message('account.email_taken') },
  campaign_steps_app_connection_fkey: {
    code: 'app_connection_not_found',
    said: message('step.app_connection_gone'),
    fix: message('step.app_connection_gone.fix'),
  },
  campaign_steps_automation_fkey: {
    code: 'conflict',
    said: message('step.automation_mismatch'),
    fix: message('step.automation_mismatch.fix'),
  },
  runs_open_campaign_key: {
    code: 'conflict',
    said: message('run.open'),
    fix: message('run.open.fix'),
  },
  goal_replays_one: {
    code: 'conflict',
    said: message('replay.open'),
    fix: message('replay.open.fix'),
  },
  crm_task_types_name: {
    code: 'conflict',
    said: message('task_type.name_taken'),
    fix: message('task_type.name_taken.fix'),
  },
  enrollments_contact_key: { code: 'conflict', said: message('lead.exists') },
};

const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const LOCK_TIMEOUT = '55P03';
const STATEMENT_TIMEOUT = '57014';
const DEADLOCK = '40P01';

/**
 * Returns true for the violation of a foreign key: another row still references the deleted row, or the referenced row
 * is missing.
 */
export function isForeignKeyViolation(error: unknown): boolean {
  return databaseFault(error)?.code === FOREIGN_KEY_VIOLATION;
}

/** SQLSTATE classes for invalid values (22) and for rows that a constraint refuses (23). */
const REFUSED = /^2[23]/;

/**
 * Returns true if PostgreSQL refused to write a row. Accepts PostgreSQL's error and the public error created from it.
 */
export function isRefusedRow(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : error;
  return REFUSED.test(databaseFault(cause)?.code ?? '');
}

/** Thrown when another transaction has changed a row that this transaction read without a lock. */
export class ChangedMeanwhile extends Error {
  override readonly name = 'ChangedMeanwhile';
}

/** Returns true for an error after which the transaction can be repeated: a deadlock, or a changed row. */
export function isToRepeat(error: unknown): boolean {
  return error instanceof ChangedMeanwhile || databaseFault(error)?.code === DEADLOCK;
}

/** Returns true if a statement waited too long for a lock (DB_LOCK_TIMEOUT_MS). */
export function isLockTimeout(error: unknown): boolean {
  return databaseFault(error)?.code === LOCK_TIMEOUT;
}

/**
 * Returns true if PostgreSQL cancelled a statement because it, or its wait for a lock, took too long. A retry may
 * succeed.
 */
export function isOverTime(error: unknown): boolean {
  return isLockTimeout(error) || databaseFault(error)?.code === STATEMENT_TIMEOUT;
}

/**
 * SQLSTATEs of a failed connection (08), a server without a free connection (53300), and a server that is stopping or
 * starting (57P).
 */
const CONNECTION_LOST = /^(08|57P|53300)/;
/**
 * SQLSTATEs of a server that cannot write for now: its disk is full (53100) or fails (58), or it is a standby (25006).
 * Handled like an unreachable server, because the same statement succeeds later.
 */
const CANNOT_WRITE = /^(53100|58|25006)/;
/** Error codes of a failed network connection. */
const UNREACHABLE = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)/;
/**
 * Messages of the driver for a connection that broke or was not opened in time. PostgreSQL sends no error in these
 * cases.
 */
const BROKEN_OFF = /^(Connection (terminated|ended)|Client has encountered|timeout expired)/;

/**
 * Returns true if a statement failed because the database was unreachable, no connection was free, the connection broke,
 * or the server cannot write for now.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  const { code, name, message } = (databaseFault(error) ?? error ?? {}) as Partial<Error & { code: unknown }>;
  if (typeof code === 'string') return CONNECTION_LOST.test(code) || CANNOT_WRITE.test(code) || UNREACHABLE.test(code);
  return name === 'KnexTimeoutError' || error instanceof ShareUsedUp || BROKEN_OFF.test(message ?? '');
}

/** Converts a database error to the {@link AppError} of its constraint. All other errors are returned unchanged. */
export function translateDbError(error: unknown): unknown {
  const pg = databaseFault(error);
  if ((pg?.code === UNIQUE_VIOLATION || pg?.code === FOREIGN_KEY_VIOLATION) && pg.constraint) {
    const known = CONSTRAINTS[pg.constraint];
    if (known) return new AppError(known.code, known.said, { cause: error, ...(known.fix ? { fix: known.fix } : {}) });
    if (pg.code === UNIQUE_VIOLATION) return new AppError('conflict', message('row.exists'), { cause: error });
  }
  if (isToRepeat(error)) {
    return new AppError('conflict', message('row.busy'), { cause: error });
  }
  return error;
}
