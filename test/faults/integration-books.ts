import { verifySignature } from '../../lib/signature.ts';
import type { Message } from '../../messages/index.ts';
import type { RawDb } from '../harness/database.ts';
import { PROVIDERS, type IntegrationStage } from './integration-stage.ts';
import type { Check } from './reconcile.ts';
import { render } from '../../messages/render.ts';

/** Maximum number of deliveries of a connection that are in progress when a worker is killed. */
const UNDER_WAY = 8;
/** Names of the automation nodes that create a task in Heron for each event. */
const TASKS = ['instant', 'before', 'after', 'asked'];
/** Name of the node that writes after a wait, and duration (ms) of that wait. */
const WAITED = 'waited';
const WAIT_MS = 60_000;
const DEALS = ['instant deal', 'called'];

/** Makes PostgreSQL record writes in the same transaction, independently of the code under test. */
export async function installWriteRecord(db: RawDb): Promise<void> {
  await db.raw(
    'create table fault_writes (id bigserial primary key, kind text not null, what text not null, at timestamptz not null default clock_timestamp())',
  );
  for (const [table, what] of [
    ['crm_tasks', 'new.title'],
    ['crm_deals', 'new.name'],
    ['contact_categories', 'new.contact_id::text'],
  ]) {
    await db.raw(`
      create function fault_write_${table}() returns trigger language plpgsql security definer set search_path = public as $$
      begin
        insert into fault_writes (kind, what) values ('${table}', ${what});
        return null;
      end $$`);
    await db.raw(
      `create trigger fault_write after insert on ${table} for each row execute function fault_write_${table}()`,
    );
  }
}

/** Returns true if no work is in progress, and every event has created its runs. */
export async function isSettled(stage: IntegrationStage): Promise<boolean> {
  const { deps, temporal } = stage.assembly;
  const { rows } = await deps.db.raw(
    `select (select count(*) from domain_events where position is null)
       + (select count(*) from integration_deliveries where state = 'pending')
       + (select count(*) from automation_runs where status = 'running')
       + (select count(*) from outbox) as left, (select count(*) from automation_runs) as runs`,
  );
  const [{ left, runs }] = rows as [{ left: number; runs: number }];
  if (left > 0 || runs < runsOf(stage)) return false;
  for await (const _ of temporal.workflow.list({ query: `ExecutionStatus = 'Running'` })) return false;
  return true;
}

/**
 * Returns the expected number of automation runs. Each event starts two automations, or three if one waits, and one of
 * these starts another.
 */
function runsOf({ options, emitted }: IntegrationStage): number {
  return (options.waits ? 4 : 3) * eventsOf(emitted).length;
}

function eventsOf(emitted: IntegrationStage['emitted']): string[] {
  return [...emitted.values()].flat();
}

/** Compares the emitted events with the records of the stubs and the app, and with the writes in Heron. */
export async function compareIntegrations(stage: IntegrationStage): Promise<Check[]> {
  const { parts, doubles, assembly, options } = stage;
  const { db } = assembly.deps;
  const received = receivedOf(stage);
  const letters = await db('dead_letters').where({ status: 'pending' });
  const runs: { id: string; status: string; error_detail: Message | null }[] = await db('automation_runs').select(
    'id',
    'status',
    'error_detail',
  );
  const left: string[] = [];
  for await (const { workflowId } of assembly.temporal.workflow.list({ query: `ExecutionStatus = 'Running'` }))
    left.push(`${workflowId} is open`);
  for (const row of await db('outbox')) left.push(`an intent for ${row.workflow_id} waits: ${row.last_error}`);
  for (const row of await db('integration_deliveries'))
    left.push(`delivery ${row.id} is ${row.state}: ${row.last_error?.code}`);
  for (const row of await db('integration_lanes')) left.push(`lane ${row.lane_id} is left`);
  return [
    ...PROVIDERS.flatMap((provider) => [
      arrivedAtLeastOnce(stage, provider, received[provider]),
      inOrder(stage, provider, received[provider]),
    ]),
    repeats(stage, received),
    webhookIds(stage),
    appCalls(stage),
    await writtenOnce(stage),
    ...(options.waits ? [await waitedLong(stage)] : []),
    await refreshedOnce(stage),
    {
      name: 'every run of an automation has ended well, and none is missing',
      seen: `${runs.length} runs`,
      faults: [
        ...runs
          .filter(({ status }) => status !== 'success')
          .map((run) => `${run.id} is ${run.status}: ${run.error_detail ? render(run.error_detail) : ''}`),
        ...(runs.length === runsOf(stage) ? [] : [`${runs.length} in place of ${runsOf(stage)}`]),
      ],
    },
    { name: 'nothing is left under way', seen: `${options.kills} kills`, faults: left },
    {
      name: 'nothing was given up',
      seen: `${letters.length} dead letters`,
      faults: letters.map((letter) => `${letter.task_type} ${letter.task_id}: ${letter.last_error}`),
    },
    {
      name: 'the providers refused nothing',
      seen: `${PROVIDERS.reduce((sum, id) => sum + doubles[id].heard.length, 0)} requests`,
      faults: PROVIDERS.flatMap((id) => doubles[id].refusals.map((refusal) => `${id}: ${refusal}`)),
    },
    { name: 'no process ended by itself', seen: `${parts.deaths.length} ends`, faults: parts.deaths },
  ];
}

