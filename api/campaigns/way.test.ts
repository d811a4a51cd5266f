import test from 'ava';
import { advanceEnrollment } from '../../domain/sending/enrollment/advance.ts';
import { DAY_MS } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { maskOf } from '../../lib/permissions.ts';
import { createApiKey, createCampaign, createContact, createMailbox, enroll } from '../../test/harness/factories.ts';
import { createSend } from '../../test/harness/inbound.ts';
import { assertStatus, call, createWorld, type World } from '../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld({ env: { TEMPORAL_UI_URL: 'https://temporal.example' } });
});
test.after.always(() => world?.close());

test("a lead's way: the steps it has come to with their emails and waits, what it waits for, and the log", async (t) => {
  const { deps } = world;
  const tenant = await world.tenant();
  const { organizationId } = tenant;
  const mailboxId = await createMailbox(deps, organizationId, 'sam@ours.test');
  const contactId = await createContact(deps.db, deps.clock.now(), organizationId, { email: 'ada@lead.test' });
  const { campaignId, stepIds } = await createCampaign(deps, organizationId, [
    { name: 'Hello', subject: 'Hello', body_plain: 'Hi' },
    {
      name: 'Paid?',
      kind: 'action',
      action: { type: 'wait_for_event', wait_event_name: 'order.paid', timeout_minutes: 60, on_timeout: 'continue' },
    },
  ]);
  const [enrollmentId] = (await enroll(deps, organizationId, campaignId, [contactId])) as [string];
  const get = (path: string, token = tenant.apiKey) => call(world, 'GET', `/v1/campaigns/${path}`, { token });
  const before = await get(`${campaignId}/leads/${contactId}`);
  assertStatus(t, before, 200);
  t.like(before.body, { status: 'pending', steps: [], reserved: null, log: [], launched_at: null });
  t.false('temporal_url' in before.body, 'it has no run yet');

  const runId = newId();
  const now = deps.clock.now();
  const tomorrow = new Date(now.getTime() + DAY_MS);
  const { id: sendId, messageId } = await createSend(
    deps,
    organizationId,
    { campaignId, enrollmentId, stepId: stepIds[0]!, contactId, mailboxId, recipient: 'ada@lead.test' },
    { state: 'reserved', sent_at: null, slot_at: tomorrow },
  );
  t.like(
    (await get(`${campaignId}/leads/${contactId}`)).body,
    { waiting_for: 'the email has its slot', waiting_until: tomorrow.toISOString() },
    'outside of sending hours its email is reserved before it has a run',
  );

  const shared = { organization_id: organizationId, enrollment_id: enrollmentId, campaign_id: campaignId };
  await deps.db('step_runs').insert({
    ...shared,
    id: runId,
    contact_id: contactId,
    step_id: stepIds[0],
    seq: 1,
    kind: 'email',
    state: 'completed',
    outcome: 'sent',
    started_at: now,
    completed_at: now,
  });
  await deps.db('sends').where({ id: sendId }).update({ state: 'sent', sent_at: now, step_run_id: runId });
  await deps
    .db('enrollments')
    .where({ id: enrollmentId })
    .update({ state: 'active', launched_at: now, current_step_id: stepIds[1] });
  await advanceEnrollment(world.system(organizationId), enrollmentId);
  await call(world, 'POST', `/v1/campaigns/${campaignId}/leads/${contactId}/pause`, {
    token: tenant.sessionToken,
    body: { reason: 'asked to' },
  });
  const { body, status } = await get(`${campaignId}/leads/${contactId}`);
  t.is(status, 200);
  t.like(body, {
    contact: { email: 'ada@lead.test' },
    campaign: { id: campaignId, steps: 2 },
    hold: { reason: 'asked to' },
    temporal_url: `https://temporal.example/namespaces/default/workflows/${encodeURIComponent(`enrollment/${campaignId}/${contactId}`)}`,
  });
  t.like(body.steps[0], { seq: 1, position: 1, name: 'Hello', outcome: 'sent', wait: null });
  t.like(body.steps[0].send, { id: sendId, state: 'sent', email_id: mailboxId, thread_id: messageId });
  t.like(body.steps[1], { seq: 2, position: 2, state: 'waiting', send: null });
  t.like(body.steps[1].wait, { event_name: 'order.paid', state: 'open', settled_at: null });
  t.true(body.log.length > 0);

  const { apiKey: withoutContacts } = await createApiKey(deps, organizationId, tenant.userId, {
    permissions: maskOf(['READ_CAMPAIGNS']),
  });
  t.is((await get(`${campaignId}/leads/${contactId}`, withoutContacts)).body.contact, null);
  const other = await world.tenant();
  for (const [path, token] of [
    [`${campaignId}/leads/${newId()}`, tenant.apiKey],
    [`${campaignId}/leads/no-id`, tenant.apiKey],
    [`${newId()}/leads/${contactId}`, tenant.apiKey],
    [`${campaignId}/leads/${contactId}`, other.apiKey],
  ] as const)
    t.is((await get(path, token)).status, 404, path);
});
