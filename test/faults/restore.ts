import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { assemble } from '../../deploy/assemble.ts';
import { backup, restore, type RestoreReport } from '../../deploy/backup-command.ts';
import { startCampaign } from '../../domain/campaigns/start.ts';
import { systemCtx } from '../../domain/platform/kernel/context.ts';
import { reconcile as reconcileRuns } from '../../domain/operations/system/reconcile.ts';
import { loadConfig } from '../../lib/config/index.ts';
import { silentLogger } from '../../lib/log.ts';
import { startChild } from '../../local/child.ts';
import { connectRaw } from '../../db/connection.ts';
import { withRawDb, type TestAssembly } from '../harness/database.ts';
import { eventually } from '../harness/eventually.ts';
import { startMailWorld, type MailWorld, type ReceivedMessage } from '../harness/mail.ts';
import { startOwnTemporal } from '../harness/temporal.ts';
import { CAMPAIGN_SETTINGS, onInstallation, type Kept } from './installation.ts';
import { messageIdOf } from './mail-record.ts';
import { startOutside } from './outside.ts';
import type { Parts } from './parts.ts';
import { seeded } from './random.ts';
import type { Check } from './reconcile.ts';
import { launch, prepare, type Scenario } from './scenario.ts';
import { render } from '../../messages/render.ts';

interface RestoreDrillOptions {
  seed: number;
  contacts: number;
  /** Time (ms) between the first backup and the kill of the whole installation. */
  runsOnMs: number;
  log: (line: string) => void;
}

interface RestoreDrillReport extends Kept {
  checks: Check[];
}

const SETTLE_MS = 300_000;

/** Worker on a restored database, with an empty Temporal. */
interface Successor {
  assembly: TestAssembly;
  report: RestoreReport;
  env: Record<string, string>;
  kill(): Promise<void>;
}

interface Drill {
  options: RestoreDrillOptions;
  mail: MailWorld;
  parts: Parts;
  scenario: Scenario;
  /** Functions that stop the successors; run in reverse order. */
  teardown: (() => Promise<unknown>)[];
}

/**
 * Backs up an installation during a campaign, lets it continue for a short time, and kills all its processes at once.
 * Its successor is restored with an empty Temporal and must not send any email without a person's action. A person
 * starts the campaign. During its work the successor is killed too and backed up in that state, and a second successor
 * is restored, in which nothing needs to be held. The second one finishes the campaign.
 */
export async function runRestoreDrill(options: RestoreDrillOptions): Promise<RestoreDrillReport> {
  const mail = await startMailWorld();
  const outside = await startOutside(mail);
  const { log } = options;
  try {
    return await onInstallation({ workers: 1, env: CAMPAIGN_SETTINGS, log }, async (parts, assembly) => {
      const scenario = await prepare(assembly, mail, outside, seeded(options.seed).fork('people'), {
        contacts: options.contacts,
        mailboxes: 3,
        slow: false,
        replies: false,
      });
      outside.bringToLife(scenario.people, { url: parts.apiUrl, key: scenario.tenant.apiKey });
      await launch(assembly, scenario);
      const teardown: Drill['teardown'] = [];
      try {
        return { checks: await play({ options, mail, parts, scenario, teardown }) };
      } finally {
        for (const end of teardown.reverse()) await end().catch(() => {});
      }
    });
  } finally {
    await outside.stop();
    await mail.stop();
  }
}