type Received = Record<(typeof PROVIDERS)[number], string[]>;

/** Returns the names of the events that each stub received, in order of receipt. */
function receivedOf({ doubles }: IntegrationStage): Received {
  return {
    discord: doubles.discord.messages.map(({ content }) => nameIn(content)),
    close: doubles.close.notes.map((note) => nameIn(JSON.stringify(note))),
    n8n: doubles.n8n.taken.map(({ body }) => nameIn(body.data.subject)),
    zapier: doubles.zapier.taken.map(({ body }) => nameIn(body.data.subject)),
    slack: doubles.slack.messages.map(({ text }) => nameIn(text)),
  };
}

/** Returns the event name in a text, as given by its emitter. */
function nameIn(text: string): string {
  return /w\d+c\d+n\d+/.exec(text)?.[0] ?? `nameless: ${text.slice(0, 100)}`;
}

function arrivedAtLeastOnce({ emitted }: IntegrationStage, provider: string, received: readonly string[]): Check {
  const names = eventsOf(emitted);
  const [came, sent] = [new Set(received), new Set(names)];
  return {
    name: `${provider}: every event has reached it`,
    seen: `${came.size} of ${names.length}`,
    faults: [
      ...names.filter((name) => !came.has(name)).map((name) => `${name} never came`),
      ...[...came].filter((name) => !sent.has(name)).map((name) => `${name} came and was never emitted`),
    ],
  };
}

/**
 * Checks the order of each contact's deliveries: none comes after a later event's, and a repeat comes before the next
 * event's.
 */
function inOrder({ workspaces }: IntegrationStage, provider: string, received: readonly string[]): Check {
  const faults: string[] = [];
  const last = new Map<string, number>();
  for (const name of received) {
    const [contact, number] = name.split('n') as [string, string];
    const before = last.get(contact) ?? -1;
    if (Number(number) < before) faults.push(`${name} came after ${contact}n${before}`);
    else last.set(contact, Number(number));
  }
  const contacts = workspaces.reduce((sum, workspace) => sum + workspace.contacts.length, 0);
  return { name: `${provider}: in order for each contact`, seen: `${contacts} contacts`, faults };
}

/** Checks that repeats have a cause: a worker died during the delivery, or the provider's answer was lost. */
function repeats({ options, workspaces, lost }: IntegrationStage, received: Received): Check {
  const faults: string[] = [];
  let total = 0;
  const most = options.kills * UNDER_WAY * workspaces.length + lost;
  for (const provider of PROVIDERS) {
    const again = received[provider].length - new Set(received[provider]).size;
    total += again;
    if (again > most) faults.push(`${provider} got ${again} repeats, of which ${most} have a reason`);
  }
  return { name: 'only what was in flight or whose answer was lost came again', seen: `${total} repeats`, faults };
}

/** Checks that a repeated webhook keeps its id, by which receivers deduplicate, and that ids are otherwise unique. */
function webhookIds({ doubles }: IntegrationStage): Check {
  const faults: string[] = [];
  const ids = new Map<string, string>();
  const events = new Map<string, string>();
  for (const [provider, { taken }] of Object.entries({ n8n: doubles.n8n, zapier: doubles.zapier }))
    for (const { body } of taken) {
      const event = `${provider} ${body.data.subject}`;
      if ((ids.get(body.id) ?? event) !== event) faults.push(`${body.id} is ${event} and ${ids.get(body.id)}`);
      if ((events.get(event) ?? body.id) !== body.id) faults.push(`${event} is ${body.id} and ${events.get(event)}`);
      ids.set(body.id, event);
      events.set(event, body.id);
    }
  return { name: 'a webhook that comes again has its id', seen: `${ids.size} ids`, faults };
}

