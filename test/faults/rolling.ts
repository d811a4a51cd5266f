import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { assemble } from '../../deploy/assemble.ts';
import type { ProcessName } from '../../deploy/processes.ts';
import { rebuildFacts } from '../../domain/reporting/aggregates/rebuild.ts';
import { verifyFacts } from '../../domain/reporting/aggregates/verify.ts';
import { EVENT_TYPES } from '../../domain/platform/kernel/events.ts';
import { trackingToken } from '../../domain/mail/messages/tracking-token.ts';
import { openPixelUrl } from '../../domain/mail/messages/tracking-urls.ts';
import { loadConfig } from '../../lib/config/index.ts';
import { silentLogger } from '../../lib/log.ts';
import { startChild } from '../../local/child.ts';
import type { Incarnation } from '../../local/managed.ts';
import { freePort } from '../../local/servers.ts';
import { createTestDatabase, withRawDb, type TestAssembly } from '../harness/database.ts';
import { eventually } from '../harness/eventually.ts';
import {
  createCampaign,
  createContact,
  createMailbox,
  createTenant,
  enroll,
  type Tenant,
} from '../harness/factories.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { openStream } from '../harness/stream-client.ts';
import { isClean, type Kept } from './installation.ts';
import { messageIdOf } from './mail-record.ts';
import type { Check } from './reconcile.ts';
import { launch } from './scenario.ts';
import { render } from '../../messages/render.ts';

interface RollingOptions {
  contacts: number;
  mailboxes: number;
  /** Number of processes of each role; one at a time is replaced. */
  replicas: number;
  /** Folder of an earlier build, whose processes are replaced by those of this build; defaults to this build. */
  from?: string | undefined;
  log: (line: string) => void;
}

interface RollingReport extends Kept {
  checks: Check[];
}

/** Role of a process. As in production, each role has its own processes. */
type RoleName = Exclude<ProcessName, 'serve'>;

const PORTS: Record<RoleName, string> = {
  api: 'API_PORT',
  tracking: 'TRACKING_PORT',
  forms: 'FORMS_PORT',
  realtime: 'REALTIME_PORT',
  worker: 'WORKER_PORT',
};
const ROLES = Object.keys(PORTS) as RoleName[];
/** Event types that an endpoint receives if it names no types. */
const TOLD = Object.entries(EVENT_TYPES).flatMap(([type, { firehose }]) => (firehose ? [] : [type]));
const SETTLE_MS = 120_000;

/**
 * Processes of one role behind a load balancer, which sends no new request to a process that is about to be stopped.
 */
interface Role {
  name: RoleName;
  processes: {
    url: string;
    child: Incarnation;
    /**
     * Starts a process of the role.
     * @param root folder of the build; defaults to this build
     */
    start: (root?: string) => Promise<Incarnation>;
    inRotation: boolean;
  }[];
  /** Returns the address of a process that accepts requests. */
  pick(): string;
}

interface Stage {
  options: RollingOptions;
  assembly: TestAssembly;
  roles: Map<RoleName, Role>;
  mail: MailWorld;
  tenant: Tenant;
  isOver: boolean;
}

/**
 * Replaces every process of every role, one after the other, with SIGTERM as a supervisor does. Meanwhile a campaign
 * sends and creates tasks, the API writes, pixels are requested and a client listens to the stream. No request may
 * fail, no work may be lost or happen twice, and each process must exit with 0. With `from` it tests a release: the
 * database is already migrated, both builds' processes run together, and one of the earlier workers is restarted in
 * between.
 */
export async function runRollingRestart(options: RollingOptions): Promise<RollingReport> {
  const [mail, database, folder] = await Promise.all([
    startMailWorld(),
    createTestDatabase(),
    mkdtemp(join(tmpdir(), 'heron-rolling-')),
  ]);
  const env: Record<string, string> = {
    NODE_ENV: 'test',
    PRIMARY_DB: database.url,
    TEMPORAL_ADDRESS: process.env.HERON_TEST_TEMPORAL!,
    TEMPORAL_TASK_QUEUE: `rolling-${randomBytes(6).toString('hex')}`,
    CREDENTIALS_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    ALLOW_PRIVATE_MAIL_HOSTS: 'true',
    ORG_WRITES_PER_MINUTE: '0',
    TRACKING_INSTANT_MS: '0',
    LAUNCH_HORIZON_MS: '5000',
  };
  const assembly = withRawDb(assemble(loadConfig(env), 'faults', { log: silentLogger }));
  const roles = new Map<RoleName, Role>();
  let keepFolder = true;
  try {
    const tenant = await createTenant(assembly.deps, 'Rolling');
    await Promise.all(ROLES.map(async (name) => roles.set(name, await startRole(name, env, folder, options))));
    options.log('up');
    const checks = await play({ options, assembly, roles, mail, tenant, isOver: false });
    keepFolder = !isClean(checks);
    return { checks, folder: keepFolder ? folder : undefined };
  } finally {
    await Promise.all([...roles.values()].flatMap(({ processes }) => processes.map(({ child }) => child.stop())));
    await assembly.close();
    await Promise.all([mail.stop(), database.drop()]);
    if (!keepFolder) await rm(folder, { recursive: true, force: true });
  }
}

