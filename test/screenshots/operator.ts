import { transact } from '../../domain/platform/kernel/transact.ts';
import { addDeadLetter } from '../../domain/platform/dead-letters.ts';
import { newId } from '../../lib/ids.ts';
import { createDelivery } from '../harness/webhook-rows.ts';
import { createEndpoint } from '../harness/webhooks.ts';
import { HOSTILE, WIDE, type PageToSee, type Stage } from './stage.ts';
import { externalText } from '../../domain/platform/external-text.ts';

/** Creates an installation with findings, stuck work, and webhook endpoints that work, fail and are disabled. */
export async function sceneOfOperator({ world, tenant }: Stage): Promise<PageToSee[]> {
  const { deps } = world;
  const { organizationId, userId } = tenant;
  await deps.db('users').where({ id: userId }).update({ is_platform_admin: true });
  await transact(world.system(organizationId), async (tx) => {
    const letter = { taskId: newId(), payload: {}, attempts: 1, maxAttempts: 0, nextRetryAt: null };
    await addDeadLetter(tx, {
      ...letter,
      taskType: 'uncertain_email',
      payload: { campaign_id: newId() },
      error: externalText('the email may have left: connection closed after the last line'),
    });
    await addDeadLetter(tx, {
      ...letter,
      taskType: 'campaign_email',
      attempts: 5,
      maxAttempts: 5,
      error: externalText(`450 4.2.1 ${HOSTILE} ${WIDE}`),
    });
  });
  const now = deps.clock.now();
  const { id } = await createEndpoint(deps, organizationId, 'https://hooks.northwind.example/heron', {
    description: 'Our CRM',
    last_success_at: now,
  });
  await createEndpoint(deps, organizationId, `https://hooks.example.com/${'long/'.repeat(30)}`, {
    description: HOSTILE,
    consecutive_failures: 4,
    last_failure_at: now,
    last_failure_reason: externalText(WIDE),
    disabled_reason: externalText('It failed for three days'),
    enabled: false,
  });
  await createDelivery(deps, organizationId, id);
  await createDelivery(deps, organizationId, id, {
    status: 'abandoned',
    attempt_count: 8,
    response_status: 500,
    response_body_excerpt: HOSTILE,
    error_reason: externalText(`answered 500 ${WIDE}`),
  });
  return [
    ['operations', '/operations'],
    ['operations-no-admin', '/operations', 'empty'],
    ['operations-stuck', '/operations/stuck'],
    ['operations-stuck-empty', '/operations/stuck', 'empty'],
    ['operations-webhooks', '/operations/webhooks'],
    ['operations-webhooks-empty', '/operations/webhooks', 'empty'],
    ['operations-webhook', `/operations/webhooks/${id}`],
    ['operations-audit', '/operations/audit'],
    ['operations-settings', '/operations/settings'],
  ];
}
