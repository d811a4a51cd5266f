import { createHmac } from 'node:crypto';
import { newSigningSecret, sealCredentials } from '../../domain/connect/integrations/account.ts';
import { newSecret, sha256 } from '../../lib/crypto.ts';
import { startClose } from '../doubles/index.ts';
import { createConnectionRow } from '../harness/integrations.ts';
import type { Ground, Make } from './ground.ts';

/** Bodies and parameters with which operations on integrations succeed, including a booking signed like Cal.com's. */
export const REACHING_INTEGRATIONS: Record<string, Make> = {
  'integrations.connect': () => ({
    body: { provider: 'n8n', config: { webhook_url: 'http://127.0.0.1:9/webhook/none' } },
  }),
  'integrations.startOAuth': () => ({ body: { provider: 'hubspot' } }),
  'integrations.updateConfig': () => ({ body: { sync_direction: 'both' } }),
  'integrations.createEventSubscription': () => ({
    body: { event_type: 'contact.created', action: 'n8n.send_webhook' },
  }),
  'integrations.replaceFieldMappings': () => ({
    body: { mappings: [{ external_field: 'company', sendsets_field: 'company' }] },
  }),
  'integrations.pushContacts': async (ground) => ({
    body: { contact_ids: [ground.contactId] },
    params: { id: await createCrm(ground) },
  }),
  'integrations.receiveBooking': async ({ world, tenant }) => {
    const id = await createConnectionRow(world, tenant);
    const token = newSecret();
    const { secret, sealed } = newSigningSecret(world.deps.keyring, id);
    await world.deps
      .db('integration_connections')
      .where({ id })
      .update({ provider: 'cal_com', inbound_hash: sha256(token), signing_secret: sealed });
    const now = world.deps.clock.now();
    const body = {
      triggerEvent: 'BOOKING_CREATED',
      createdAt: now.toISOString(),
      payload: {
        uid: token,
        startTime: now.toISOString(),
        endTime: now.toISOString(),
        attendees: [{ email: 'lea@lead.test', name: 'Lea' }],
      },
    };
    return {
      params: { token },
      body,
      headers: { 'x-cal-signature-256': createHmac('sha256', secret).update(JSON.stringify(body)).digest('hex') },
    };
  },
  // The browser has no signed-in person, so the page answers 404.
  'pages.integrationConsent': () => ({ query: { state: 'unknown', code: 'code' }, status: 404 }),
};

/** Stub of a CRM that all requests share; it runs until the process ends. */
let crm: ReturnType<typeof startClose> | undefined;

async function createCrm({ world, tenant }: Ground): Promise<string> {
  const id = await createConnectionRow(world, tenant);
  crm ??= startClose();
  const double = await crm;
  await world.deps
    .db('integration_connections')
    .where({ id })
    .update({
      provider: 'close',
      api_base: `${double.url}/api/v1`,
      sealed: sealCredentials(world.deps.keyring, id, { api_key: [...double.keys][0]! }),
    });
  return id;
}