async function startRole(
  name: RoleName,
  env: Record<string, string>,
  folder: string,
  { replicas, from }: RollingOptions,
): Promise<Role> {
  const processes = await Promise.all(
    Array.from({ length: replicas }, async (_, index) => {
      const port = await freePort();
      const start = (root?: string) =>
        startChild(name, {
          env: { ...process.env, ...env, [PORTS[name]]: String(port) },
          logFile: join(folder, `${name}-${index}.log`),
          graceMs: 25_000,
          root,
        });
      return { url: `http://127.0.0.1:${port}`, child: await start(from), start, inRotation: true };
    }),
  );
  let turn = 0;
  return {
    name,
    processes,
    pick() {
      const serving = processes.filter(({ inRotation }) => inRotation);
      return serving[turn++ % serving.length]!.url;
    },
  };
}

async function play(stage: Stage): Promise<Check[]> {
  const { options, assembly, mail, tenant } = stage;
  const { deps } = assembly;
  const { organizationId } = tenant;
  for (let index = 0; index < options.mailboxes; index += 1) {
    const box = await mail.addMailbox({ email: `sender${index}@rolling.example.com`, password: 'secret' });
    await createMailbox(deps, organizationId, box.email, { smtp: box.smtp, imap: box.imap }, { min_wait_time: 1 });
  }
  const { campaignId } = await createCampaign(deps, organizationId, [
    { name: 'Opening', subject: 'Hello', body_plain: 'Hi' },
    { name: 'Call', kind: 'action', action: { type: 'create_task', title: 'Call {{.Email}}', priority: 'medium' } },
  ]);
  const contacts: string[] = [];
  for (let index = 0; index < options.contacts; index += 1) {
    const email = `p${index}@people.example.org`;
    contacts.push(await createContact(deps.db, deps.clock.now(), organizationId, { email }));
    // A third of the emails take a while, so that workers are stopped while they send.
    if (index % 3 === 0) mail.script(email, { kind: 'delay', ms: 1_500 });
  }
  await enroll(deps, organizationId, campaignId, contacts);

  const writes = write(stage);
  const pixels = openPixels(stage, campaignId);
  const stream = follow(stage);
  await launch(assembly, { tenant, campaignId });
  await eventually(async () => mail.messages.length > 2, SETTLE_MS);
  const ends = await replaceAll(stage);
  const end = await settle(stage, campaignId);
  stage.isOver = true;
  const [written, opened] = await Promise.all([writes, pixels]);
  return [
    ends,
    end,
    await compareWrites(stage, written),
    await compareMail(stage, campaignId),
    await compareTasks(stage),
    await comparePixels(stage, opened),
    await compareStream(stage, stream),
    await compareCounts(stage),
  ];
}

/**
 * Replaces every process: removes it from the rotation, sends SIGTERM at once, restarts it, adds it to the rotation.
 */
async function replaceAll({ roles, options }: Stage): Promise<Check> {
  const faults: string[] = [];
  let replaced = 0;
  const workers = roles.get('worker')!.processes;
  const late = workers.at(-1)!;
  const roleEnds = [...roles.values()].map(async ({ name, processes }) => {
    for (const process_ of processes) {
      process_.inRotation = false;
      const { exited } = process_.child;
      await process_.child.stop();
      const { code, signal } = await exited;
      if (code !== 0) faults.push(`${name} ended with ${code ?? signal}`);
      process_.child = await process_.start();
      process_.inRotation = true;
      replaced += 1;
      options.log(`${name} replaced`);
      // Imitates a machine that is restarted with the earlier build in the middle of the release.
      if (options.from && process_ === workers[0] && late !== process_) {
        await late.child.stop();
        late.child = await late.start(options.from);
        options.log('a worker of the earlier build was started again');
      }
    }
  });
  await Promise.all(roleEnds);
  return { name: 'every process was replaced, and ended with 0', seen: `${replaced} replaced`, faults };
}

