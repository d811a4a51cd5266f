import { Context } from '@temporalio/activity';
import { deliverTurn } from '../domain/connect/integrations/deliver.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import type { TargetLimits } from '../lib/target-limits.ts';
import type { IntegrationDeliveryActivities } from '../workflows/integration-delivery/contract.ts';
import { orBlock } from './blocking.ts';
import { contextOf } from './context.ts';
import { withPulse } from './pulse.ts';

/** Activities of deliveries to providers. Each delivery is settled by itself, so an attempt whose worker died is repeated for what it had under way. */
export function createIntegrationDeliveryActivities(
  deps: Deps,
  { limits }: { limits: TargetLimits },
): IntegrationDeliveryActivities {
  return {
    deliverToProvider: ({ organizationId, connectionId }) =>
      orBlock(deps, organizationId, (reached) => {
        const signal = Context.current().cancellationSignal;
        return withPulse(() => deliverTurn(contextOf(deps, organizationId), connectionId, { limits, signal, reached }));
      }),
  };
}