async function play(drill: Drill): Promise<Check[]> {
  const { options, mail, parts, scenario } = drill;
  await eventually(async () => mail.messages.length >= options.contacts / 4, SETTLE_MS);
  const live = join(parts.folder, 'backup-live');
  await backup(loadConfig({ ...parts.env }), live, () => {});
  options.log(`backed up with ${mail.messages.length} emails on the server`);
  await sleep(options.runsOnMs);
  await Promise.all([...parts.workers, parts.api].map((part) => part.kill()));
  const stoppedAt = new Date();
  await quiet(mail);
  const sentBefore = mail.messages.length;
  options.log(`killed with ${sentBefore} emails on the server`);

  const first = await succeed(drill, parts.env, live, stoppedAt);
  const { db } = first.assembly.deps;
  await eventually(async () => !(await db('outbox').first()), SETTLE_MS);
  await quiet(mail);
  const byItself = mail.messages.length - sentBefore;
  const known = new Set((await db('sends').whereNotNull('message_id')).map((send) => send.message_id));
  /** Message-IDs of emails whose rows were created after the backup, so that no restored database contains them. */
  const lost = new Set(mail.messages.map(messageIdOf).filter((id) => !known.has(id)));
  options.log(`restored: ${JSON.stringify(first.report)}; ${lost.size} emails of which no row is left`);
  await startCampaign(systemCtx(first.assembly.deps, scenario.tenant.organizationId, 'faults'), scenario.campaignId);
  // The restored installation searches for claimed emails in the Sent folders, which half of the mailboxes have.
  await eventually(
    async () => !(await db('sends').where({ state: 'sending' }).where('claimed_at', '<', stoppedAt).first()),
    SETTLE_MS,
  );
  const doubt = await db('sends').where({ state: 'uncertain' });
  const middle = sentBefore + Math.ceil(options.contacts / 4);
  const isCompleted = async () => Boolean(await db('campaigns').where({ status: 'completed' }).first());
  await eventually(async () => mail.messages.length >= middle || (await isCompleted()), SETTLE_MS);
  await first.kill();
  await quiet(mail);
  const dead = join(parts.folder, 'backup-dead');
  await backup(loadConfig(first.env), dead, () => {});
  const second = await succeed(drill, first.env, dead, undefined);
  await finish(second.assembly, scenario);
  return [
    {
      name: 'the successor sends nothing by itself, and its campaigns stand',
      seen: `${sentBefore} emails before, ${first.report.emailsInDoubt} in doubt, ${doubt.length} uncertain`,
      faults: [
        ...(byItself > 0 ? [`${byItself} emails left before a person had started the campaign`] : []),
        ...(first.report.campaignsPaused === 1 ? [] : ['the campaign was not paused']),
        ...(first.report.emailsInDoubt > 0 ? [] : ['no email was in doubt: the drill shows nothing']),
      ],
    },
    noneTwice(mail, lost),
    {
      name: 'nothing is held where nothing ran after the backup',
      seen: JSON.stringify(second.report),
      faults: second.report.campaignsPaused + second.report.emailsInDoubt > 0 ? ['something was held'] : [],
    },
    await endedRight(second.assembly, mail, scenario),
  ];
}

/** Restores a backup into its own database on the same server, and starts a worker on it, with an empty Temporal. */
async function succeed(
  { parts, teardown, options }: Drill,
  env: Record<string, string>,
  folder: string,
  stoppedAt: Date | undefined,
): Promise<Successor> {
  const name = `restored_${randomBytes(4).toString('hex')}`;
  const admin = connectRaw({ url: env.PRIMARY_DB!, max: 1 });
  await admin.raw(`create database ${name}`);
  await admin.destroy();
  const url = new URL(env.PRIMARY_DB!);
  url.pathname = `/${name}`;
  const temporal = await startOwnTemporal({ bare: true });
  teardown.push(() => temporal.stop());
  const ours = { ...env, PRIMARY_DB: url.href, TEMPORAL_ADDRESS: temporal.address, WORKER_PORT: '0' };
  const report = await restore(loadConfig(ours), folder, stoppedAt, () => {});
  const worker = await startChild('worker', {
    env: { ...process.env, ...ours },
    logFile: join(parts.folder, 'logs', `${name}.log`),
    graceMs: 15_000,
  });
  let isKilled = false;
  const kill = async (): Promise<void> => {
    if (!isKilled) process.kill(worker.pid, 'SIGKILL');
    isKilled = true;
    await worker.exited;
  };
  teardown.push(kill);
  const assembly = withRawDb(assemble(loadConfig(ours), 'faults', { log: silentLogger }));
  teardown.push(() => assembly.close());
  const started = await reconcileRuns(assembly.deps);
  options.log(`${name}: ${started.reduce((sum, { missing }) => sum + missing, 0)} runs started again`);
  return { assembly, report, env: ours, kill };
}