/** Returns the error of a fetch without a response. */
function reasonOf({ cause, message }: Error): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

/** Waits until the campaign has ended. An item that is still in progress after that is a fault. */
async function settle({ assembly }: Stage, campaignId: string): Promise<Check> {
  const { db } = assembly.deps;
  const isCompleted = async () => Boolean(await db('campaigns').where({ id: campaignId, status: 'completed' }).first());
  await eventually(isCompleted, SETTLE_MS).catch(() => {});
  const open = await db('enrollments').where({ campaign_id: campaignId }).whereIn('state', ['pending', 'active']);
  const { status } = await db('campaigns').where({ id: campaignId }).first();
  const sends = await db('sends').where({ campaign_id: campaignId }).whereNot({ state: 'sent' });
  return {
    name: 'the campaign comes to its end',
    seen: status,
    faults: [
      ...(status === 'completed' ? [] : [`the campaign is ${status}`]),
      ...open.map(
        (row) =>
          `${row.id} is ${row.state}: ${row.waiting_for && render(row.waiting_for)} until ${row.waiting_until?.toISOString()}`,
      ),
      ...sends.map(({ id, state, slot_at: slot }) => `${id} is ${state}, slot ${slot.toISOString()}`),
    ],
  };
}

interface Writes {
  emails: string[];
  refused: string[];
}

