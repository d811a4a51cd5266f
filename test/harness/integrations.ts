import { newSigningSecret, sealCredentials } from '../../domain/connect/integrations/account.ts';
import { insertConnection } from '../../domain/connect/integrations/connections.ts';
import { findProvider } from '../../domain/connect/integrations/registry.ts';
import { createSubscription } from '../../domain/connect/integrations/subscriptions.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { newId } from '../../lib/ids.ts';
import { makeDueDeliveries } from '../../domain/connect/integrations/deliver.ts';
import { browserSession } from '../../domain/identity/browser-session.ts';
import { SUBSCRIBERS } from '../../domain/operations/subscribers/index.ts';
import { TargetLimits } from '../../lib/target-limits.ts';
import type { DeliveryReport } from '../../workflows/integration-delivery/contract.ts';
import type { Tenant } from './factories.ts';
import { react } from './reactions.ts';
import { call, type World } from './world.ts';

/** Applies all events to subscribers and runs one iteration of deliveries, like a worker. */
export async function deliverNow(world: World, organizationId: string, connectionId: string): Promise<DeliveryReport> {
  await react(world.deps, SUBSCRIBERS);
  return makeDueDeliveries(world.system(organizationId), connectionId, {
    limits: new TargetLimits({ total: 20, perTarget: 20 }),
    signal: new AbortController().signal,
  });
}

/** Connects an account by pasted credentials. Returns the connection as the API shows it. */
export async function connect(world: World, { apiKey: token }: Tenant, provider: string, config: object): Promise<any> {
  const { status, body, text } = await call(world, 'POST', '/v1/integrations/connections', {
    token,
    body: { provider, config },
  });
  if (status !== 201) throw new Error(`not connected: ${text}`);
  return body;
}

/** Adds an event subscription to a connection. */
export async function subscribe(
  world: World,
  { apiKey: token }: Tenant,
  connectionId: string,
  body: { event_type: string; action: string; config?: object },
): Promise<any> {
  const made = await call(world, 'POST', `/v1/integrations/connections/${connectionId}/events`, { token, body });
  if (made.status !== 201) throw new Error(`not subscribed: ${made.text}`);
  return made.body;
}

/** Returns the cookie of a person who is signed in on this server's pages. */
export async function browserCookie(
  world: Pick<World, 'deps'>,
  { userId, organizationId }: Pick<Tenant, 'userId' | 'organizationId'>,
): Promise<string> {
  const session = await world.deps
    .db('sessions')
    .where({ user_id: userId, organization_id: organizationId })
    .orderBy('id', 'desc')
    .first('id');
  const { value } = await browserSession(world.deps, { sessionId: session.id, userId } as never);
  return `heron_session=${value}`;
}

/** Inserts the row of a webhook connection; nothing listens at its URL. */
export async function createConnectionRow(
  world: World,
  { organizationId }: Pick<Tenant, 'organizationId'>,
): Promise<string> {
  const ctx = world.system(organizationId);
  const id = newId();
  const provider = findProvider('n8n')!;
  await transact(ctx, (tx) =>
    insertConnection(ctx, tx, {
      id,
      provider,
      label: 'Webhook',
      account: { id, name: 'n8n' },
      sealed: sealCredentials(ctx.keyring, id, { webhook_url: 'http://127.0.0.1:9/webhook/none' }),
      tokenEnds: null,
      scopes: [],
      apiBase: null,
      signing: newSigningSecret(ctx.keyring, id).sealed,
      inbound: null,
    }),
  );
  return id;
}

/** Inserts the row of an event subscription. */
export async function createSubscriptionRow(
  world: World,
  { organizationId }: Pick<Tenant, 'organizationId'>,
  connectionId: string,
): Promise<string> {
  const input = { event_type: 'contact.created', action: 'n8n.send_webhook' };
  return (await createSubscription(world.system(organizationId), connectionId, input)).id;
}
