/**
 * Emails whose worker died while it sent them, and whose workflow was lost with Temporal's store. Whatever became of
 * their lead, test run or direct send since then, the sweep settles each of them once.
 */
import test, { type ExecutionContext } from 'ava';
import { cancelTestRun } from '../../domain/campaigns/test-runs/cancel.ts';
import { advanceTestRun } from '../../domain/campaigns/test-runs/advance.ts';
import { deleteCampaign } from '../../domain/campaigns/remove.ts';
import { deleteContact } from '../../domain/audience/contacts/remove.ts';
import { advanceDirectSend } from '../../domain/inbox/direct-sends/advance.ts';
import { cancelScheduled } from '../../domain/inbox/direct-sends/scheduled.ts';
import { reconcile } from '../../domain/operations/system/reconcile.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { deliverSend } from '../../domain/sending/deliver.ts';
import { finishEnrollment } from '../../domain/sending/control/finish.ts';
import { pauseCampaign } from '../../domain/sending/control/status.ts';
import { advanceEnrollment } from '../../domain/sending/enrollment/advance.ts';
import { leaveCampaigns } from '../../domain/sending/leads/membership.ts';
import { newId } from '../../lib/ids.ts';
import { message } from '../../messages/index.ts';
import { createDirectSend } from '../harness/direct-sends.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../harness/factories.ts';
import { Crash, createFakeSmtp } from '../harness/fake-smtp.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { call, createWorld, noWorkflows, type World } from '../harness/world.ts';

/** Age (ms) of the claims. Longer than SEND_CLAIM_MS, so their workers count as dead. */
const AGE_MS = 10 * 60_000;

let world: World;
let mail: MailWorld;
let engine: Engine | undefined;
test.before(async () => {
  [world, mail] = await Promise.all([createWorld({ env: { WORKER_ROLES: 'temporal,relay' } }), startMailWorld()]);
});
test.after.always(async () => {
  await engine?.stop();
  await mail?.stop();
  await world?.close();
});

/**
 * Moment when the worker dies: before the mark for the end of the message, after the mark, or after a copy was stored
 * in Sent.
 */
type Death = 'unmarked' | 'marked' | 'copied';

interface Abandoned {
  organizationId: string;
  sendId: string;
  recipient: string;
  campaignId: string;
  contactId: string;
  /** Id of the test run, for the email of a test run. */
  runId: string;
}

/** Workspace with a mailbox at the mail server, a campaign of two emails and a contact. */
async function workspace() {
  const tenant = await world.tenant();
  const { organizationId } = tenant;
  const box = await mail.addMailbox({ email: `${newId()}@ours.test`, password: 'secret' });
  const mailboxId = await createMailbox(world.deps, organizationId, box.email, box);
  const { campaignId } = await createCampaign(world.deps, organizationId, [
    { subject: 'One', body_plain: 'one' },
    { subject: 'Two', body_plain: 'two' },
  ]);
  const recipient = `${newId()}@else.test`;
  const contactId = await createContact(world.deps.db, world.deps.clock.now(), organizationId, { email: recipient });
  return {
    tenant,
    organizationId,
    ctx: world.system(organizationId),
    box,
    mailboxId,
    campaignId,
    recipient,
    contactId,
  };
}

/** Makes the worker of a reserved email die, ten minutes ago. */
async function die({ ctx, box }: Awaited<ReturnType<typeof workspace>>, sendId: string, death: Death): Promise<void> {
  const { db, clock } = world.deps;
  const smtp = createFakeSmtp();
  smtp.next = () => (death === 'unmarked' ? 'die-before' : 'die-after');
  await db('sends').where({ id: sendId }).update({ slot_at: clock.now() });
  await deliverSend(ctx, { smtp }, sendId).catch((error: unknown) => {
    if (!(error instanceof Crash)) throw error;
  });
  if (death === 'copied') box.deliver(smtp.taken[0]!.raw, 'Sent');
  const claimedAt = new Date(clock.now().getTime() - AGE_MS);
  await db('sends').where({ id: sendId, state: 'sending' }).update({ claimed_at: claimedAt });
}

async function leadEmail(death: Death): Promise<Abandoned> {
  const place = await workspace();
  const { organizationId, ctx, campaignId, contactId, recipient } = place;
  const [enrollmentId] = await enroll(world.deps, organizationId, campaignId, [contactId]);
  const decision = await advanceEnrollment(ctx, enrollmentId!);
  if (!('sendId' in decision)) throw new Error(`no slot: ${JSON.stringify(decision)}`);
  await die(place, decision.sendId, death);
  return { organizationId, sendId: decision.sendId, recipient, campaignId, contactId, runId: '' };
}

async function testEmail(death: Death): Promise<Abandoned> {
  const place = await workspace();
  const { tenant, organizationId, ctx, campaignId, contactId, recipient } = place;
  const started = await call(world, 'POST', `/v1/campaigns/${campaignId}/test`, {
    token: tenant.apiKey,
    body: { contact_id: contactId },
  });
  if (started.status !== 202) throw new Error(JSON.stringify(started.body));
  const runId = started.body.id;
  const decision = await advanceTestRun(ctx, runId);
  if (decision.kind !== 'send') throw new Error(`no slot: ${JSON.stringify(decision)}`);
  await die(place, decision.sendId, death);
  return { organizationId, sendId: decision.sendId, recipient, campaignId, contactId, runId };
}

