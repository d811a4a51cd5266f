import test, { type ExecutionContext } from 'ava';
import { simpleParser } from 'mailparser';
import { decideApproval } from '../../domain/approvals/decide.ts';
import { approverCtx } from '../../test/harness/approvals.ts';
import { openApproved, playCampaign, type ApprovedDesk } from '../../test/harness/approved-desk.ts';
import { createFakeSmtp, type FakeSmtp } from '../../test/harness/fake-smtp.ts';
import { openRunDesk } from '../../test/harness/run-desk.ts';
import { createMondayWorld } from '../../test/harness/lead.ts';
import { assertStatus } from '../../test/harness/world.ts';
import { newId } from '../../lib/ids.ts';

const stage = await createMondayWorld(test);
const open = (settings: Parameters<typeof openApproved>[1] = {}): Promise<ApprovedDesk> =>
  openApproved(stage, settings);

async function onlyEmail(t: ExecutionContext, { taken }: FakeSmtp) {
  t.is(taken.length, 1);
  return simpleParser(taken[0]!.raw);
}

/**
 * Checks that the email was not sent, the campaign names the differing fields, and a person is asked to approve the
 * current version.
 */
async function assertStopped(t: ExecutionContext, desk: ApprovedDesk, fields: string[], others = 0) {
  await desk.slotComes();
  t.is(desk.smtp.offered, others, 'it does not leave');
  t.deepEqual(await desk.loggedFields(), fields);
  const [approval] = await desk.pending();
  t.truthy(approval, 'a person is asked again');
  t.deepEqual(approval!.reasons[0].message.values.fields, fields);
  return approval!;
}

test.serial('an email leaves as it was approved', async (t) => {
  const desk = await open();
  await desk.slotComes();
  const email = await onlyEmail(t, desk.smtp);
  const { samples } = desk.approval.payload;
  t.is(email.subject, samples[0]!.subject);
  t.is(email.text?.trim(), samples[0]!.text.trim());
  t.deepEqual(await desk.pending(), []);
});

test.serial('Reply-To of the sender is changed: nothing leaves, until a person approves it anew', async (t) => {
  const desk = await open();
  assertStatus(t, await desk.asPerson('PATCH', `/emails/${desk.mailboxId}`, { reply_to: 'thief@else.test' }), 200);
  const approval = await assertStopped(t, desk, ['reply_to']);
  t.is(approval.payload.senders[0]!.reply_to, 'thief@else.test', 'the approver sees it');
  t.is((await desk.campaign()).status, 'paused');
  t.is((await desk.decide(approval.id)).body.status, 'executed');
  await desk.slotComes();
  const email = await onlyEmail(t, desk.smtp);
  t.is(email.replyTo?.text, 'thief@else.test');
});

test.serial('the sender is connected anew under another name and server', async (t) => {
  const desk = await open();
  await desk.connect(desk.email, 'Somebody Else');
  await assertStopped(t, desk, ['name', 'smtp']);
});

test.serial('a sender that was switched off when the start was asked for is switched on', async (t) => {
  const desk = await open({ spare: { status: 'inactive' } });
  assertStatus(t, await desk.asKey('PATCH', `/emails/${desk.spareId}`, { status: 'active' }), 200);
  await desk.switchOff();
  await assertStopped(t, desk, ['mailbox']);
});

test.serial('a mailbox that is connected afterwards joins the default pool', async (t) => {
  const desk = await open();
  await desk.connect(`${newId()}@ours.test`, 'New');
  await desk.switchOff();
  await assertStopped(t, desk, ['mailbox']);
});

test.serial('the address of an approved lead is changed: the lead waits, its campaign does not', async (t) => {
  const desk = await open({ leads: 2 });
  const changed = `${newId()}@stranger.test`;
  assertStatus(t, await desk.asKey('PATCH', `/contacts/${desk.contactIds[0]}`, { email: changed }), 200);
  const approval = await assertStopped(t, desk, ['Email'], 1);
  t.is((await desk.campaign()).status, 'active');
  t.deepEqual(approval.payload.recipients.addresses, [changed]);
  t.is(approval.subject_type, 'campaign_leads');
  t.like(await desk.lead(desk.contactIds[0]!), { hold_source: 'approval' });
  t.is((await desk.asKey('POST', `/campaigns/${desk.campaignId}/leads/${desk.contactIds[0]}/resume`, {})).status, 403);
  t.is((await desk.decide(approval.id)).body.status, 'executed');
  await desk.slotComes();
  t.deepEqual(desk.smtp.taken.at(-1)!.to, [changed]);
});

