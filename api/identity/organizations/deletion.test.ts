import test from 'ava';
import { claimWarmup } from '../../../domain/mailboxes/warmup/deliver.ts';
import { transact } from '../../../domain/platform/kernel/transact.ts';
import { activateCampaign, lockCampaign } from '../../../domain/sending/control/status.ts';
import { hashPassword } from '../../../lib/crypto.ts';
import { newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { chain, createAutomation } from '../../../test/harness/automations.ts';
import { createDirectSend, createWritingDesk } from '../../../test/harness/direct-sends.ts';
import { createMember, createSession, type Tenant } from '../../../test/harness/factories.ts';
import { createLead, createMondayWorld } from '../../../test/harness/lead.ts';
import { PASSWORD } from '../../../test/harness/people.ts';
import { assertStatus, call, type Answer } from '../../../test/harness/world.ts';

const CURRENT = '/v1/organizations/current';
const ME = '/v1/auth/me';
const stage = await createMondayWorld(test);
const { world, clock } = stage;
const { db } = world.deps;

const EMAIL = { to: ['lea@else.test'], subject: 'S', body_plain: 'b' };

type Person = Pick<Tenant, 'userId' | 'organizationId'>;

/**
 * Calls the API as a signed-in person. Uses a new session, because an earlier one may have expired by the test's clock.
 */
async function ask(person: Person, method: string, path: string, body?: unknown): Promise<Answer> {
  const token = await createSession(world.deps, person.userId, person.organizationId);
  return call(world, method, path, { token, body });
}

const deletionOf = (subject: string) => db('deletions').where({ subject_id: subject }).orderBy('id', 'desc').first();

test.serial('an owner confirms with the name; others are refused, and the name is compared', async (t) => {
  const tenant = await world.tenant('Blue');
  const member = await createMember(world.deps, tenant, 'Admin');
  const asAdmin = { userId: member.userId, organizationId: tenant.organizationId };
  t.is((await ask(asAdmin, 'DELETE', CURRENT, { name: 'Blue' })).body.code, 'forbidden');
  const wrong = await ask(tenant, 'DELETE', CURRENT, { name: 'blue' });
  t.like(wrong.body, { code: 'bad_request', problems: [{ path: 'body.name' }] });
  assertStatus(t, await ask(tenant, 'POST', `${CURRENT}/restore`), 409);

  const scheduled = await ask(tenant, 'DELETE', CURRENT, { name: 'Blue' });
  assertStatus(t, scheduled, 200);
  t.is(scheduled.body.deletion_scheduled_at, clock.now().toISOString());
  t.is(scheduled.body.deletion_scheduled_for, new Date(clock.now().getTime() + 14 * 86_400_000).toISOString());
  assertStatus(t, await ask(tenant, 'DELETE', CURRENT, { name: 'Blue' }), 409);

  // Members may still read. All other requests are refused, and the refusal contains the date of the deletion.
  assertStatus(t, await ask(asAdmin, 'GET', CURRENT), 200);
  assertStatus(t, await ask(asAdmin, 'GET', '/v1/contacts'), 200);
  const refused = await ask(asAdmin, 'POST', '/v1/contacts', [{ email: 'lea@else.test' }]);
  t.is(refused.status, 403);
  t.is(refused.body.code, 'workspace_deletion_scheduled');
  t.regex(refused.body.message, /Mar 16, 2026/);
  t.is((await ask(asAdmin, 'POST', `${CURRENT}/restore`)).body.code, 'forbidden');
  const byKey = await call(world, 'GET', '/v1/contacts', { token: tenant.apiKey });
  t.is(byKey.body.code, 'workspace_deletion_scheduled');

  const kept = await ask(tenant, 'POST', `${CURRENT}/restore`);
  t.is(kept.body.deletion_scheduled_for, null);
  world.actors.forget();
  assertStatus(t, await call(world, 'GET', '/v1/contacts', { token: tenant.apiKey }), 200);
  assertStatus(t, await ask(asAdmin, 'POST', '/v1/contacts', [{ email: 'lea@else.test' }]), 200);
  const trail = await db('audit_logs').where({ organization_id: tenant.organizationId }).orderBy('id').pluck('action');
  t.deepEqual(
    trail.filter((action: string) => action.startsWith('organization.')),
    ['organization.deletion_scheduled', 'organization.deletion_called_back'],
  );
});

test.serial(
  'the request stops campaigns, unsent emails and warmup, and keeping the workspace starts none',
  async (t) => {
    const lead = await createLead(stage);
    const { tenant, organizationId, campaignId, mailboxId } = lead;
    const sendId = await lead.reserve();
    const emailId = await createDirectSend(world.deps, organizationId, { id: mailboxId, email: 'm@s.example.com' });
    await db('mailboxes').where({ id: mailboxId }).update({ warmup: clock.now() });
    await db('warmup_standings').insert({ mailbox_id: mailboxId, organization_id: organizationId });
    assertStatus(t, await ask(tenant, 'DELETE', CURRENT, { name: 'Acme' }), 200);
    t.is(await lead.readSend(sendId), undefined, 'the slot is released');
    const states = async () => ({
      campaign: (await db('campaigns').where({ id: campaignId }).first()).status,
      email: (await db('direct_sends').where({ id: emailId }).first()).state,
      isWarming: (await db('mailboxes').where({ id: mailboxId }).first()).warmup_paused_at === null,
    });
    const stopped = { campaign: 'paused', email: 'cancelled', isWarming: false };
    t.deepEqual(await states(), stopped);
    assertStatus(t, await ask(tenant, 'POST', `${CURRENT}/restore`), 200);
    t.deepEqual(await states(), stopped);
    assertStatus(t, await ask(tenant, 'POST', `/v1/campaigns/${campaignId}/start`), 200);
  },
);

test.serial('open approvals end, their emails are refused, and automations are switched off', async (t) => {
  const desk = await createWritingDesk(stage);
  const { tenant } = desk;
  const held = await desk.post(`/emails/${desk.mailboxId}/send`, EMAIL, tenant.apiKey, { 'idempotency-key': newId() });
  t.is(held.body.result, 'awaiting_approval');
  const automationId = await createAutomation(world, tenant.organizationId, 'email.replied', chain());
  assertStatus(t, await ask(tenant, 'DELETE', CURRENT, { name: 'Acme' }), 200);
  const approval = await db('approvals').where({ organization_id: tenant.organizationId }).first();
  t.is(approval.status, 'expired');
  t.is((await desk.read(approval.subject_id)).state, 'denied');
  t.false((await db('automations').where({ id: automationId }).first()).enabled);
  const decided = await ask(tenant, 'POST', `/v1/approvals/${approval.id}/decision`, { decision: 'approved' });
  t.is(decided.body.code, 'workspace_deletion_scheduled');
  t.is((await ask(tenant, 'POST', `/v1/approvals/${approval.id}/decision`, { decision: 'denied' })).status, 409);
});

test.serial('no email is claimed and no campaign activated, whoever asks', async (t) => {
  const lead = await createLead(stage);
  const { organizationId, campaignId, ctx } = lead;
  const sendId = await lead.reserve();
  const desk = await createWritingDesk(stage);
  // Simulates work that began before the deletion was requested.
  const ends = { deletion_scheduled_for: new Date(clock.now().getTime() + 1000) };
  await db('organizations').where({ id: organizationId }).update(ends);
  t.like(await lead.deliver(sendId), { outcome: 'workspace_deletion_scheduled' });
  t.is(lead.smtp.offered, 0);
  t.is(await lead.readSend(sendId), undefined);

  await db('campaigns').where({ id: campaignId }).update({ status: 'paused' });
  const activate = transact(ctx, async (tx) =>
    activateCampaign(tx, await lockCampaign(tx, campaignId), {
      type: 'campaign_started',
      message: message('log.campaign_started'),
    }),
  );
  await t.throwsAsync(activate, { message: /will be deleted/ });

  const written = await desk.post(`/emails/${desk.mailboxId}/send`, EMAIL);
  assertStatus(t, written, 200);
  const decision = await desk.advance(written.body.task_id);
  t.is(decision.kind, 'send');
  await db('organizations').where({ id: desk.tenant.organizationId }).update(ends);
  t.like(await desk.deliver(written.body.task_id), { outcome: 'workspace_deletion_scheduled' });

  const warmupId = newId();
  t.deepEqual(await claimWarmup(ctx, warmupId), { kind: 'gone' });
});

test.serial('open orders of mailboxes are named, and nothing is stopped', async (t) => {
  const { tenant, campaignId } = await createLead(stage);
  const stamp = { organization_id: tenant.organizationId, created_at: clock.now(), updated_at: clock.now() };
  const id = newId();
  const money = { amount_cents: 100, currency: 'eur', line_items: '[]' };
  await db('payments').insert({ ...stamp, ...money, id, subject: 'order', subject_id: id, state: 'expired' });
  const refusesWith = async (payment: Record<string, unknown>) => {
    await db('payments').where({ id }).update(payment);
    const refused = await ask(tenant, 'DELETE', CURRENT, { name: 'Acme' });
    t.like(refused.body, { code: 'conflict', problems: [{ path: `orders.${id}` }] }, JSON.stringify(payment));
  };
  for (const state of ['open', 'refund_due', 'needs_person']) await refusesWith({ state });
  await refusesWith({ state: 'refunded', provider_subscription_id: 'sub_1' });
  await db('payments').where({ id }).update({ subscription_ended_at: clock.now() });
  await db('mailbox_orders').insert({
    ...stamp,
    id,
    quote_id: newId(),
    state: 'cancelled',
    provider: 'google',
    count: 1,
    domains: '[]',
    warmup: false,
    currency: 'eur',
    total_monthly_cents: 100,
    total_due_today_cents: 100,
    line_items: '[]',
    pay_by: clock.now(),
    actor_kind: 'session',
    under_way: true,
  });
  await refusesWith({ state: 'refunded' });
  t.is((await db('campaigns').where({ id: campaignId }).first()).status, 'active');
  await db('mailbox_orders').where({ id }).update({ under_way: false });
  assertStatus(t, await ask(tenant, 'DELETE', CURRENT, { name: 'Acme' }), 200);
});

test.serial(
  'an account: the password, the workspaces that would have no owner, and those that go with it',
  async (t) => {
    const tenant = await world.tenant('Team');
    const member = await createMember(world.deps, tenant, 'Member');
    await db('users')
      .where({ id: tenant.userId })
      .update({ password_hash: await hashPassword(PASSWORD) });
    const alone = await ask(tenant, 'POST', '/v1/organizations', { name: 'Alone' });
    t.is((await ask(tenant, 'DELETE', ME, { password: 'not this one' })).status, 401);
    const refused = await ask(tenant, 'DELETE', ME, { password: PASSWORD });
    t.like(refused.body, { code: 'conflict', problems: [{ path: `organizations.${tenant.organizationId}` }] });
    t.is(refused.body.problems.length, 1);
    t.regex(refused.body.problems[0].message, /Team has 1 other member/);

    const owner = await db('roles').where({ organization_id: tenant.organizationId, name: 'Owner' }).first('id');
    await db('memberships').where({ user_id: member.userId }).update({ role_id: owner.id });
    const scheduled = await ask(tenant, 'DELETE', ME, { password: PASSWORD });
    assertStatus(t, scheduled, 200);
    t.truthy(scheduled.body.deletion_scheduled_for);
    const ends = (name: string) =>
      scheduled.body.workspaces.find((one: { name: string }) => one.name === name).deletion_scheduled_for;
    t.is(ends('Alone'), scheduled.body.deletion_scheduled_for);
    t.is(ends('Team'), null);
    assertStatus(t, await ask(tenant, 'DELETE', ME, { password: PASSWORD }), 409);
    assertStatus(t, await ask(tenant, 'POST', '/v1/organizations', { name: 'More' }), 409);
    const inAlone = { userId: tenant.userId, organizationId: alone.body.id };
    assertStatus(t, await ask(inAlone, 'POST', `${CURRENT}/restore`), 409);

    const kept = await ask(tenant, 'POST', `${ME}/restore`);
    assertStatus(t, kept, 200);
    t.is(kept.body.deletion_scheduled_for, null);
    t.is((await deletionOf(alone.body.id)).state, 'called_back');
    assertStatus(t, await ask(tenant, 'POST', `${ME}/restore`), 409);
    const trail = await db('audit_logs').where({ entity_id: tenant.userId }).orderBy('id').pluck('action');
    t.deepEqual(trail, ['user.deletion_scheduled', 'user.deletion_called_back']);
  },
);
