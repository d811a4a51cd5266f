import { across } from '../../../db/across.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { systemCtx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { readTrackingToken, trackingToken } from '../../mail/messages/tracking-token.ts';

/** The member of an unsubscribe link, and their opt-out state. */
export interface ReportOptOut {
  organizationId: string;
  organizationName: string;
  userId: string;
  done: boolean;
}

/** Returns the URL that unsubscribes the recipient of a mail from weekly reports. */
export function unsubscribeUrl(deps: Pick<Deps, 'config' | 'keyring'>, mailId: string): string {
  return `${deps.config.APP_URL}/weekly-report/${trackingToken(deps.keyring.tracking.current, 'weekly-report', mailId)}`;
}

/**
 * Returns the member of an unsubscribe link and the member's opt-out state. Undefined for an invalid link, or if the
 * member has left the workspace. Compares the token in constant time.
 */
export async function findReportOptOut(deps: Deps, token: string): Promise<ReportOptOut | undefined> {
  const id = readTrackingToken(deps.keyring.tracking.accepted, 'weekly-report', token);
  if (!id) return undefined;
  const [found] = await across(deps.db, 'credential').sql<ReportOptOut>(
    `select o.id as "organizationId", o.name as "organizationName", s.user_id as "userId",
       exists (select from weekly_report_opt_outs x where x.organization_id = o.id and x.user_id = s.user_id) as done
     from weekly_report_mails s join organizations o on o.id = s.organization_id
     join memberships m on m.organization_id = o.id and m.user_id = s.user_id where s.id = :id`,
    { id },
  );
  return found;
}

/** Unsubscribes a member from the reports, or subscribes them again. Repeated calls change nothing. */
export async function setReportOptOut(
  deps: Deps,
  { organizationId, userId, done }: ReportOptOut,
  wanted: 'stop' | 'resume',
  requestId: string,
): Promise<void> {
  if (done === (wanted === 'stop')) return;
  await transact(systemCtx(deps, organizationId, requestId), async (tx) => {
    if (wanted === 'stop')
      await tx.org.sql(
        `insert into weekly_report_opt_outs (organization_id, user_id, created_at) values (:org, :user, :now) on conflict do nothing`,
        { user: userId, now: tx.now },
      );
    else await tx.org.table('weekly_report_opt_outs').where({ user_id: userId }).delete();
    tx.audit({
      action: wanted === 'stop' ? 'unsubscribe' : 'subscribe',
      entityType: 'weekly_report',
      entityId: userId,
      metadata: { by: 'link' },
    });
  });
}
