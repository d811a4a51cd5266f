import { activityInfo, Context } from '@temporalio/activity';
import { deliverTurn } from '../domain/integrations/deliver.ts';
import { systemCtx, type Deps } from '../domain/kernel/context.ts';
import type { TargetLimits } from '../lib/target-limits.ts';
import type { IntegrationDeliveryActivities } from '../workflows/integration-delivery/contract.ts';
import { orBlock } from './blocking.ts';
import { withPulse } from './pulse.ts';

/** Activities of deliveries to providers. Each delivery is settled by itself, so an attempt whose worker died is repeated for what it had under way. */
export function createIntegrationActivities(
  deps: Deps,
  { limits }: { limits: TargetLimits },
): IntegrationDeliveryActivities {
  return {
    deliverToProvider: ({ organizationId, connectionId }) =>
      orBlock(deps, organizationId, (reached) => {
        const workflowId = activityInfo().workflowExecution?.workflowId ?? 'integration-delivery';
        const signal = Context.current().cancellationSignal;
        return withPulse(() =>
          deliverTurn(systemCtx(deps, organizationId, workflowId), connectionId, { limits, signal, reached }),
        );
      }),
  };
}