test.serial(
  'a tracking domain is verified: nothing leaves; one that fails its check stops no approved email',
  async (t) => {
    const domain = 'track.example.com';
    const desk = await open({ campaign: { tracking_domain: domain } });
    const verify = (isVerified: boolean) =>
      stage.world.deps.db('campaigns').where({ id: desk.campaignId }).update({ tracking_domain_verified: isVerified });
    await verify(true);
    const approval = await assertStopped(t, desk, ['tracking_domain']);
    t.is((await desk.decide(approval.id)).body.status, 'executed');
    await verify(false);
    await desk.slotComes();
    await onlyEmail(t, desk.smtp);
    const { raw } = desk.smtp.taken[0]!;
    t.false(raw.includes(domain));
    t.true(raw.includes(`<${stage.world.deps.config.TRACKING_DOMAIN}/u/`), 'links use the host of the installation');
  },
);

test.serial('name and Reply-To of a single email that waits for its time', async (t) => {
  const desk = await open();
  const written = {
    email_account_id: desk.mailboxId,
    to: ['lea@else.test'],
    subject: 'Hello Lea',
    body_plain: 'Hi',
    send_mode: 'scheduled',
    scheduled_at: '2026-03-03T10:00:00Z',
  };
  const { body } = await desk.asKey('POST', '/unibox/compose', written);
  t.is((await desk.decide(body.approval_id)).body.status, 'executed');
  const patched = await desk.asPerson('PATCH', `/emails/${desk.mailboxId}`, {
    name: 'CEO',
    reply_to: 'thief@else.test',
  });
  assertStatus(t, patched, 200);
  await desk.singleComes(body.task_id, new Date('2026-03-03T10:00:00Z'));
  t.is(desk.smtp.offered, 0);
  const row = await stage.world.deps.db('direct_sends').where({ id: body.task_id }).first();
  t.is(row.state, 'awaiting_approval');
  const again = await stage.world.deps.db('approvals').where({ id: row.approval_id }).first();
  t.deepEqual(again.reasons[0].message.values.fields, ['name', 'reply_to']);
  t.is((await desk.decide(again.id)).body.status, 'executed');
  await desk.singleComes(body.task_id, new Date('2026-03-03T10:00:00Z'));
  const [email] = desk.smtp.taken;
  t.regex(email!.raw, /^From: CEO </m);
});

test.serial('a held email of a key that was revoked is denied, as a held start is', async (t) => {
  const desk = await open();
  const { body } = await desk.asKey('POST', '/unibox/compose', {
    email_account_id: desk.mailboxId,
    to: ['lea@else.test'],
    subject: 'Hello Lea',
    body_plain: 'Hi',
  });
  await stage.world.deps.db('api_keys').where({ id: desk.tenant.apiKeyId }).update({ status: 'revoked' });
  await desk.decide(body.approval_id);
  t.like(await stage.world.deps.db('direct_sends').where({ id: body.task_id }).first(), {
    state: 'denied',
    error_code: 'revoked',
  });
});

test.serial(
  'a key that has no policy adds a lead to a campaign that sends: it is stored, and waits for a person',
  async (t) => {
    const desk = await open();
    await desk.slotComes();
    const email = `${newId()}@more.test`;
    const held = await desk.asKey('POST', '/contacts', [{ email, campaigns: [desk.campaignId] }]);
    assertStatus(t, held, 202);
    const contact = await stage.world.deps.db('contacts').where({ email }).first();
    t.like(await desk.lead(contact.id), { hold_source: 'approval', state: 'pending' });
    await desk.slotComes();
    t.is(desk.smtp.taken.length, 1, 'the lead waits');
    t.is((await desk.decide(held.body.approval_id)).body.status, 'executed');
    await desk.slotComes();
    t.deepEqual(desk.smtp.taken.at(-1)!.to, [email]);
  },
);

test.serial('the emails of an agent run are compared with its approval as well', async (t) => {
  const { world, clock } = stage;
  const desk = await openRunDesk(world);
  const waiting = await desk.step(await desk.create());
  await desk.decide(waiting.id, 'approved');
  t.is((await desk.step(await desk.step(waiting))).state, 'active');
  const campaign = await desk.campaign(waiting.id);
  t.is(campaign.approval_id, waiting.approval_id);
  const row = world.deps.db('mailboxes').where({ id: desk.mailboxId });
  await row.clone().update({ reply_to: 'thief@else.test' });
  clock.set(new Date('2026-03-03T12:00:00Z'));
  const smtp = createFakeSmtp();
  const { organizationId } = desk.tenant;
  const play = () => playCampaign(stage, { organizationId, campaignId: campaign.id, smtp });
  await play();
  t.is(smtp.offered, 0);
  t.is((await desk.campaign(waiting.id)).status, 'paused');
  const again = await world.deps.db('approvals').where({ subject_id: campaign.id, status: 'pending' }).first();
  t.deepEqual(again.reasons[0].message.values.fields, ['reply_to']);
  await decideApproval(approverCtx(world.deps, desk.tenant), again.id, { decision: 'approved' });
  await play();
  t.true(smtp.taken.length >= 2, 'approved anew, it leaves');
});
