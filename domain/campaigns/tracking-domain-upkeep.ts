import { across } from '../../db/across.ts';
import type { Columns } from '../../db/rows.ts';
import { HOUR_MS, MINUTE_MS } from '../../lib/clock.ts';
import type { SystemMessage } from '../../lib/mail/index.ts';
import { message, toLanguage } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';
import { headerText } from '../mail/messages/text.ts';
import { sendClaimedMail } from '../platform/claimed-mail.ts';
import { systemCtx, type Ctx, type Deps } from '../platform/kernel/context.ts';
import { reader, singleStatement, transact } from '../platform/kernel/transact.ts';
import {
  fixOf,
  healthFault,
  pointsAt,
  putBackInUse,
  takeOutOfUse,
  trackingHost,
  type TrackingDomainFault,
} from './tracking-domain-use.ts';

/** Number of domains that are checked at the same time. */
const PAGE = 20;
/** Maximum duration (ms) of one round. The next sweep continues where it ended. */
const ROUND_MS = 4 * MINUTE_MS;

/**
 * Checks the tracking domains that are due. A domain is due daily, or hourly while it fails. A domain that fails is
 * disabled, and the owners of its workspace are mailed once; a domain that works again is re-enabled.
 * @returns the number of checked domains
 */
export async function checkTrackingDomains(deps: Deps, signal: AbortSignal): Promise<number> {
  const endsAt = performance.now() + ROUND_MS;
  let checked = 0;
  while (performance.now() < endsAt && !signal.aborted) {
    const now = deps.clock.now();
    const due = await across(deps.db, 'maintenance').sql<Columns<'tracking_domains', 'domain' | 'organization_id'>>(
      `with due as (
         select domain from tracking_domains where check_due_at <= :now order by check_due_at limit :page for update skip locked)
       update tracking_domains t set check_due_at = :next from due where t.domain = due.domain
       returning t.domain, t.organization_id`,
      { now, page: PAGE, next: new Date(now.getTime() + HOUR_MS) },
    );
    if (due.length === 0) break;
    const checks = due.map(({ domain, organization_id: organizationId }) =>
      checkOne(systemCtx(deps, organizationId, 'sweep'), domain).catch((error: unknown) => {
        deps.log.warn({ err: error, organizationId }, 'a tracking domain could not be checked');
      }),
    );
    await Promise.all(checks);
    checked += due.length;
  }
  await mailFaults(deps);
  return checked;
}

async function checkOne(ctx: Ctx, domain: string): Promise<void> {
  const names = await ctx.dns.cname(domain);
  // Changes nothing after a failed DNS query, because the failure does not show that the domain's records are wrong.
  // The next check is in an hour.
  if (names === null) return;
  const fault = pointsAt(names, trackingHost(ctx)) ? await healthFault(ctx, domain) : 'dns';
  await transact(ctx, async (tx) => {
    if (!fault) return putBackInUse(tx, domain);
    if (await takeOutOfUse(tx, domain, fault))
      await tx.org.table('tracking_domains').where({ domain }).update({ is_reported: false });
    return undefined;
  });
}

interface UnreportedFault extends Columns<'tracking_domains', 'domain' | 'organization_id'> {
  fault: TrackingDomainFault;
  workspace: string;
}

/** Mails the owners of workspaces whose domain has failed since the last sweep. */
async function mailFaults(deps: Deps): Promise<void> {
  const faults = await across(deps.db, 'maintenance').sql<UnreportedFault>(
    `with due as (select domain from tracking_domains where not is_reported limit :page for update skip locked)
     update tracking_domains t set is_reported = true from due, organizations o
     where t.domain = due.domain and o.id = t.organization_id and t.fault is not null
     returning t.domain, t.organization_id, t.fault, o.name as workspace`,
    { page: PAGE },
  );
  for (const fault of faults) await mailOwners(systemCtx(deps, fault.organization_id, 'sweep'), fault);
}

async function mailOwners(ctx: Ctx, fault: UnreportedFault): Promise<void> {
  const owners = await reader(ctx).sql<{ email: string; language: string | null }>(
    `select u.email, coalesce(u.language, o.language) as language from memberships m join roles r on r.id = m.role_id and r.is_owner
       join users u on u.id = m.user_id join organizations o on o.id = m.organization_id
     where m.organization_id = :org order by u.id`,
  );
  // Marks the fault as not reported, so that the next sweep sends the mail again.
  const again = () =>
    singleStatement(ctx).table('tracking_domains').where({ domain: fault.domain }).update({ is_reported: false });
  for (const owner of owners)
    await sendClaimedMail(
      ctx,
      faultMail(ctx, owner, fault),
      { update: async () => {}, delete: again },
      { organizationId: fault.organization_id },
    );
}

function faultMail(
  ctx: Pick<Ctx, 'config'>,
  owner: { email: string; language: string | null },
  { domain, fault, workspace }: UnreportedFault,
): SystemMessage {
  const language = toLanguage(owner.language);
  const cause = message(`tracking.${fault}`);
  const about = { domain, workspace: headerText(workspace), cause, host: trackingHost(ctx) };
  return {
    to: owner.email,
    subject: render(message('mail.tracking_domain.subject', { domain }), language),
    text: `${render(message('mail.tracking_domain', about), language)}\n\n${render(fixOf(ctx, domain, fault), language)}\n`,
  };
}
