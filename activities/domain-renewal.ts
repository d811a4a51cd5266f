import { renewalTurn } from '../domain/billing/domain-renewals/turn.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import type { DomainRenewalActivities } from '../workflows/domain-renewal/contract.ts';
import { callVerb } from './call-verb.ts';

/** Activities of the renewals of a domain. An answer of a provider, or none, is a result and not an error. */
export function createDomainRenewalActivities(deps: Deps): DomainRenewalActivities {
  return {
    renewalTurn: (args) => callVerb(deps, args, (ctx) => renewalTurn(ctx, args.domainId)),
  };
}
