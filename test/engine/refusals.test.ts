import test from 'ava';
import { advanceEnrollment } from '../../domain/sending/enrollment/advance.ts';
import { deliverSend } from '../../domain/sending/deliver.ts';
import { createSmtpSender } from '../../lib/smtp/index.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../harness/factories.ts';
import { createMondayWorld } from '../harness/lead.ts';
import { startScriptedSmtp, type SmtpMoment, type SmtpMove } from '../harness/smtp-script.ts';
import { render } from '../../messages/render.ts';

const MINUTE_MS = 60_000;
const { world, clock } = await createMondayWorld(test);

/** Creates leads of one campaign with one mailbox, at a mail server that answers as `server.answer` defines. */
async function given(t: { teardown(fn: () => unknown): void }, leads = 3, extensions?: string[]) {
  const server = { answer: (_moment: SmtpMoment, _line: string): SmtpMove => 'ok' };
  const smtpServer = await startScriptedSmtp({
    ...(extensions ? { extensions } : {}),
    move: (moment, line) => server.answer(moment, line),
  });
  const smtp = createSmtpSender({ allowPrivate: true, connectTimeoutMs: 2000, socketTimeoutMs: 2000, idleMs: 1000 });
  t.teardown(async () => {
    await smtp.close();
    await smtpServer.stop();
  });
  const { db } = world.deps;
  const { organizationId } = await world.tenant();
  const ctx = world.system(organizationId);
  const { host, port } = smtpServer;
  const mailboxId = await createMailbox(world.deps, organizationId, 'm@s.example.com', { smtp: { host, port } });
  const { campaignId } = await createCampaign(world.deps, organizationId, [{ subject: 'S', body_plain: 'b' }]);
  const contacts: string[] = [];
  for (let n = 0; n < leads; n += 1) contacts.push(await createContact(db, clock.now(), organizationId));
  const enrollmentIds = await enroll(world.deps, organizationId, campaignId, contacts);

  /** Executes the next step of a lead's workflow without advancing the clock; null if the lead must wait. */
  async function step(enrollmentId: string): Promise<string | null> {
    const decision = await advanceEnrollment(ctx, enrollmentId);
    if (decision.kind === 'slot' && decision.at > clock.now().getTime()) return null;
    if (decision.kind !== 'send' && decision.kind !== 'slot') return null;
    return (await deliverSend(ctx, { smtp }, decision.sendId)).outcome;
  }
  return {
    server,
    taken: smtpServer.taken,
    connections: () => smtpServer.connections(),
    mailbox: () => db('mailboxes').where({ id: mailboxId }).first(),
    setGap: (seconds: number) => db('mailboxes').where({ id: mailboxId }).update({ min_wait_time: seconds }),
    warnings: () => db('mailbox_errors').where({ mailbox_id: mailboxId, severity: 'warning' }).orderBy('id'),
    /** Sets the mailbox's SMTP port. A port without a server refuses connections. */
    pointTo: (to: number) =>
      db('mailboxes')
        .where({ id: mailboxId })
        .update({ smtp: db.raw(`jsonb_set(smtp, '{port}', ?::jsonb)`, [String(to)]) }),
    port,
    sends: () => db('sends').where({ organization_id: organizationId }),
    counts: async () =>
      (await db('daily_counters').where({ organization_id: organizationId }).whereNot({ count: 0 })).length,
    states: async () =>
      (await db('enrollments').whereIn('id', enrollmentIds).select('state')).map(({ state }) => state),
    suppressed: async () => (await db('suppressions').where({ organization_id: organizationId })).length,
    bounced: async () =>
      (await db('domain_events').where({ organization_id: organizationId }).where('type', 'like', '%bounce%')).length,
    /** Runs every lead every few minutes, by default three. Returns the outcomes. */
    async run(minutes: number, every = 3): Promise<string[]> {
      const outcomes: string[] = [];
      for (let passed = 0; passed < minutes; passed += every) {
        for (const enrollmentId of enrollmentIds) {
          const outcome = await step(enrollmentId);
          if (outcome !== null) outcomes.push(outcome);
        }
        clock.advance(every * MINUTE_MS);
      }
      return outcomes;
    },
    ctx,
  };
}

type Given = Awaited<ReturnType<typeof given>>;

/** Asserts that no lead was affected: all continue, no failure is counted, no address is suppressed. */
async function noLeadIsBlamed(t: { deepEqual: Function; is: Function }, { states, suppressed, bounced }: Given) {
  t.deepEqual(new Set(await states()), new Set(['active']));
  t.is(await suppressed(), 0);
  t.is(await bounced(), 0);
}

test.serial(
  'a server that says the daily limit is reached: the mailbox rests, and all three are mailed later',
  async (t) => {
    const all = await given(t);
    const words = "550 5.1.90 Your message can't be sent because you've reached your daily limit";
    let asked = 0;
    all.server.answer = (moment) => {
      if (moment !== 'rcpt') return 'ok';
      asked += 1;
      return { reply: words };
    };
    const began = clock.now().getTime();
    const outcomes = await all.run(60);
    t.deepEqual([...new Set(outcomes)], ['mailbox_held']);
    t.is(asked, 1, 'a mailbox that is held tries no other lead');
    await noLeadIsBlamed(t, all);
    const { hold_code: code, hold_reason: reason, hold_until: until } = await all.mailbox();
    t.is(code, 'sending_limit');
    t.regex(render(reason), /reached your daily limit/);
    t.true(until.getTime() > began + 3 * 60 * MINUTE_MS);
    t.deepEqual(await all.sends(), [], 'no slot stays with an email that was refused');
    t.is(await all.counts(), 0);

    all.server.answer = () => 'ok';
    clock.set(new Date(until.getTime() + 1000));
    await all.run(60);
    t.is(all.taken.length, 3);
    t.deepEqual(new Set(await all.states()), new Set(['completed']));
  },
);

