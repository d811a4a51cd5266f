import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { allOf, createHeron, dataOf, type Heron } from '../../client/src/index.ts';
import { MARKS } from './campaign.ts';
import { signIn, type Browser } from './browser.ts';
import { createUntil, type Result, type Until } from './chapter.ts';
import type { Prepared } from './setup.ts';
import type { World } from './world.ts';

/** Permissions of the agent's key, which may read data and request runs, but not decide about them. */
const RIGHTS = ['READ_EMAILS', 'READ_CAMPAIGNS', 'READ_CONTACTS', 'READ_RUNS', 'WRITE_RUNS', 'EXECUTE_RUNS'];
export const READERS = ['ada@engines.example', 'grace@compilers.example', 'mary@stars.example'];
const LATER_READERS = ['emmy@rings.example', 'hedy@radios.example'];
const PATIENCE_MS = 60_000;

export interface AgentOptions {
  apiUrl: string;
  /** Session of the owner, who creates the key and approves the run. */
  sessionToken: string;
  owner: { email: string; password: string };
}

interface Run {
  id: string;
  state: string;
  campaign_id: string;
  approval_url?: string;
}

/**
 * Third chapter: an agent with its own key prepares a run through MCP. A person approves it on the linked page, and its
 * emails are sent.
 */
export async function runAgent(
  { api }: Pick<Prepared, 'api'>,
  { apiUrl, sessionToken, owner }: AgentOptions,
  world: World,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<Result[]> {
  const until = createUntil(signal, PATIENCE_MS);
  const agent = await connect(apiUrl, await createKey(createHeron({ baseUrl: apiUrl, key: sessionToken })));
  try {
    const { tools } = await agent.listTools();
    say(`an agent connects through MCP, and is offered ${tools.length} tools`);
    const waiting = await prepareRun(agent, await chooseSender(api), READERS, until);
    say(`its run to ${READERS.length} people is checked, and waits for a person at ${waiting.approval_url}`);
    await sleep(1_000, undefined, { signal });
    const early = world.emailsTo(READERS).length;

    const person = await signIn(apiUrl, new URL(waiting.approval_url!).pathname, owner);
    const shown = READERS.filter((address) => person.page.includes(address));
    await approve(person);
    say('the owner has signed in, seen what would be sent, and approved it');
    const launched = await until('the launch', async () => {
      const run = await use<Run>(agent, 'get_run', { run_id: waiting.id });
      return run.state === 'active' && run;
    });
    const arrived = () => world.emailsTo(READERS).map(({ to }) => to);
    await until('every email', async () => arrived().length >= READERS.length);
    say(`${arrived().length} emails have arrived; the run is ${launched.state}`);
    return [
      ['nothing left before a person had approved it', early === 0 ? [] : [`${early} emails`]],
      ['the page named everybody it would write to', missing(shown)],
      ['everybody got the email once', [...missing(arrived()), ...arrived().slice(READERS.length)]],
      ['the agent cannot approve anything itself', await offersDecision(tools.map(({ name }) => name))],
    ];
  } finally {
    await agent.close();
  }
}

/** Makes the agent prepare another run for two other readers. Nobody decides about this run. */
export async function askForRun(
  { api }: Pick<Prepared, 'api'>,
  { apiUrl, sessionToken }: AgentOptions,
  signal: AbortSignal,
): Promise<void> {
  const agent = await connect(apiUrl, await createKey(createHeron({ baseUrl: apiUrl, key: sessionToken })));
  try {
    await prepareRun(agent, await chooseSender(api), LATER_READERS, createUntil(signal, PATIENCE_MS));
  } finally {
    await agent.close();
  }
}

/** Creates a run and waits until it needs a person's decision. */
async function prepareRun(agent: Client, mailboxId: string, readers: readonly string[], until: Until): Promise<Run> {
  const { id } = await use<Run>(agent, 'create_run', {
    ...request(mailboxId, readers),
    idempotency_key: readers.join(),
  });
  return until('the approval', async () => {
    const run = await use<Run>(agent, 'get_run', { run_id: id });
    return run.state === 'awaiting_approval' && run;
  });
}

async function createKey(session: Heron): Promise<string> {
  const { permissions } = await dataOf(session.GET('/v1/api-keys/permissions'));
  const mask = permissions.filter(({ name }) => RIGHTS.includes(name)).reduce((sum, { value }) => sum + value, 0);
  const { secret } = await dataOf(
    session.POST('/v1/api-keys', { body: { name: 'Agent', permissions: mask, rate_limit_per_minute: 600 } }),
  );
  return secret;
}

async function connect(apiUrl: string, key: string): Promise<Client> {
  const client = new Client({ name: 'demo-agent', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', apiUrl), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await client.connect(transport);
  return client;
}

async function use<T>(agent: Client, name: string, args: Record<string, unknown>): Promise<T> {
  const { isError, structuredContent, content } = await agent.callTool({ name, arguments: args });
  if (isError) throw new Error(`${name}: ${JSON.stringify(content)}`);
  return structuredContent as T;
}

/** Chooses a mailbox that can send. One mailbox cannot, because it reached its limit in the previous chapter. */
async function chooseSender(api: Heron): Promise<string> {
  const mailboxes = await allOf((cursor) => api.GET('/v1/emails', { params: { query: { limit: 50, cursor } } }));
  return mailboxes.findLast(({ hold }) => !hold)!.id;
}

function request(mailboxId: string, readers: readonly string[]): Record<string, unknown> {
  return {
    name: 'Lamps, prepared by an agent',
    intent: 'launch',
    senders: { mode: 'explicit', mailbox_ids: [mailboxId] },
    daily_limit: 50,
    schedule: { mode: 'explicit', timezone: 'UTC', days: 127, start_time: '00:00', end_time: '23:59' },
    stop_on_reply: true,
    opt_out_enabled: true,
    leads: readers.map((email) => ({ email, first_name: email.split('@')[0] })),
    steps: [
      {
        name: 'hello',
        variants: [{ subject: 'A lamp for {{.FirstName}}', body_plain: `Hello {{.FirstName}}.\n\n${MARKS.hello}?` }],
      },
    ],
  };
}

async function approve(person: Browser): Promise<void> {
  await person.submit('decision', { decision: 'approved', reason: 'Looks good' });
  if (!person.page.includes('Approved')) throw new Error('the page does not say that it is approved');
}

function missing(addresses: readonly string[]): string[] {
  return READERS.filter((address) => !addresses.includes(address)).map((address) => `missing: ${address}`);
}

async function offersDecision(tools: readonly string[]): Promise<string[]> {
  return tools.filter((name) => /approv|decid/.test(name)).map((name) => `it is offered ${name}`);
}