/**
 * Waits until the mail server has received no email for a short time, because the last emails submitted by a killed
 * worker can still arrive.
 */
async function quiet(mail: MailWorld): Promise<void> {
  for (let seen = -1; seen !== mail.messages.length;) {
    seen = mail.messages.length;
    await sleep(2_500);
  }
}

/**
 * Waits until the campaign has ended. The contacts' waits time out, because the API that would report their events is
 * gone.
 * @throws Error with the states of the contacts if it does not end
 */
async function finish({ deps: { db } }: TestAssembly, { campaignId }: Scenario): Promise<void> {
  const isOver = async () => {
    const blocked = await db('step_runs').where({ campaign_id: campaignId, state: 'blocked' }).first();
    if (blocked) throw new Error(`a step is blocked: ${render(blocked.detail)}`);
    await db('waits')
      .where({ campaign_id: campaignId, state: 'open' })
      .where('deadline', '>', new Date(Date.now() + 2_000))
      .update({ deadline: new Date(Date.now() + 1_000), opened_at: new Date(Date.now() - 60_000) });
    return Boolean(await db('campaigns').where({ id: campaignId, status: 'completed' }).first());
  };
  await eventually(isOver, SETTLE_MS, 500).catch(async (error: unknown) => {
    const open = await db('enrollments')
      .where({ campaign_id: campaignId })
      .whereIn('state', ['pending', 'active'])
      .select('state', 'waiting_for', db.raw('count(*)::int as contacts, min(waiting_until) as since'))
      .groupBy('state', 'waiting_for');
    const { status } = await db('campaigns').where({ id: campaignId }).first('status');
    throw new Error(`the campaign is ${status}, with open contacts: ${JSON.stringify(open)}`, { cause: error });
  });
}

/**
 * Checks that no Message-ID occurs twice and that no contact gets the same step twice, except by an email that the
 * backup cannot contain.
 */
function noneTwice(mail: MailWorld, lost: ReadonlySet<string>): Check {
  const faults: string[] = [];
  const ids = new Set<string>();
  for (const id of mail.messages.map(messageIdOf)) {
    if (ids.has(id)) faults.push(`${id} is on the server twice`);
    ids.add(id);
  }
  const stepOf = ({ envelope, raw }: ReceivedMessage) =>
    `${envelope.to[0]} ${raw.includes('Your code is') ? 'follow-up' : 'first email'}`;
  const steps = new Set<string>();
  for (const message of mail.messages.filter((one) => !lost.has(messageIdOf(one)))) {
    const step = stepOf(message);
    if (steps.has(step)) faults.push(`${step} was mailed twice`);
    steps.add(step);
  }
  const repeated = mail.messages.filter((one) => lost.has(messageIdOf(one)) && steps.has(stepOf(one))).length;
  return {
    name: 'no contact is mailed a step twice, but for steps that were begun after the backup',
    seen: `${mail.messages.length} messages, ${lost.size} of no row, ${repeated} of them sent again`,
    faults,
  };
}

async function endedRight({ deps }: TestAssembly, mail: MailWorld, { campaignId, people }: Scenario): Promise<Check> {
  const onServer = new Set(mail.messages.map(messageIdOf));
  const sends = await deps.db('sends').where({ campaign_id: campaignId });
  const open = await deps.db('enrollments').where({ campaign_id: campaignId }).whereIn('state', ['pending', 'active']);
  return {
    name: 'every contact has ended, and every row is true',
    seen: `${people.length} contacts, ${sends.length} emails`,
    faults: [
      ...open.map(({ id, state }) => `${id} is ${state}`),
      ...sends
        .filter(({ state, message_id: id }) => (state === 'sent') !== onServer.has(id!) && state !== 'uncertain')
        .map(({ id, state }) => `${id} is ${state}, and ${onServer.has(id) ? '' : 'not '}on the server`),
    ],
  };
}
