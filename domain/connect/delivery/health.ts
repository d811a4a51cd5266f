import { json } from '../../../db/connection.ts';
import { message } from '../../../messages/index.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { render } from '../../../messages/render.ts';

/** An endpoint whose latest deliveries all failed, with the start (RFC 3339) and the number of these failures. */
interface Failing {
  id: string;
  organization_id: string;
  since: string;
  failures: number;
}

/**
 * Disables endpoints that have failed for at least WEBHOOK_DISABLE_AFTER_MS and at least WEBHOOK_DISABLE_AFTER_FAILURES
 * times in a row. Their waiting deliveries are abandoned when they are due.
 */
export async function switchOffFailing(deps: Deps, endpoints: readonly Failing[]): Promise<void> {
  const { WEBHOOK_DISABLE_AFTER_MS: afterMs, WEBHOOK_DISABLE_AFTER_FAILURES: afterFailures } = deps.config;
  const before = deps.clock.now().getTime() - afterMs;
  for (const { id, organization_id: organizationId, since, failures } of endpoints) {
    if (failures < afterFailures || new Date(since).getTime() > before) continue;
    await transact(systemCtx(deps, organizationId, `webhook-endpoint/${id}`), async (tx) => {
      const reason = message('connect.switched_off', { failures, since: new Date(since).toISOString() });
      const changed = (await tx.org
        .table('webhook_endpoints')
        .where({ id, enabled: true })
        .whereNotNull('failing_since')
        .update({ enabled: false, disabled_reason: json(reason), updated_at: tx.now })) as unknown as number;
      if (changed > 0)
        tx.audit({
          action: 'webhook.disabled',
          entityType: 'webhook',
          entityId: id,
          changes: { enabled: { from: true, to: false } },
          metadata: { reason: render(reason), failures },
        });
    });
  }
}
