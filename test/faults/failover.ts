import { setTimeout as sleep } from 'node:timers/promises';
import { acceptDirectSend } from '../../domain/inbox/direct-sends/create.ts';
import { systemCtx } from '../../domain/platform/kernel/context.ts';
import type { TestDeps } from '../harness/database.ts';
import { openDoor, type Door } from '../harness/door.ts';
import { eventually } from '../harness/eventually.ts';
import { createMailbox, createTenant } from '../harness/factories.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { compareDirectSends } from './direct-sends.ts';
import { onInstallation, type Kept } from './installation.ts';
import type { Part } from './parts.ts';
import type { Check } from './reconcile.ts';

interface Failover {
  /** Number of emails in flight when the database vanishes. */
  emails: number;
  /** Time (ms) without any database. */
  awayMs: number;
  /** Time (ms) after the first connection to the new database at which unfinished emails are abandoned. */
  settleMs: number;
  log: (line: string) => void;
}

interface FailoverReport {
  checks: Check[];
  /** Time (ms) from the first connection to the new database until all emails were settled. */
  settledMs: number;
}

const SETTINGS: Record<string, string> = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'info',
  ALLOW_PRIVATE_MAIL_HOSTS: 'true',
  // All emails belong to one organization, which may use only a part of the sessions.
  SMTP_HOST_SESSIONS: '100',
};
/** Time (ms) that the mail server takes to answer, so that all emails are in flight together. */
const ANSWER_MS = 30_000;

/**
 * Cuts the database off from a worker silently while the worker sends emails. Its connections stay open and silent at
 * both ends, so that the server also keeps their locks. New connections are accepted but not answered. After a time new
 * connections reach the database. Lets the same process finish, and compares claims, handovers and received emails.
 */
export async function runFailover(options: Failover): Promise<FailoverReport & Kept> {
  const mail = await startMailWorld();
  let door: Door | undefined;
  const furtherEnv = async ({ PRIMARY_DB: url }: Record<string, string>) => {
    door = await openDoor(url!);
    return { PRIMARY_DB: door.url };
  };
  try {
    return await onInstallation(
      { workers: 2, env: SETTINGS, furtherEnv, log: options.log },
      async ({ workers: [other, worker], deaths }, { deps }) => {
        await other!.kill();
        const play = { door: door!, worker: worker!, mail, deps };
        const { settledMs, health } = await loseDatabase(options, play);
        const silence: Check = {
          name: 'the process lives, and says so',
          seen: `${health.length} answers of /health`,
          faults: [...deaths, ...health.filter((status) => status !== 200).map((status) => `/health was ${status}`)],
        };
        return { checks: [...(await compareDirectSends(deps.db, mail.messages)), silence], settledMs };
      },
    );
  } finally {
    door?.close();
    await mail.stop();
  }
}

async function loseDatabase(
  { emails, awayMs, settleMs, log }: Failover,
  { door, worker, mail, deps }: { door: Door; worker: Part; mail: MailWorld; deps: TestDeps },
): Promise<{ settledMs: number; health: number[] }> {
  const { organizationId } = await createTenant(deps, 'Failover');
  const ctx = systemCtx(deps, organizationId, 'faults');
  const mailboxes: string[] = [];
  for (let index = 0; index < emails; index += 1) {
    const box = await mail.addMailbox({ email: `writer${index}@faults.example.com`, password: 'secret' });
    mailboxes.push(await createMailbox(deps, organizationId, box.email, { smtp: box.smtp, imap: box.imap }));
  }
  const write = async (to: string, index: number): Promise<void> => {
    const email = { email_account_id: mailboxes[index % emails]!, to: [to], subject: to, body_plain: 'Hello' };
    await acceptDirectSend(ctx, 'compose', email);
  };
  const open = () => deps.db('direct_sends').whereIn('state', ['awaiting_approval', 'queued']).first('id');
  // Sends emails first, because a mail server gets few parallel sessions until it has answered often.
  for (let index = 0; index < 2 * emails; index += 1) await write(`first${index}@people.example.org`, index);
  await eventually(async () => !(await open()), 90_000, 250);
  for (let index = 0; index < emails; index += 1) {
    mail.script(`p${index}@people.example.org`, { kind: 'delay', ms: ANSWER_MS });
    await write(`p${index}@people.example.org`, index);
  }
  const underWay = async () => (await deps.db('sends').where({ state: 'sending' }).select('id')).length;
  await eventually(async () => (await underWay()) === emails, 90_000, 100);
  door.setSilent(true);
  door.forget();
  log(`the database is away with ${emails} emails in flight`);
  const health: number[] = [];
  const until = performance.now() + awayMs;
  while (performance.now() < until) {
    await sleep(1_000);
    health.push((await fetch(`${worker.url}/health`)).status);
  }
  const taken = door.taken();
  door.setSilent(false);
  await eventually(async () => door.taken() > taken, 60_000, 20);
  const acceptedAt = performance.now();
  log('the new database has accepted the first connection');
  await eventually(async () => !(await open()), settleMs, 100).catch(() => {});
  const settledMs = performance.now() - acceptedAt;
  log(`all is settled ${Math.round(settledMs)} ms later`);
  health.push((await fetch(`${worker.url}/health`)).status);
  return { settledMs, health };
}
