import { createAppConnection } from '../../domain/connect/app-connections/connections.ts';
import { systemCtx } from '../../domain/platform/kernel/context.ts';
import { newId } from '../../lib/ids.ts';
import type { startDoubles } from '../doubles/all.ts';
import { act, chain, createAutomation } from '../harness/automations.ts';
import type { TestAssembly } from '../harness/database.ts';
import { createContact, createTenant } from '../harness/factories.ts';
import { browserCookie } from '../harness/integrations.ts';
import type { Receiver } from '../harness/receiver.ts';
import { createClient } from './flows/client.ts';
import type { Parts } from './parts.ts';
import type { Random } from './random.ts';

export interface IntegrationFaultOptions {
  seed: number;
  /** Number of kills. Each kills a worker; if there are at least four, every fourth kills Temporal instead. */
  kills: number;
  workers: number;
  /** Average time (ms) between two kills. */
  pauseMs: number;
  /** Events per second. */
  rate: number;
  /** Fraction of calls that the customer's app first answers with 503. Such a call is repeated half a minute later. */
  appFails: number;
  /** True if an automation waits a minute; only in full runs. */
  waits: boolean;
  /** Time (ms) after the last kill at which unsettled work is abandoned. */
  settleMs: number;
  log: (line: string) => void;
}

/** Providers of each workspace, whose stubs record what they received. */
export const PROVIDERS = ['discord', 'close', 'n8n', 'zapier', 'slack'] as const;
/**
 * Lifetime (seconds) of Slack access tokens. Heron renews tokens a minute before they expire, so a connection in use is
 * refreshed every few seconds; each refresh token works once.
 */
const TOKEN_SECONDS = 64;
type Doubles = Awaited<ReturnType<typeof startDoubles>>;

/** Workspace with contacts and connected providers. */
interface Workspace {
  organizationId: string;
  contacts: string[];
  /** Secret with which the customer's app verifies signatures. */
  appSecret: string;
  /** Consents at Slack in the browser of the workspace's person, again for an existing connection. */
  consent(connectionId?: string): Promise<void>;
}

/** Running scenario, with records made outside of Heron. */
export interface IntegrationStage {
  options: IntegrationFaultOptions;
  random: Random;
  parts: Parts;
  assembly: TestAssembly;
  doubles: Doubles;
  app: Receiver;
  workspaces: Workspace[];
  /** Event names by contact, in commit order. */
  emitted: Map<string, string[]>;
  /** Number of requests that a stub handled without Heron getting the answer. */
  lost: number;
  /** Number of times that a person reconnected Slack. */
  reconnected: number;
}

/** Number of contacts of a workspace. */
export const CONTACTS = 4;

/**
 * Connects the providers through the API and creates the automations: an immediate one, one that makes two calls and
 * starts a third, and one that waits.
 */
export async function prepareWorkspace(
  { options, parts, assembly: { deps }, doubles, app, workspaces, emitted }: IntegrationStage,
  n: number,
) {
  const tenant = await createTenant(deps, `Integrations ${n}`);
  const { organizationId, apiKey, sessionToken } = tenant;
  const client = createClient(parts.apiUrl);
  const post = async (path: string, body: object): Promise<any> => {
    const { status, answer } = await client.ask('POST', path, apiKey, body);
    if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const connect = (provider: string, config: object) => post('/integrations/connections', { provider, config });
  const follow = (connection: { id: string }, action: string, config: object = {}) =>
    post(`/integrations/connections/${connection.id}/events`, { event_type: 'email.replied', action, config });
  const { webhook } = doubles.discord;
  const chat = await connect('discord', {
    webhook_url: `https://discord.com/api/webhooks/${webhook.id}/${webhook.token}`,
  });
  await follow(chat, 'discord.notify', { message: '{{.subject}}' });
  const crm = await connect('close', { api_key: doubles.close.keys[0] });
  await follow(crm, 'close.log_activity', { text: '{{.subject}}' });
  await follow(await connect('n8n', { webhook_url: doubles.n8n.hookUrl }), 'n8n.send_webhook');
  doubles.slack.oauth.lifetimeSeconds = TOKEN_SECONDS;
  const consent = async (connectionId?: string): Promise<void> => {
    const began = await client.ask('POST', '/integrations/oauth/start', sessionToken, {
      provider: 'slack',
      ...(connectionId && { connection_id: connectionId }),
    });
    const back = doubles.slack.oauth.consent(began.answer.authorize_url);
    const answer = await fetch(back, { headers: { cookie: await browserCookie({ deps }, tenant) } });
    if (!answer.ok) throw new Error(`no consent: ${answer.status} ${await answer.text()}`);
  };
  await consent();
  const [slack] = await deps
    .db('integration_connections')
    .where({ organization_id: organizationId, provider: 'slack' });
  await follow(slack!, 'slack.notify', { channel: '#sales', message: '{{.subject}}' });
  // No subscription uses this connection, only the automations do.
  const zapier = await connect('zapier', { webhook_url: doubles.zapier.hookUrl });
  const pipeline = await post('/crm/pipelines', { name: 'Sales', stages: [{ name: 'New', color: '#0ea5e9' }] });
  const { connection, secret } = await createAppConnection(systemCtx(deps, organizationId, 'faults'), {
    name: 'App',
    baseUrl: app.url,
  });
  const label = await createLabel(deps, organizationId);
  const task = (id: string) => act(id, 'create_task', { title: `${id} {{.subject}}` });
  const deal = (id: string) =>
    act(id, 'create_deal', { name: `${id} {{.subject}}`, pipeline_id: pipeline.id, stage_id: pipeline.stages[0].id });
  const automate = (trigger: string, graph: ReturnType<typeof chain>) =>
    createAutomation({ deps } as Parameters<typeof createAutomation>[0], organizationId, trigger, graph);
  await automate(
    'email.replied',
    chain(
      act('untag', 'remove_tag', { category_id: label }),
      act('tag', 'add_tag', { category_id: label }),
      task('instant'),
      deal('instant deal'),
    ),
  );
  // No other event triggers this automation, only the automation that starts it.
  const asked = await automate('form.submitted', chain(task('asked')));
  const send = { ...act('send', ''), action: 'zapier.send_webhook', connection_id: zapier.id };
  await automate(
    'email.replied',
    chain(
      task('before'),
      send,
      task('after'),
      act('app', 'webhook', { app_connection_id: connection.id, path: '/call', inputs: {} }),
      deal('called'),
      act('ask', 'run_automation', { automation_id: asked }),
    ),
  );
  if (options.waits) await automate('email.replied', chain(act('wait', 'wait', { wait_minutes: 1 }), task('waited')));
  const contacts: string[] = [];
  for (let c = 0; c < CONTACTS; c += 1) {
    const email = `w${n}c${c}@people.example.org`;
    contacts.push(await createContact(deps.db, deps.clock.now(), organizationId, { email, first_name: `C${c}` }));
    emitted.set(contacts[c]!, []);
  }
  workspaces.push({ organizationId, contacts, appSecret: secret, consent });
}

async function createLabel({ db, clock }: TestAssembly['deps'], organizationId: string): Promise<string> {
  const id = newId();
  const now = clock.now();
  await db('labels').insert({
    id,
    organization_id: organizationId,
    registry: 'category',
    title: 'Replied',
    color: '#000000',
    position: 0,
    created_at: now,
    updated_at: now,
  });
  return id;
}