/** Adds contacts continuously, each in its own request, several requests at the same time. */
async function write(stage: Stage): Promise<Writes> {
  const writes: Writes = { emails: [], refused: [] };
  const api = stage.roles.get('api')!;
  let number = 0;
  const one = async (): Promise<void> => {
    while (!stage.isOver) {
      const email = `w${(number += 1)}@written.example.org`;
      try {
        const answer = await fetch(`${api.pick()}/v1/contacts`, {
          method: 'POST',
          headers: { authorization: `Bearer ${stage.tenant.apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify([{ email }]),
        });
        await answer.text();
        if (answer.ok) writes.emails.push(email);
        else writes.refused.push(`${email}: ${answer.status}`);
      } catch (error) {
        writes.refused.push(`${email}: ${reasonOf(error as Error)}`);
      }
      await sleep(60);
    }
  };
  await Promise.all([one(), one()]);
  return writes;
}

async function compareWrites({ assembly, tenant }: Stage, { emails, refused }: Writes): Promise<Check> {
  const stored = new Set(
    await assembly.deps.db('contacts').where({ organization_id: tenant.organizationId }).pluck('email'),
  );
  return {
    name: 'no request failed, and what was answered is stored',
    seen: `${emails.length} requests`,
    faults: [...refused, ...emails.filter((email) => !stored.has(email)).map((email) => `${email} is not stored`)],
  };
}

async function compareMail({ assembly, mail, options }: Stage, campaignId: string): Promise<Check> {
  const sends = await assembly.deps.db('sends').where({ campaign_id: campaignId });
  const ids = mail.messages.map(messageIdOf);
  const faults = sends.filter(({ state }) => state !== 'sent').map(({ id, state }) => `${id} is ${state}`);
  if (new Set(ids).size !== ids.length) faults.push('a message is on the server twice');
  if (ids.length !== options.contacts) faults.push(`${ids.length} messages for ${options.contacts} contacts`);
  return { name: 'every contact has exactly one email, none is uncertain', seen: `${ids.length} messages`, faults };
}

/**
 * Checks that each contact got one task. A subscriber creates the task in a step of a kind that earlier builds may not
 * know.
 */
async function compareTasks({ assembly, tenant, options }: Stage): Promise<Check> {
  const made = async () =>
    (await assembly.deps.db('crm_tasks').where({ organization_id: tenant.organizationId }).pluck('title')) as string[];
  await eventually(async () => (await made()).length >= options.contacts, SETTLE_MS).catch(() => {});
  const titles = await made();
  const isEach = titles.length === options.contacts && new Set(titles).size === titles.length;
  return {
    name: 'every contact has exactly one task',
    seen: `${titles.length} tasks`,
    faults: isEach
      ? []
      : [`${titles.length} tasks, ${new Set(titles).size} different ones, for ${options.contacts} contacts`],
  };
}

interface Pixels {
  sendIds: Set<string>;
  refused: string[];
}

/** Requests the pixel of each email after it was sent. */
async function openPixels({ assembly, roles, ...stage }: Stage, campaignId: string): Promise<Pixels> {
  const { db, keyring } = assembly.deps;
  const pixels: Pixels = { sendIds: new Set(), refused: [] };
  const tracking = roles.get('tracking')!;
  const look = async (): Promise<void> => {
    for (const { id } of await db('sends').where({ campaign_id: campaignId, state: 'sent' })) {
      if (pixels.sendIds.has(id)) continue;
      pixels.sendIds.add(id);
      const url = openPixelUrl(tracking.pick(), trackingToken(keyring.tracking.current, 'open', id));
      const status = await fetch(url).then(
        (answer) => answer.status,
        (error: Error) => reasonOf(error),
      );
      if (status !== 200) pixels.refused.push(`${id}: ${status}`);
    }
    await sleep(100);
  };
  const isCompleted = async () => Boolean(await db('campaigns').where({ id: campaignId, status: 'completed' }).first());
  while (!stage.isOver && !(await isCompleted())) await look();
  await look();
  return pixels;
}

async function comparePixels({ assembly }: Stage, { sendIds, refused }: Pixels): Promise<Check> {
  const { db } = assembly.deps;
  const rows = await db('sends').whereIn('id', [...sendIds]);
  const unseen = rows.filter(({ opened_at: opened, machine_opened_at: machine }) => !opened && !machine);
  return {
    name: 'every pixel that was fetched is recorded',
    seen: `${sendIds.size} pixels`,
    faults: [...refused, ...unseen.map(({ id }) => `${id} has no open`)],
  };
}

/** Listens to the stream, and continues after the last received event whenever its socket closes. */
function follow(stage: Stage): { ids: string[]; reconnects: () => number } {
  const realtime = stage.roles.get('realtime')!;
  const ids: string[] = [];
  let connects = 0;
  void (async () => {
    while (!stage.isOver) {
      try {
        const client = await openStream(realtime.pick(), { token: stage.tenant.apiKey });
        connects += 1;
        client.socket.on('message', (data) => {
          const message = JSON.parse((data as Buffer).toString('utf8')) as { type: string; id: string };
          if (message.type === 'event') ids.push(message.id);
        });
        const after = ids.at(-1);
        client.say({ type: 'subscribe', ...(after ? { after } : {}) });
        while (!stage.isOver && client.socket.readyState === 1) await sleep(50);
        // The last events are still being delivered.
        if (stage.isOver) await sleep(8_000);
        await client.close();
      } catch {
        await sleep(100);
      }
    }
  })();
  return { ids, reconnects: () => connects - 1 };
}

async function compareStream(
  { assembly, tenant }: Stage,
  { ids, reconnects }: { ids: string[]; reconnects: () => number },
): Promise<Check> {
  const { db } = assembly.deps;
  const stored = async (): Promise<string[]> =>
    db('domain_events')
      .where({ organization_id: tenant.organizationId })
      .whereIn('type', TOLD)
      .whereNotNull('position')
      .orderBy('position')
      .pluck('id');
  const expected = async () => {
    const all = await stored();
    return all.slice(all.indexOf(ids[0]!));
  };
  const isEqual = async () => JSON.stringify(await expected()) === JSON.stringify(ids);
  await eventually(isEqual, 20_000).catch(() => {});
  const wanted = await expected();
  return {
    name: 'the stream has every event once and in order, over all sockets',
    seen: `${ids.length} events, ${reconnects()} times connected again`,
    faults: [
      ...((await isEqual()) ? [] : [`${ids.length} events heard, ${wanted.length} stored since the first`]),
      ...(reconnects() > 0 ? [] : ['no gateway was replaced under a socket: nothing is shown']),
    ],
  };
}

/**
 * Checks that the counts of reports agree with the events. After a release they are first rebuilt once, because workers
 * of the earlier build counted only the events that it knew.
 */
async function compareCounts({ assembly, tenant, options }: Stage): Promise<Check> {
  const differences = async () => verifyFacts(assembly.deps, tenant.organizationId);
  if (!options.from)
    await eventually(async () => (await differences()).every(({ total }) => total === 0), 20_000).catch(() => {});
  if (options.from) await rebuildFacts(assembly.deps, tenant.organizationId);
  const found = await differences();
  return {
    name: 'the counts of reports are those of the rows',
    seen: `${found.length} workspace`,
    faults: found.flatMap((report) => (report.total === 0 ? [] : [JSON.stringify(report).slice(0, 300)])),
  };
}
