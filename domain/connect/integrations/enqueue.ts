import { json } from '../../../db/connection.ts';
import { notFound, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { signal } from '../../../temporal/dispatch.ts';
import {
  integrationDeliveryWorkflow,
  type IntegrationDeliverySignals,
} from '../../../workflows/integration-delivery/contract.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { findAction, providerOf, schemaFaults } from './registry.ts';

/** An action requested of a provider. */
interface ActionRequest {
  connectionId: string;
  /** Full name, such as `slack.notify`. */
  action: string;
  /** Config of the action, valid by the action's schema. */
  config: Record<string, unknown>;
  /** The contact of the action. Actions about one contact run in order. */
  contactId: string | null;
  /** Data of the triggering event, for texts and mappings. */
  data: Record<string, unknown>;
  /** The trigger that caused the action, such as `email.replied`. */
  trigger?: string | null;
  /** Time of the event. Defaults to now. */
  occurredAt?: Date;
  /**
   * Identifies the requester by ids and kinds. The event `integration.action_settled` contains it, and is emitted only
   * if a source is given.
   */
  source: Record<string, string> | null;
}

/**
 * Queues an action for a connection's provider, in the caller's transaction. The action is done at least once. An
 * unreachable provider only delays the action. The result is reported by the event `integration.action_settled` with
 * the given source.
 * @returns the id of the delivery
 * @throws AppError not_found for a connection or contact that the workspace does not have
 * @throws AppError bad_request for an action that the provider does not have, or for a config that does not fit it
 */
export async function enqueueProviderAction(tx: Tx, request: ActionRequest): Promise<string> {
  const { connectionId, contactId } = request;
  const [row] = await tx.org.sql<{ id: string; provider: string; known: boolean }>(
    `select c.id, c.provider, (cast(:contact as uuid) is null
       or exists (select from contacts p where p.organization_id = :org and p.id = :contact)) as known
     from integration_connections c where c.organization_id = :org and c.id = :id`,
    { id: isUuid(connectionId) ? connectionId : null, contact: contactId },
  );
  if (!row) throw notFound('connection');
  if (!row.known) throw notFound('contact');
  refuseProblems(actionProblems(row, request.action, request.config));
  const [id] = await addDeliveries(tx, [
    {
      // Uses the id as stored, because the id of the connection's workflow contains it.
      connectionId: row.id,
      action: request.action,
      config: request.config,
      contactId,
      data: request.data,
      trigger: request.trigger ?? null,
      occurredAt: request.occurredAt ?? tx.now,
      source: request.source,
      subscriptionId: null,
    },
  ]);
  return id!;
}

/**
 * Lists problems of an action and its config for a connection. `path` is the location of both in the caller's input.
 */
export function actionProblems(
  connection: { provider: string },
  action: string,
  config: unknown,
  path = 'body',
): Problem[] {
  const found = findAction(providerOf(connection), action);
  if (!found)
    return [{ path: `${path}.action`, message: message('connect.unknown_action', { provider: connection.provider }) }];
  return schemaFaults(found.config, config, `${path}.config`);
}

/** A delivery to be stored. */
export interface NewDelivery {
  connectionId: string;
  action: string;
  config: Record<string, unknown>;
  contactId: string | null;
  data: Record<string, unknown>;
  trigger: string | null;
  occurredAt: Date;
  source: Record<string, string> | null;
  subscriptionId: string | null;
}

/**
 * Stores deliveries in their order, except those of deleted contacts. Locks contacts against deletion, and then lanes
 * (the ordered queues of contacts), both in a fixed order. Therefore deliveries of a lane are in the order of their
 * commits, and a lane is not deleted while a delivery is added.
 * @returns the ids in the order of the input, including those that were not stored
 */
export async function addDeliveries(tx: Tx, given: readonly NewDelivery[]): Promise<string[]> {
  if (given.length === 0) return [];
  const ids = given.map(() => newId());
  await tx.org.sql(
    `with standing as materialized (
       select id from contacts where organization_id = :org and id = any(cast(:contacts as uuid[])) order by id for key share
     )
     insert into integration_lanes (connection_id, lane_id, organization_id, due_at)
     select distinct g.connection_id, g.lane_id, cast(:org as uuid), cast(:now as timestamptz)
     from unnest(cast(:connections as uuid[]), cast(:lanes as uuid[]), cast(:contacts as uuid[])) as g(connection_id, lane_id, contact_id)
     where g.contact_id is null or g.contact_id in (select id from standing)
     order by 1, 2
     on conflict (connection_id, lane_id) do update set due_at = integration_lanes.due_at`,
    {
      now: tx.now,
      connections: given.map(({ connectionId }) => connectionId),
      lanes: given.map(({ connectionId, contactId }) => contactId ?? connectionId),
      contacts: given.map(({ contactId }) => contactId),
    },
  );
  await tx.org.sql(
    `insert into integration_deliveries
       (id, organization_id, connection_id, lane_id, contact_id, subscription_id, action, config, trigger_event, data, occurred_at, source, state, created_at)
     select g.id, :org, g.connection_id, g.lane_id, g.contact_id, g.subscription_id, g.action, cast(g.config as jsonb), g.trigger_event,
       cast(g.data as jsonb), g.occurred_at, cast(g.source as jsonb), 'pending', :now
     from unnest(cast(:ids as uuid[]), cast(:connections as uuid[]), cast(:lanes as uuid[]), cast(:contacts as uuid[]), cast(:subscriptions as uuid[]),
       cast(:actions as text[]), cast(:configs as text[]), cast(:triggers as text[]), cast(:payloads as text[]), cast(:times as timestamptz[]),
       cast(:sources as text[])) with ordinality
       as g(id, connection_id, lane_id, contact_id, subscription_id, action, config, trigger_event, data, occurred_at, source, place)
     where g.contact_id is null or exists (select from contacts p where p.organization_id = :org and p.id = g.contact_id)
     order by g.place`,
    {
      now: tx.now,
      ids,
      connections: given.map(({ connectionId }) => connectionId),
      lanes: given.map(({ connectionId, contactId }) => contactId ?? connectionId),
      contacts: given.map(({ contactId }) => contactId),
      subscriptions: given.map(({ subscriptionId }) => subscriptionId),
      actions: given.map(({ action }) => action),
      configs: given.map(({ config }) => json(config)),
      triggers: given.map(({ trigger }) => trigger),
      payloads: given.map(({ data }) => json(data)),
      times: given.map(({ occurredAt }) => occurredAt.toISOString()),
      sources: given.map(({ source }) => (source ? json(source) : null)),
    },
  );
  for (const connectionId of new Set(given.map((delivery) => delivery.connectionId)))
    signalDeliveries(tx, connectionId, given[0]!.source ? 'action' : 'event');
  return ids;
}

/** Signals the workflow that makes a connection's deliveries, after the commit. Starts the workflow if none is open. */
export function signalDeliveries(
  tx: Tx,
  connectionId: string,
  cause: IntegrationDeliverySignals['more']['cause'],
): void {
  const args = { organizationId: tx.org.organizationId, connectionId };
  tx.intend(signal(integrationDeliveryWorkflow, args, 'more', { cause }));
}
