import { created } from '../../platform/changes.ts';
import { json } from '../../../db/connection.ts';
import type { Row } from '../../../db/rows.ts';
import { AppError, notFound, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { may } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { assertBelowLimit } from '../../platform/full-list.ts';
import { isTrigger } from '../triggers/vocabulary.ts';
import { requireConnection, readConnection } from './connections.ts';
import { actionProblems, addDeliveries, type NewDelivery } from './enqueue.ts';
import { nativeProblems, performNative } from './native.ts';
import { findProvider, NATIVE, partsOfAction } from './registry.ts';

export type Subscription = Row<'integration_subscriptions'>;

/** An event type, and the action to perform on it. */
interface SubscriptionInput {
  event_type: string;
  action: string;
  config?: Record<string, unknown> | undefined;
  enabled?: boolean | undefined;
}

/** Maximum number of subscriptions, because every event is matched against all subscriptions of its trigger. */
const MAX_SUBSCRIPTIONS = 100;

/** Lists the subscriptions of one connection, oldest first. @throws AppError not_found */
export async function listSubscriptions(ctx: Ctx, connectionId: string): Promise<Subscription[]> {
  const { id } = await readConnection(ctx, connectionId);
  return reader(ctx).sql<Subscription>(
    'select * from integration_subscriptions where organization_id = :org and connection_id = :id order by id',
    { id },
  );
}

/** Lists problems of a subscription. Problems of its action are listed only if the connection exists. */
export async function subscriptionProblems(
  ctx: Ctx,
  connectionId: string,
  input: Partial<SubscriptionInput>,
): Promise<Problem[]> {
  const [connection] = isUuid(connectionId)
    ? await reader(ctx).sql<{ provider: string }>(
        'select provider from integration_connections where organization_id = :org and id = :id',
        { id: connectionId },
      )
    : [];
  return problemsOf(connection, input);
}

function problemsOf(connection: { provider: string } | undefined, input: Partial<SubscriptionInput>): Problem[] {
  const problems: Problem[] = [];
  if (input.event_type !== undefined && !isTrigger(input.event_type))
    problems.push({ path: 'body.event_type', message: message('connect.unknown_trigger') });
  if (input.action === undefined || !connection || !findProvider(connection.provider)) return problems;
  const config = input.config ?? {};
  const found =
    partsOfAction(input.action).provider === NATIVE
      ? nativeProblems(input.action, config)
      : actionProblems(connection, input.action, config);
  return [...problems, ...found];
}

/**
 * Creates a subscription. Its action is performed for every later event that matches. A native action changes contacts,
 * so it requires the rights of the API routes that change contacts.
 * @throws AppError not_found, bad_request (also at the limit of subscriptions), forbidden
 */
export async function createSubscription(
  ctx: Ctx,
  connectionId: string,
  input: SubscriptionInput,
): Promise<Subscription> {
  return transact(ctx, async (tx) => {
    const connection = await requireConnection(tx.org, connectionId);
    refuseProblems(problemsOf(connection, input));
    if (partsOfAction(input.action).provider === NATIVE && !may(ctx.actor, ['WRITE_CONTACTS'], ['manage_contacts']))
      throw new AppError('forbidden', message('connect.action_right', { action: input.action }));
    const bound = { most: MAX_SUBSCRIPTIONS, what: message('connect.subscriptions') };
    await assertBelowLimit(tx, 'integration_subscriptions', bound, { connection_id: connection.id });
    const [row] = await tx.org.sql<Subscription>(
      `insert into integration_subscriptions (id, organization_id, connection_id, event_type, action, config, enabled, use_case, created_at, updated_at)
       values (:id, :org, :connection, :event, :action, cast(:config as jsonb), :enabled, :use, :now, :now) returning *`,
      {
        id: newId(),
        connection: connection.id,
        event: input.event_type,
        action: input.action,
        config: json(input.config ?? {}),
        enabled: input.enabled ?? true,
        use: useCase(connection.provider, input.action),
        now: tx.now,
      },
    );
    tx.audit({
      action: 'integration.event_added',
      entityType: 'integration_connection',
      entityId: connection.id,
      changes: created({ event_type: input.event_type, action: input.action }),
    });
    return row!;
  });
}

/** Classifies a subscription by its purpose, for display. */
function useCase(provider: string, action: string): Subscription['use_case'] {
  if (partsOfAction(action).provider === NATIVE) return 'custom';
  const category = findProvider(provider)?.category;
  return category === 'crm' ? 'crm_sync' : category === 'notifications' ? 'notify' : 'custom';
}

/** Deletes a subscription. Its queued deliveries are still made. @throws AppError not_found */
export async function deleteSubscription(ctx: Ctx, connectionId: string, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const connection = await requireConnection(tx.org, connectionId);
    const gone = isUuid(id)
      ? await tx.org.table('integration_subscriptions').where({ id, connection_id: connection.id }).delete()
      : 0;
    if (Number(gone) === 0) throw notFound('event_subscription');
    tx.audit({ action: 'integration.event_removed', entityType: 'integration_connection', entityId: connection.id });
  });
}

/** An event as passed to subscriptions. */
export interface EventOccurrence {
  trigger: string;
  contactId: string | null;
  data: Record<string, unknown>;
  occurredAt: Date;
}

/**
 * Queues the provider actions of subscriptions that match events, in order. Performs native actions immediately, in the
 * same transaction.
 * @returns the number of actions
 */
export async function enqueueForEvents(tx: Tx, happenings: readonly EventOccurrence[]): Promise<number> {
  if (happenings.length === 0) return 0;
  const subscriptions = await tx.org.sql<Subscription>(
    `select s.* from integration_subscriptions s join integration_connections c on c.id = s.connection_id
     where s.organization_id = :org and s.enabled and s.event_type = any(:types) and c.status <> 'disconnected' order by s.id`,
    { types: [...new Set(happenings.map(({ trigger }) => trigger))] },
  );
  if (subscriptions.length === 0) return 0;
  const deliveries: NewDelivery[] = [];
  let actions = 0;
  for (const { trigger, contactId, data, occurredAt } of happenings) {
    for (const subscription of subscriptions) {
      if (subscription.event_type !== trigger) continue;
      const { action, config, connection_id: connectionId, id: subscriptionId } = subscription;
      actions += 1;
      if (partsOfAction(action).provider === NATIVE) await performNative(tx, { action, config, contactId });
      else
        deliveries.push({
          connectionId,
          action,
          config,
          // A contact's deletion also deletes its deliveries, so the delivery of `contact.deleted` has no contact.
          contactId: trigger === 'contact.deleted' ? null : contactId,
          data,
          trigger,
          occurredAt,
          source: null,
          subscriptionId,
        });
    }
  }
  await addDeliveries(tx, deliveries);
  return actions;
}
