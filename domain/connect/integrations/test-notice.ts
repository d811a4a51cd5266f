import { newId } from '../../../lib/ids.ts';
import { message, type Message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { isTrigger, sampleData } from '../triggers/vocabulary.ts';
import { openAccount, logRun, recordReauth } from './account.ts';
import { readConnection } from './connections.ts';
import { failureReason } from './failure.ts';
import { ReauthRequired, type ActionContact, type Provider } from './providers/provider.ts';
import { findAction } from './registry.ts';
import type { Subscription } from './subscriptions.ts';

/** Default trigger of a test, if no subscription names one. */
const USUAL_TRIGGER = 'email.replied';

/** The contact of the synthetic event. */
const CONTACT: ActionContact = {
  id: '00000000-0000-0000-0000-000000000000',
  email: 'test@example.com',
  first_name: 'Test',
  last_name: 'Contact',
  company: 'Example',
  phone: '',
  custom_fields: {},
};

/**
 * Sends a synthetic event with a connection's notice actions: those of its enabled subscriptions, otherwise the
 * provider's first one without required settings. Failures are written to the connection's log.
 * @returns true if an event was sent
 * @throws AppError not_found
 */
export async function fireTest(ctx: Ctx, connectionId: string): Promise<boolean> {
  const connection = await readConnection(ctx, connectionId);
  const { provider, call, refused } = openAccount(ctx, connection);
  const startedAt = ctx.clock.now();
  let sent = 0;
  let problem: Message | null = null;
  for (const { action: name, config, trigger } of await noticesOf(ctx, connection.id, provider)) {
    const action = findAction(provider, name)!;
    try {
      await action.perform(call, {
        config: action.config.parse(config),
        deliveryId: newId(),
        trigger,
        data: isTrigger(trigger) ? sampleData(trigger) : {},
        occurredAt: startedAt,
        contact: CONTACT,
        record: {},
        fields: {},
        isTest: true,
      });
      sent += 1;
    } catch (error) {
      problem = failureReason(ctx, error, provider);
      if (error instanceof ReauthRequired) await recordReauth(ctx, refused(error), problem);
    }
  }
  if (sent > 0 || problem !== null)
    await logRun(ctx, connection.id, {
      kind: 'dispatch',
      status: problem === null ? 'success' : 'error',
      detail: problem === null ? message('connect.test_sent') : message('connect.test_failed', { reason: problem }),
      records: sent,
      startedAt,
    });
  return sent > 0;
}

interface Notice {
  action: string;
  config: Record<string, unknown>;
  trigger: string;
}

async function noticesOf(ctx: Ctx, connectionId: string, provider: Provider): Promise<Notice[]> {
  const rows = await reader(ctx).sql<Subscription>(
    'select * from integration_subscriptions where organization_id = :org and connection_id = :id and enabled order by id',
    { id: connectionId },
  );
  const subscribed = rows
    .filter(({ action }) => findAction(provider, action)?.isNotice)
    .map(({ action, config, event_type: trigger }) => ({ action, config, trigger }));
  if (subscribed.length > 0) return subscribed;
  const free = Object.entries(provider.actions).find(
    ([, action]) => action.isNotice && action.config.safeParse({}).success,
  );
  return free ? [{ action: `${provider.id}.${free[0]}`, config: {}, trigger: USUAL_TRIGGER }] : [];
}
