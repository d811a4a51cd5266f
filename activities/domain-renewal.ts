import { retryRenewal } from '../domain/billing/domain-renewals/paid.ts';
import { advanceRenewal } from '../domain/billing/domain-renewals/advance.ts';
import { RENEWAL } from '../domain/platform/dead-letters.ts';
import { domainRenewalWorkflow, type DomainRenewalActivities } from '../workflows/domain-renewal/contract.ts';
import { callVerb } from './call-verb.ts';
import { family } from './family.ts';

/**
 * Workflow and activities for the renewals of managed domains. A provider's refusal or missing answer is a result of an
 * activity, not an error.
 */
export const domainRenewal = family<DomainRenewalActivities>({
  contract: domainRenewalWorkflow,
  queue: 'batch',
  activities: ({ deps }) => ({
    renewalTurn: (args) => callVerb(deps, args, (ctx) => advanceRenewal(ctx, args.domainId)),
  }),
  mustBeOpen: {
    table: 'managed_domains',
    open: `managed_domains.state = 'active'
       or managed_domains.state = 'lapsed' and exists (
         select from domain_renewals r
         where r.domain_id = managed_domains.id and r.expires_at = managed_domains.expires_at and r.state <> 'ended')`,
  },
  blocked: {
    taskType: RENEWAL,
    restricted: 'hidden',
    table: 'domain_renewals',
    key: 'domain_id',
    open: `state in ('scheduled', 'charging', 'renewing', 'requires_action')`,
    isStamped: true,
    retry: retryRenewal,
  },
});
