import { setTimeout as sleep } from 'node:timers/promises';
import { acceptDirectSend } from '../../domain/inbox/direct-sends/create.ts';
import { systemCtx } from '../../domain/platform/kernel/context.ts';
import { eventually } from '../harness/eventually.ts';
import type { RawDb, TestDeps } from '../harness/database.ts';
import { createMailbox, createTenant } from '../harness/factories.ts';
import { startMailWorld, type MailWorld, type ReceivedMessage } from '../harness/mail.ts';
import { messageIdOf } from './mail-record.ts';
import { onInstallation, type Kept } from './installation.ts';
import type { Part } from './parts.ts';
import { seeded, type Random } from './random.ts';
import type { Check } from './reconcile.ts';

interface DirectFaults {
  seed: number;
  /** Number of emails that a person writes while workers are killed. */
  emails: number;
  kills: number;
  /** Time (ms) after the last kill at which unfinished emails are abandoned. */
  settleMs: number;
  log: (line: string) => void;
}

const SETTINGS: Record<string, string> = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'info',
  ALLOW_PRIVATE_MAIL_HOSTS: 'true',
  // This is longer than any delay of the mail server, so that a running attempt is never mistaken for an abandoned one.
  SEND_CLAIM_MS: '5000',
};
const MAILBOXES = 4;

/**
 * Kills the worker with SIGKILL during direct sends and lets the sends finish. Then compares claims, handovers and
 * received emails.
 */
export async function runDirectFaults(options: DirectFaults): Promise<{ checks: Check[] } & Kept> {
  const mail = await startMailWorld();
  try {
    return await onInstallation({ workers: 1, env: SETTINGS, log: options.log }, async ({ workers }, { deps }) => {
      await play(options, mail, workers[0]!, deps);
      return { checks: await compareDirectSends(deps.db, mail.messages) };
    });
  } finally {
    await mail.stop();
  }
}

async function play(options: DirectFaults, mail: MailWorld, worker: Part, deps: TestDeps): Promise<void> {
  const random = seeded(options.seed);
  const { organizationId } = await createTenant(deps, 'Direct faults');
  const mailboxIds = await makeMailboxes(deps, mail, organizationId);
  const ctx = systemCtx(deps, organizationId, 'faults');
  const killing = (async () => {
    for (let n = 0; n < options.kills; n += 1) {
      await sleep(random.between(1_500, 3_500));
      await worker.kill();
      options.log(`kill ${n + 1} of the worker`);
      await sleep(random.between(100, 1_000));
      await worker.restart();
    }
  })();
  for (let index = 0; index < options.emails; index += 1) {
    const to = `p${index}@people.example.org`;
    scriptMail(mail, to, random);
    await acceptDirectSend(ctx, 'compose', {
      email_account_id: mailboxIds[index % MAILBOXES]!,
      to: [to],
      subject: `Mail ${index}`,
      body_plain: 'Hello',
    });
    await sleep(random.between(50, 350));
  }
  await killing;
  const open = () => deps.db('direct_sends').whereIn('state', ['awaiting_approval', 'queued']).first('id');
  await eventually(async () => !(await open()), options.settleMs, 250).catch(() => {});
}

async function makeMailboxes(deps: TestDeps, mail: MailWorld, organizationId: string): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < MAILBOXES; index += 1) {
    const box = await mail.addMailbox({ email: `writer${index}@faults.example.com`, password: 'secret' });
    ids.push(await createMailbox(deps, organizationId, box.email, { smtp: box.smtp, imap: box.imap }));
  }
  return ids;
}

function scriptMail(mail: MailWorld, to: string, random: Random): void {
  const draw = random.next();
  if (draw < 0.4) mail.script(to, { kind: 'delay', ms: Math.round(random.between(500, 2_000)) });
  else if (draw < 0.5) mail.script(to, { kind: 'drop' });
  else if (draw < 0.6) mail.script(to, { kind: 'drop', lose: true });
  else if (draw < 0.7) mail.script(to, { kind: 'reject' });
}

/** Compares three records: claims and handovers in the database, and emails received by the mail server. */
export async function compareDirectSends(db: RawDb, record: readonly ReceivedMessage[]): Promise<Check[]> {
  const copies = new Map<string, number>();
  for (const message of record) copies.set(messageIdOf(message), (copies.get(messageIdOf(message)) ?? 0) + 1);
  const rows = await db('direct_sends as d')
    .leftJoin('sends as s', 's.id', 'd.id')
    .select(
      'd.id',
      'd.state',
      'd.message_id',
      's.state as mail',
      's.claimed_at',
      's.handover',
      's.message_id as named',
    );
  const received = (row: { message_id: string }) => copies.get(row.message_id) ?? 0;
  const faults = rows.flatMap((row) => {
    const found: string[] = [];
    if (row.state !== row.mail) found.push(`${row.id} is ${row.state}, its email ${row.mail}`);
    if (row.named !== row.message_id) found.push(`${row.id} left under another Message-ID`);
    if (received(row) > 1) found.push(`${row.id} was received ${received(row)} times`);
    if (row.state === 'sent' && received(row) !== 1) found.push(`${row.id} is sent and was not received`);
    if (row.handover !== 'begun' && received(row) > 0) found.push(`${row.id} was received, but its end not marked`);
    if (row.handover !== 'begun' && ['sent', 'uncertain'].includes(row.state))
      found.push(`${row.id} is ${row.state}, but its end was not marked`);
    if (!['sent', 'uncertain', 'bounced'].includes(row.state)) found.push(`${row.id} has not ended: ${row.state}`);
    return found;
  });
  const known = new Set(rows.map(({ message_id: id }) => id));
  const letters = await db('dead_letters').where({ task_type: 'uncertain_email', status: 'pending' }).pluck('task_id');
  const uncertain = rows.filter(({ state }) => state === 'uncertain');
  const told = await db('domain_events').where({ type: 'inbox.email_sent' });
  return [
    {
      name: 'claimed, handed over, received',
      seen: `${rows.filter((row) => row.claimed_at).length} claimed, ${rows.filter((row) => row.handover === 'begun').length} handed over, ${rows.filter((row) => received(row) > 0).length} received of ${rows.length}; ${uncertain.length} uncertain`,
      faults,
    },
    {
      name: 'every message is a direct send, every uncertain one a dead letter',
      seen: `${record.length} messages, ${letters.length} dead letters`,
      faults: [
        ...[...copies.keys()].filter((id) => !known.has(id)).map((id) => `${id} is in no row`),
        ...uncertain.filter(({ id }) => !letters.includes(id)).map(({ id }) => `${id} is no dead letter`),
      ],
    },
    {
      name: 'one event per email that left',
      seen: `${told.length} events`,
      faults:
        told.length === rows.filter(({ state }) => state === 'sent').length
          ? []
          : ['the events are not as many as the emails'],
    },
  ];
}
