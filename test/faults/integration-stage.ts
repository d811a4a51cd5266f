import { createAppConnection } from '../../domain/app-connections/connections.ts';
import { systemCtx } from '../../domain/kernel/context.ts';
import { newId } from '../../lib/ids.ts';
import type { startDoubles } from '../doubles/all.ts';
import { act, chain, createAutomation } from '../harness/automations.ts';
import type { TestAssembly } from '../harness/database.ts';
import { createContact, createTenant } from '../harness/factories.ts';
import type { Receiver } from '../harness/receiver.ts';
import { createClient } from './flows/client.ts';
import type { Parts } from './parts.ts';
import type { Random } from './random.ts';

export interface IntegrationFaultOptions {
  seed: number;
  /** How often a process is killed: a worker with its relay, and every fourth time Temporal where there are that many. */
  kills: number;
  workers: number;
  /** Time between two kills (ms), on average. */
  pauseMs: number;
  /** Events per second. */
  rate: number;
  /** The part of the calls that the customer's app answers with 503 first. Such a call is made again half a minute later. */
  appFails: number;
  /** Gives up on what has not settled this long (ms) after the last kill. */
  settleMs: number;
  log: (line: string) => void;
}

/** The providers of each workspace, and how each double keeps what it took. */
export const PROVIDERS = ['discord', 'close', 'n8n', 'zapier'] as const;
export type Doubles = Awaited<ReturnType<typeof startDoubles>>;

/** A workspace and those who write to it. */
export interface Workspace {
  organizationId: string;
  contacts: string[];
  /** The secret that its app checks signatures with. */
  appSecret: string;
}

/** What is played, and what has been written down outside of Heron. */
export interface IntegrationStage {
  options: IntegrationFaultOptions;
  random: Random;
  parts: Parts;
  assembly: TestAssembly;
  doubles: Doubles;
  app: Receiver;
  workspaces: Workspace[];
  /** Names of the events by the contact that they are about, in the order in which they were committed. */
  emitted: Map<string, string[]>;
  /** Requests that a double took without Heron learning of it. */
  lost: number;
}

/** Contacts of a workspace. */
export const CONTACTS = 4;

/** Connects the providers over the API, and makes the automations: one that is done at once, one that calls out twice and asks for a third. */
export async function prepareWorkspace(
  { parts, assembly: { deps }, doubles, app, workspaces, emitted }: IntegrationStage,
  n: number,
) {
  const tenant = await createTenant(deps, `Integrations ${n}`);
  const { organizationId, apiKey } = tenant;
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
  // The automations alone write here.
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
  // Nothing triggers it but the one that asks for it.
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
  const contacts: string[] = [];
  for (let c = 0; c < CONTACTS; c += 1) {
    const email = `w${n}c${c}@people.example.org`;
    contacts.push(await createContact(deps.db, deps.clock.now(), organizationId, { email, first_name: `C${c}` }));
    emitted.set(contacts[c]!, []);
  }
  workspaces.push({ organizationId, contacts, appSecret: secret });
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