/** Checks that the app was called for each event under one id, with a valid signature. */
function appCalls({ app, emitted, workspaces }: IntegrationStage): Check {
  const faults: string[] = [];
  const ids = new Map<string, Set<string>>();
  for (const { json, headers, raw, receivedAt } of app.requests) {
    const name = nameIn(json.data.subject);
    ids.set(name, (ids.get(name) ?? new Set()).add(String(headers['x-service-event-id'])));
    const { appSecret } = workspaces[Number(name.slice(1).split('c')[0])]!;
    const now = new Date(receivedAt);
    if (!verifySignature(headers['x-service-signature'] as string, appSecret, raw, { now }))
      faults.push(`the call for ${name} is not signed`);
  }
  for (const name of eventsOf(emitted)) {
    const count = ids.get(name)?.size ?? 0;
    if (count !== 1) faults.push(`the app was called for ${name} under ${count} ids`);
  }
  return { name: 'the app was called for every event under one id', seen: `${app.requests.length} calls`, faults };
}

/** Checks in PostgreSQL's record that every task, deal and tag of an automation was written once per event. */
async function writtenOnce({ options, assembly, emitted }: IntegrationStage): Promise<Check> {
  const rows: { kind: string; what: string }[] = await assembly.deps.db('fault_writes').select('kind', 'what');
  const written = new Map<string, number>();
  for (const { kind, what } of rows) written.set(`${kind} ${what}`, (written.get(`${kind} ${what}`) ?? 0) + 1);
  const wanted = new Map<string, number>();
  for (const [contact, names] of emitted) {
    if (names.length > 0) wanted.set(`contact_categories ${contact}`, names.length);
    for (const name of names) {
      for (const task of options.waits ? [...TASKS, WAITED] : TASKS) wanted.set(`crm_tasks ${task} ${name}`, 1);
      for (const deal of DEALS) wanted.set(`crm_deals ${deal} ${name}`, 1);
    }
  }
  return {
    name: 'every task, deal and tag of an automation was written once',
    seen: `${rows.length} writes`,
    faults: [...new Set([...wanted.keys(), ...written.keys()])]
      .filter((what) => wanted.get(what) !== written.get(what))
      .map((what) => `${what}: written ${written.get(what) ?? 0} times, wanted ${wanted.get(what) ?? 0}`),
  };
}

/** Checks by PostgreSQL's clock that a write after a wait happened only when the wait was over. */
async function waitedLong({ assembly, emitted }: IntegrationStage): Promise<Check> {
  const { rows } = await assembly.deps.db.raw(
    `select w.what, extract(epoch from w.at - r.started_at) * 1000 as waited_ms from automation_runs r
     join fault_writes w on w.kind = 'crm_tasks' and w.what = ? || ' ' || (r.data ->> 'subject')
     where r.node_results @> '[{"node_id": "wait"}]'`,
    [WAITED],
  );
  const waits = rows as { what: string; waited_ms: string }[];
  return {
    name: 'what comes after a wait was not done before its end',
    seen: `${waits.length} waits`,
    faults: [
      ...(waits.length === eventsOf(emitted).length ? [] : [`${waits.length} waits are over`]),
      ...waits.filter((wait) => Number(wait.waited_ms) < WAIT_MS).map((wait) => `${wait.what}: ${wait.waited_ms} ms`),
    ],
  };
}

/**
 * Checks Slack's one-time refresh tokens: one was used twice only if a worker died, or an answer was lost, before its
 * successor was stored. Only then did a person have to reconnect.
 */
async function refreshedOnce({ options, doubles, assembly, lost, reconnected }: IntegrationStage): Promise<Check> {
  const { refreshes, refused } = doubles.slack.oauth;
  const open = await assembly.deps.db('integration_connections').whereNot({ status: 'connected' });
  const most = options.kills + lost;
  return {
    name: 'tokens were refreshed by one worker at a time, and what could not be was connected again',
    seen: `${refreshes} refreshes, ${refused} refused, ${reconnected} consents`,
    faults: [
      ...(refreshes === 0 ? ['nothing was refreshed'] : []),
      ...(refused > most ? [`${refused} refresh tokens came again, of which ${most} have a reason`] : []),
      ...(reconnected > refused ? [`${reconnected} consents for ${refused} refusals`] : []),
      ...open.map((row) => `${row.provider} is ${row.status}: ${row.last_error?.code}`),
    ],
  };
}
