import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { message, type Message } from '../../../messages/index.ts';

/** Columns from which the health of a mailbox is computed. */
export interface HealthRow extends Columns<
  'mailboxes',
  'id' | 'status' | 'hold_reason' | 'hold_until' | 'imap_hold_reason' | 'imap_hold_until'
> {
  is_held: boolean;
  is_imap_held: boolean;
  /** Number of open problems. */
  problems: number;
  /** Health state of the mailbox's warmup. Null for a mailbox without warmup. */
  warmup_state: 'healthy' | 'watch' | 'throttled' | 'quarantined' | 'blocked' | null;
  warmup_score: number | null;
}

export interface AccountHealth {
  /**
   * `error`: a person must act before the mailbox works again. `warning`: the mailbox recovers without a person, or a
   * person should check it.
   */
  status: 'healthy' | 'warning' | 'error';
  /** Score from 0 to 100. */
  score: number;
  /** Problems of the mailbox, one sentence each. */
  issues: Message[];
}

const HELD = message('mailbox_issue.held');
/** Points that each kind of problem subtracts from a mailbox's score of 100. */
const PENALTY = { error: 60, rest: 30, problem: 10, off: 30 };

/**
 * Returns the health of a mailbox. It is `error` if the mailbox is revoked or held until a person acts. It is `warning`
 * if the mailbox is held temporarily or disabled, has an open problem, or has bad warmup health. The score is at most
 * the warmup's score.
 */
export function accountHealth(row: HealthRow): AccountHealth {
  const holds = [
    { held: row.is_held, reason: row.hold_reason, until: row.hold_until },
    { held: row.is_imap_held, reason: row.imap_hold_reason, until: row.imap_hold_until },
  ].filter(({ held }) => held);
  const stuck = holds.filter(({ until }) => until === null);
  const issues = [
    ...(row.status === 'revoked'
      ? [message('mailbox_issue.revoked')]
      : row.status === 'inactive'
        ? [message('mailbox_issue.off')]
        : []),
    ...new Set(holds.map(({ reason }) => reason || HELD)),
    ...(row.problems > 0 ? [message('mailbox_issue.problems', { count: row.problems })] : []),
    ...(row.warmup_state && row.warmup_state !== 'healthy' ? [message(`mailbox_issue.${row.warmup_state}`)] : []),
  ];
  const inError = row.status === 'revoked' || stuck.length > 0;
  const lost =
    (inError ? PENALTY.error : 0) +
    (holds.length > stuck.length ? PENALTY.rest : 0) +
    (row.status === 'inactive' ? PENALTY.off : 0) +
    Math.min(row.problems * PENALTY.problem, PENALTY.rest);
  return {
    status: inError ? 'error' : issues.length > 0 ? 'warning' : 'healthy',
    score: Math.max(0, Math.min(100 - lost, row.warmup_score ?? 100)),
    issues,
  };
}

/**
 * Reads the columns from which mailboxes' health is computed.
 * @param ids limits the result to these mailboxes
 */
export function readHealthRows(org: OrgScope, now: Date, ids?: readonly string[]): Promise<HealthRow[]> {
  return org.sql<HealthRow>(
    `select m.id, m.status, m.hold_reason, m.hold_until, m.imap_hold_reason, m.imap_hold_until,
       m.hold_code is not null and coalesce(m.hold_until > :now, true) as is_held,
       m.imap_hold_code is not null and coalesce(m.imap_hold_until > :now, true) as is_imap_held,
       coalesce(e.problems, 0) as problems, w.health_state as warmup_state, w.score as warmup_score
     from mailboxes m
     left join (
       select mailbox_id, count(*)::int as problems
       from mailbox_errors where organization_id = :org and resolved_at is null group by mailbox_id
     ) e on e.mailbox_id = m.id
     -- The standing of a stopped warmup is not updated any more, so it is left out.
     left join warmup_standings w on w.mailbox_id = m.id and m.warmup is not null
     where m.organization_id = :org ${ids ? 'and m.id = any(:ids::uuid[])' : ''} order by m.id desc`,
    { now, ...(ids ? { ids } : {}) },
  );
}
