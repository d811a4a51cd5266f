import { createAppConnection } from '../../../domain/connect/app-connections/connections.ts';
import { systemCtx } from '../../../domain/platform/kernel/context.ts';
import { listenHttp, type Listening } from '../../../lib/listen.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPolicy } from '../../harness/approvals.ts';
import type { TestAssembly } from '../../harness/database.ts';
import {
  createApiKey,
  createCampaign,
  createMailbox,
  createMember,
  createTenant,
  type Tenant,
} from '../../harness/factories.ts';
import type { MailWorld } from '../../harness/mail.ts';
import type { Flow } from './plan.ts';

/** Call received by the customer's app. */
export interface AppCall {
  marker: string;
  eventId: string;
  /** Time (epoch ms) at which the call arrived. */
  at: number;
}

/** Customer's app. It runs in this process and is never killed. */
export interface App {
  url: string;
  calls: AppCall[];
  stop(): Promise<void>;
}

/** Starts the app. It answers as the flow that is named in the call defines. */
export async function startApp(flowOf: (marker: string) => Flow | undefined): Promise<App> {
  const calls: AppCall[] = [];
  const server: Listening = await listenHttp(
    async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { inputs } = JSON.parse(Buffer.concat(chunks).toString()) as { inputs: { who: string } };
      const marker = inputs.who.split('@')[0]!;
      calls.push({ marker, eventId: String(request.headers['x-service-event-id']), at: Date.now() });
      const flow = flowOf(marker);
      await sleep(flow?.app.delayMs ?? 0);
      response.writeHead(flow?.app.fails ? 500 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ code: `CODE-${marker}` }));
    },
    '127.0.0.1',
    0,
  );
  return {
    url: server.url,
    calls,
    async stop() {
      server.server.closeAllConnections();
      await server.close();
    },
  };
}

/** Workspace of one round. */
export interface Workspace {
  tenant: Tenant;
  /** Two people who may decide approvals. */
  people: [string, string];
  allowedKey: { apiKey: string; apiKeyId: string };
  senderIds: string[];
  /** Mailboxes of warmup flows, by marker. */
  warmupIds: Map<string, string>;
  /** Campaigns of test runs, by marker. */
  testCampaigns: Map<string, { campaignId: string; stepIds: string[] }>;
}

const SENDERS = 4;
const ALWAYS = { warmup_days: 127, warmup_start_time: '00:00', warmup_end_time: '00:00' };
export const EVENT_NAME = 'order.paid';
/** Duration (seconds) to which all waits of a test run are shortened. */
export const TEST_WAIT_SECONDS = 6;

/** Creates the workspace of a round directly in the database; the flows use the API. */
export async function prepareWorkspace(
  { deps }: TestAssembly,
  mail: MailWorld,
  app: App,
  flows: readonly Flow[],
  round: number,
): Promise<Workspace> {
  const tenant = await createTenant(deps, `Flows ${round}`);
  const { organizationId } = tenant;
  const box = async (email: string, fields: Record<string, unknown>): Promise<string> => {
    const made = await mail.addMailbox({ email, password: 'secret' });
    return createMailbox(deps, organizationId, email, { smtp: made.smtp, imap: made.imap }, fields);
  };
  const senderIds: string[] = [];
  for (let n = 0; n < SENDERS; n += 1) senderIds.push(await box(`s${round}x${n}@faults.example.com`, {}));
  const { connection } = await createAppConnection(systemCtx(deps, organizationId, 'faults'), {
    name: 'Shop',
    baseUrl: app.url,
  });
  const warmupIds = new Map<string, string>();
  const testCampaigns: Workspace['testCampaigns'] = new Map();
  for (const flow of flows) {
    const { marker } = flow;
    for (const address of addressesOf(flow)) script(mail, address, flow);
    if (flow.kind === 'warmup') warmupIds.set(marker, await box(`${marker}@faults.example.com`, ALWAYS));
    if (flow.kind === 'test')
      testCampaigns.set(
        marker,
        await createCampaign(deps, organizationId, testSteps(connection.id), {
          status: 'draft',
          sender_strategy: 'explicit',
        }),
      );
  }
  for (const { campaignId } of testCampaigns.values())
    await deps
      .db('campaign_senders')
      .insert(
        senderIds.map((mailbox_id) => ({ organization_id: organizationId, campaign_id: campaignId, mailbox_id })),
      );
  const allowedKey = await createApiKey(deps, organizationId, tenant.userId);
  await createPolicy(deps, { organizationId, apiKeyId: allowedKey.apiKeyId }, { mailbox_ids: senderIds });
  const other = await createMember(deps, tenant, 'Admin');
  return {
    tenant,
    people: [tenant.sessionToken, other.sessionToken],
    allowedKey,
    senderIds,
    warmupIds,
    testCampaigns,
  };
}

/** Returns the recipients of a flow's emails. */
export function addressesOf({ kind, marker }: Flow): string[] {
  switch (kind) {
    case 'run':
      return [`${marker}-a@people.example.org`, `${marker}-b@people.example.org`];
    case 'direct':
      return [`${marker}-d@people.example.org`];
    case 'test':
      return [`${marker}@people.example.org`];
    case 'warmup':
      return [`${marker}@faults.example.com`];
    case 'order':
    case 'renewal':
      return [];
  }
}

function script(mail: MailWorld, address: string, { kind, transport }: Flow): void {
  if (transport === 'delay') mail.script(address, { kind: 'delay', ms: 1_200 });
  else if (transport === 'drop') mail.script(address, { kind: 'drop' });
  else if (transport === 'lose') mail.script(address, { kind: 'drop', lose: true });
  else if (transport === 'reject' && kind !== 'warmup') mail.script(address, { kind: 'reject' });
}

function testSteps(connectionId: string): Parameters<typeof createCampaign>[2] {
  return [
    { name: 'First', subject: 'First', body_plain: 'Hello' },
    {
      name: 'Ask',
      kind: 'action',
      action: {
        type: 'app_action',
        app_connection_id: connectionId,
        path: '/ask',
        output_key: 'ask',
        inputs: { who: '{{.Email}}' },
      },
    },
    { name: 'Pause', kind: 'wait', action: { type: 'wait', wait_minutes: 60 } },
    {
      name: 'Paid?',
      kind: 'action',
      action: { type: 'wait_for_event', wait_event_name: EVENT_NAME, timeout_minutes: 60, on_timeout: 'continue' },
    },
    { name: 'Last', body_plain: 'Bye {{.App.ask.code}}' },
  ];
}

/** Returns the body of POST /runs for a flow. */
export function runBody(flow: Flow, { senderIds }: Workspace): object {
  return {
    name: flow.marker,
    senders: { mode: 'explicit', mailbox_ids: senderIds },
    daily_limit: 1_000,
    schedule: { mode: 'explicit', timezone: 'UTC', days: 127, start_time: '00:00', end_time: '00:00' },
    stop_on_reply: true,
    opt_out_enabled: true,
    intent: flow.draft ? 'draft' : 'launch',
    leads: addressesOf(flow).map((email) => ({ email, first_name: flow.marker })),
    steps: [{ name: 'Only', variants: [{ subject: `Hello ${flow.marker}`, body_plain: 'Hello {{.FirstName}}' }] }],
  };
}
