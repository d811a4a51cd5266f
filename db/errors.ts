import { databaseFault } from '../lib/error-report.ts';
import { AppError, type ErrorCode } from '../lib/errors.ts';
import { message, type Message } from '../messages/index.ts';

/** The public error for each constraint: the only mapping from database names to error codes. */
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

/** Whether a row could not be deleted because another one references it, or written because its target is not there. */
export function isForeignKeyViolation(error: unknown): boolean {
  return databaseFault(error)?.code === FOREIGN_KEY_VIOLATION;
}

/** PostgreSQL's classes for values that a column cannot hold (22) and rows that a constraint refuses (23). */
const REFUSED = /^2[23]/;

/** Whether PostgreSQL refused what a statement would have written, also where the public error of its constraint was made of it. */
export function isRefusedRow(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : error;
  return REFUSED.test(databaseFault(cause)?.code ?? '');
}

/** Whether PostgreSQL ended a transaction because it and another waited for each other; run again, it goes through. */
export function isDeadlock(error: unknown): boolean {
  return databaseFault(error)?.code === DEADLOCK;
}

/** Whether a statement waited for a lock longer than it may (DB_LOCK_TIMEOUT_MS). */
export function isLockTimeout(error: unknown): boolean {
  return databaseFault(error)?.code === LOCK_TIMEOUT;
}

/** Whether PostgreSQL gave a statement up because it or its wait for a lock took too long. Trying again later can help. */
export function isOverTime(error: unknown): boolean {
  return isLockTimeout(error) || databaseFault(error)?.code === STATEMENT_TIMEOUT;
}

/** PostgreSQL's classes for connections that fail (08), a server without room for another (53300) and one that goes down or is not up yet (57P). */
const CONNECTION_LOST = /^(08|57P|53300)/;
/**
 * PostgreSQL's codes of a server that can store nothing for now: its disk is full (53100) or fails (58), or it has become a standby (25006). It is as good as away: the same
 * statement succeeds once that is over.
 */
const CANNOT_WRITE = /^(53100|58|25006)/;
/** What the network says. */
const UNREACHABLE = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)/;
/** What the driver says of a connection that broke without a word from PostgreSQL. */
const BROKEN_OFF = /^(Connection (terminated|ended)|Client has encountered)/;

/** Whether any statement failed because the database could not be reached, the connection broke, or the server can store nothing for now. */
export function isDatabaseAway(error: unknown): boolean {
  const { code, name, message } = (databaseFault(error) ?? error ?? {}) as Partial<Error & { code: unknown }>;
  if (typeof code === 'string') return CONNECTION_LOST.test(code) || CANNOT_WRITE.test(code) || UNREACHABLE.test(code);
  return name === 'KnexTimeoutError' || BROKEN_OFF.test(message ?? '');
}

/** Turns a database error into the {@link AppError} its constraint stands for; anything else comes back unchanged. */
export function translateDbError(error: unknown): unknown {
  const pg = databaseFault(error);
  if ((pg?.code === UNIQUE_VIOLATION || pg?.code === FOREIGN_KEY_VIOLATION) && pg.constraint) {
    const known = CONSTRAINTS[pg.constraint];
    if (known) return new AppError(known.code, known.said, { cause: error, ...(known.fix ? { fix: known.fix } : {}) });
    if (pg.code === UNIQUE_VIOLATION) return new AppError('conflict', message('row.exists'), { cause: error });
  }
  if (pg?.code === DEADLOCK) {
    return new AppError('conflict', message('row.busy'), { cause: error });
  }
  return error;
}