async function directEmail(death: Death): Promise<Abandoned> {
  const place = await workspace();
  const { organizationId, ctx, box, mailboxId, campaignId, contactId, recipient } = place;
  const sendId = await createDirectSend(
    world.deps,
    organizationId,
    { id: mailboxId, email: box.email },
    { to_emails: [recipient], contact_id: contactId, scheduled_at: world.deps.clock.now() },
  );
  const decision = await advanceDirectSend(ctx, sendId);
  if (decision.kind !== 'send') throw new Error(`no slot: ${JSON.stringify(decision)}`);
  await die(place, sendId, death);
  return { organizationId, sendId, recipient, campaignId, contactId, runId: '' };
}

const DEATHS: readonly Death[] = ['unmarked', 'marked', 'copied'];

/**
 * Abandons emails, then applies a change to each, then loses all workflows and searches for missing ones. Each email
 * must be settled by how its worker died, and nothing must be sent afterwards.
 * @param resent true if an email that was not submitted is still wanted, and so is sent once
 * @param waits true if the workflow stays open afterwards
 */
async function assertSettled(
  t: ExecutionContext,
  abandon: (death: Death) => Promise<Abandoned>,
  change: (email: Abandoned) => Promise<unknown>,
  { resent = false, waits = false } = {},
): Promise<void> {
  const { db } = world.deps;
  await engine?.stop();
  world.deps.workflows = noWorkflows;
  const emails = await Promise.all(
    DEATHS.map(async (death) => {
      const email = await abandon(death);
      await change(email);
      t.is((await db('sends').where({ id: email.sendId }).first())?.state, 'sending', `${death}: it is being sent`);
      return { death, ...email };
    }),
  );
  await db('outbox').delete();
  engine = await startEngine(world);
  await reconcile(world.deps);
  for (const { death, organizationId, sendId, recipient } of emails) {
    const row = await eventually(async () => {
      const [send] = await db('sends').where({ id: sendId });
      return send?.state === 'sending' || send?.state === 'reserved' ? undefined : { send };
    }, 60_000);
    const wanted = { unmarked: resent ? 'sent' : undefined, marked: 'uncertain', copied: 'sent' }[death];
    t.is(row.send?.state, wanted, death);
    const works = `ExecutionStatus = 'Running' and OrganizationId = '${organizationId}'`;
    if (!waits) await eventually(async () => (await engine!.temporal.workflow.count(works)).count === 0, 60_000);
    const came = mail.messages.filter(({ envelope }) => envelope.to.includes(recipient));
    t.is(came.length, resent && death === 'unmarked' ? 1 : 0, `${death}: the server got no other copy`);
    t.is(
      (await db('sends').where({ organization_id: organizationId })).length,
      wanted ? 1 : 0,
      `${death}: no other email`,
    );
  }
  const missing = (await reconcile(world.deps, { dryRun: true })).filter((report) => report.missing > 0);
  t.deepEqual(missing, [], 'nothing is left to start');
}

test.serial('of a test run that was cancelled', async (t) => {
  await assertSettled(t, testEmail, ({ organizationId, campaignId, runId }) =>
    cancelTestRun(world.system(organizationId), campaignId, runId),
  );
  const runs = await world.deps.db('test_runs');
  t.deepEqual(
    runs.map(({ state }) => state),
    DEATHS.map(() => 'cancelled'),
  );
});

test.serial('of a test run whose campaign or contact was deleted', async (t) => {
  await assertSettled(t, testEmail, ({ organizationId, campaignId }) =>
    deleteCampaign(world.system(organizationId), campaignId),
  );
  await assertSettled(t, testEmail, ({ organizationId, contactId }) =>
    deleteContact(world.system(organizationId), contactId),
  );
});

test.serial('of a lead that has ended', async (t) => {
  await assertSettled(t, leadEmail, ({ organizationId, sendId }) =>
    transact(world.system(organizationId), async (tx) => {
      const { enrollment_id: id } = (await tx.org.table('sends').where({ id: sendId }).first('enrollment_id'))!;
      await finishEnrollment(tx, id!, 'replied');
    }),
  );
});

test.serial('of a lead that was removed, or whose campaign or contact was deleted', async (t) => {
  await assertSettled(t, leadEmail, ({ organizationId, contactId }) =>
    transact(world.system(organizationId), (tx) => leaveCampaigns(tx, [contactId], null, message('ended.removed'))),
  );
  await assertSettled(t, leadEmail, ({ organizationId, campaignId }) =>
    deleteCampaign(world.system(organizationId), campaignId),
  );
  await assertSettled(t, leadEmail, ({ organizationId, contactId }) =>
    deleteContact(world.system(organizationId), contactId),
  );
});

test.serial('of a lead whose campaign was paused', async (t) => {
  await assertSettled(
    t,
    leadEmail,
    ({ organizationId, campaignId }) =>
      transact(world.system(organizationId), (tx) =>
        pauseCampaign(tx, campaignId, 'paused', message('log.restarted_for_email')),
      ),
    { waits: true },
  );
});

test.serial('of a direct send: it cannot be cancelled meanwhile, and leaves once', async (t) => {
  await assertSettled(
    t,
    directEmail,
    async ({ organizationId, sendId }) => {
      await t.throwsAsync(cancelScheduled(world.system(organizationId), sendId), { message: /being sent/ });
    },
    { resent: true },
  );
  await assertSettled(
    t,
    directEmail,
    ({ organizationId, contactId }) => deleteContact(world.system(organizationId), contactId),
    { resent: true },
  );
});

test.serial('of a direct send that has ended or was deleted', async (t) => {
  const { db } = world.deps;
  await assertSettled(t, directEmail, ({ sendId }) =>
    db('direct_sends').where({ id: sendId }).update({ state: 'cancelled' }),
  );
  await assertSettled(t, directEmail, ({ sendId }) => db('direct_sends').where({ id: sendId }).delete());
});