test.serial(
  'an outage of 81 minutes, first no connection, then 421: no lead fails, and all are mailed after it',
  async (t) => {
    const all = await given(t);
    await all.pointTo(1);
    const refused = await all.run(42);
    t.true(refused.length > 0);
    t.deepEqual([...new Set(refused)], ['deferred']);
    await all.pointTo(all.port);
    all.server.answer = (moment) =>
      moment === 'greeting' ? { reply: '421 Service not available, closing transmission channel', cut: true } : 'ok';
    await all.run(39);
    t.true(all.connections() > 0);
    await noLeadIsBlamed(t, all);
    t.is((await all.mailbox()).status, 'active');
    all.server.answer = () => 'ok';
    await all.run(180);
    t.is(all.taken.length, 3);
    t.deepEqual(new Set(await all.states()), new Set(['completed']));
  },
);

test.serial('a message refused by policy ends one lead without listing it, and the others go on', async (t) => {
  const all = await given(t);
  let unwanted: string | undefined;
  all.server.answer = (moment, line) => {
    if (moment !== 'body') return 'ok';
    unwanted ??= line;
    return line === unwanted ? { reply: '550 5.7.1 Message rejected by our content policy' } : 'ok';
  };
  const outcomes = await all.run(60);
  t.deepEqual(outcomes.filter((outcome) => outcome === 'sent' || outcome === 'bounced').sort(), [
    'bounced',
    'sent',
    'sent',
  ]);
  t.is(await all.suppressed(), 0);
  t.is(all.taken.length, 2);
  const [warning, ...others] = await all.warnings();
  t.is(warning.error_code, 'content_refused', 'the refusal is shown with the mailbox');
  t.regex(render(warning.message), /content policy/);
  t.deepEqual(others, []);
  t.is((await all.mailbox()).hold_code, null);
});

test.serial('an email larger than its own server takes fails and is no bounce, announced or not', async (t) => {
  const announced = await given(t, 1, ['AUTH PLAIN', 'SIZE 10']);
  const found = await given(t, 1);
  found.server.answer = (moment) => (moment === 'body' ? { reply: '552 5.3.4 Message file too big' } : 'ok');
  for (const all of [announced, found]) {
    t.deepEqual(await all.run(5), ['failed']);
    t.deepEqual(await all.states(), ['failed']);
    const [send] = await all.sends();
    t.is(send.error_code, 'message_too_large');
    t.regex(render(send.error_detail), /takes no email of this size/);
    t.is(await all.bounced(), 0);
    t.is(await all.suppressed(), 0);
    t.is((await all.mailbox()).hold_code, null);
  }
});

test.serial('many refusals for the content are one warning a day', async (t) => {
  const all = await given(t, 3);
  all.server.answer = (moment) =>
    moment === 'body' ? { reply: '550 5.7.1 Message rejected by our content policy' } : 'ok';
  t.deepEqual(await all.run(60), ['bounced', 'bounced', 'bounced']);
  t.is((await all.warnings()).length, 1);
});

test.serial('the mailbox keeps its distance from an email that was refused too', async (t) => {
  const all = await given(t, 2);
  const gapSeconds = 600;
  await all.setGap(gapSeconds);
  let refused = false;
  all.server.answer = (moment) => {
    if (moment !== 'rcpt' || refused) return 'ok';
    refused = true;
    return { reply: '550 5.1.1 No such user' };
  };
  t.deepEqual(await all.run(gapSeconds / 60 + 5, 1), ['bounced', 'sent']);
  const [first, second] = (await all.sends()).map((send) => send.claimed_at.getTime()).sort();
  t.true(second - first >= gapSeconds * 1000, `${second - first} ms`);
});

test.serial('a full mailbox is tried again, and mailed when it has room', async (t) => {
  const all = await given(t, 1);
  all.server.answer = (moment) => (moment === 'rcpt' ? { reply: '452 4.2.2 Mailbox full' } : 'ok');
  t.deepEqual([...new Set(await all.run(12))], ['deferred']);
  await noLeadIsBlamed(t, all);
  t.is((await all.mailbox()).hold_code, null, "a recipient's full mailbox holds nothing of ours");
  all.server.answer = () => 'ok';
  await all.run(120);
  t.is(all.taken.length, 1);
});

test.serial('a refused sign-in holds the mailbox, gives the slots back and blames no lead', async (t) => {
  const all = await given(t);
  all.server.answer = (moment) =>
    moment === 'auth' ? { reply: '535 5.7.8 Username and Password not accepted' } : 'ok';
  t.deepEqual([...new Set(await all.run(30))], ['mailbox_held']);
  await noLeadIsBlamed(t, all);
  const { hold_code: code, hold_until: until } = await all.mailbox();
  t.is(code, 'auth_failed');
  t.deepEqual(await all.sends(), []);
  t.is(await all.counts(), 0);
  all.server.answer = () => 'ok';
  clock.set(new Date(until.getTime() + 1000));
  await all.run(60);
  t.is(all.taken.length, 3);
});
