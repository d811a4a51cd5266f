import test from 'ava';
import { createLead, createMondayWorld } from '../../../test/harness/lead.ts';
import { blockRun } from '../../../domain/operations/system/blocked-runs.ts';
import { newId } from '../../../lib/ids.ts';
import type { Attempt } from '../../../test/harness/fake-smtp.ts';
import { heron } from '../../../test/harness/heron.ts';
import { assertStatus, call } from '../../../test/harness/world.ts';
import { message } from '../../../messages/index.ts';

const stage = await createMondayWorld(test);
const { world } = stage;

const NO_ANSWER: Attempt = { kind: 'unknown', reason: message('smtp.broke_after_message') };

/** Creates a lead with one email, which gets the given answer of the mail server in every attempt. */
async function given(attempt: Attempt) {
  const lead = await createLead(stage);
  lead.smtp.next = () => attempt;
  const deliver = async () => (await lead.deliver(await lead.reserve())).outcome;
  return { ...lead, deliver };
}

const list = async (key: string, query = '') => {
  const { status, body } = await call(world, 'GET', `/v1/tasks/dlq${query}`, { token: key });
  return { status, data: body.data as Record<string, any>[] };
};
const replay = (key: string, id: string) => call(world, 'POST', `/v1/tasks/dlq/${id}/replay`, { token: key });

test.serial('an email that was given up is listed and, replayed by two at once, tried again once', async (t) => {
  const { tenant, db, enrollmentId, smtp, deliver } = await given({
    kind: 'refused',
    stage: 'recipient',
    code: 450,
    response: '450 4.2.1 later',
    permanent: false,
  });
  let outcome = '';
  for (let n = 0; n < 10 && outcome !== 'failed'; n += 1) outcome = await deliver();
  t.is(outcome, 'failed');
  const { data } = await list(tenant.apiKey, '?status=pending');
  t.is(data.length, 1);
  t.like(data[0], { task_type: 'campaign_email', attempts: 5, max_attempts: 5, status: 'pending', replayed_at: null });
  const answers = await Promise.all([1, 2, 3].map(() => replay(tenant.apiKey, data[0]!.id)));
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
  t.deepEqual(answers.find(({ status }) => status === 200)!.body, { status: 'replayed' });
  t.like(await db('enrollments').where({ id: enrollmentId }).first(), { state: 'active', failure_reason: null });
  smtp.next = () => 'accept';
  t.is(await deliver(), 'sent');
  t.is(smtp.taken.length, 1);
  t.deepEqual((await list(tenant.apiKey, '?status=pending')).data, []);
  t.is((await list(tenant.apiKey, '?status=replayed')).data.length, 1);
  assertStatus(t, await replay(tenant.apiKey, data[0]!.id), 409);
  const audit = await db('audit_logs').where({
    organization_id: tenant.organizationId,
    action: 'dead_letter.replayed',
  });
  t.is(audit.length, 1);
});

test.serial('an uncertain email is sent again when its dead letter is replayed', async (t) => {
  const { tenant, smtp, deliver, db, campaignId } = await given(NO_ANSWER);
  t.is(await deliver(), 'uncertain');
  const { data } = await list(tenant.apiKey);
  t.like(data[0], { task_type: 'uncertain_email', status: 'pending' });
  // A replay restarts a completed campaign. Its steps may have been changed since the failure.
  const campaign = (status: string) => db('campaigns').where({ id: campaignId }).update({ status });
  await campaign('completed');
  const beyond = await replay(tenant.apiKey, data[0]!.id);
  assertStatus(t, beyond, 403);
  t.regex(beyond.body.message, /within its policy/);
  await campaign('active');
  smtp.next = () => 'accept';
  assertStatus(t, await replay(tenant.apiKey, data[0]!.id), 200);
  t.is(await deliver(), 'sent');
  t.is(smtp.taken.length, 1);
});

test.serial(
  'a person who knows that an uncertain email arrived has it count as sent, by API and command line',
  async (t) => {
    const first = await given(NO_ANSWER);
    t.is(await first.deliver(), 'uncertain');
    const { data } = await list(first.tenant.apiKey);
    const settle = (as: string) =>
      call(world, 'POST', `/v1/tasks/dlq/${data[0]!.id}/replay`, { token: first.tenant.apiKey, body: { as } });
    assertStatus(t, await settle('gone'), 400);
    t.deepEqual((await settle('sent')).body, { status: 'replayed' });
    t.is((await settle('sent')).status, 404, 'the letter has gone with the doubt');
    const sendOf = (id: string) => world.deps.db('sends').where({ id }).first();
    t.like(await sendOf(data[0]!.task_id), { state: 'sent' });
    t.is(first.smtp.taken.length, 0, 'nothing left a second time');

    const second = await given(NO_ANSWER);
    t.is(await second.deliver(), 'uncertain');
    const settings = { PRIMARY_DB: world.databaseUrl, HERON_DATA_DIR: '/nonexistent' };
    const listed = JSON.parse((await heron(['uncertain'], settings)).stdout).uncertain;
    t.is(listed.length, 1);
    const told = await heron(['uncertain', 'sent', listed[0].id], settings);
    t.is(told.code, 0, told.stderr);
    t.like(await sendOf(listed[0].id), { state: 'sent' });
    t.is((await heron(['uncertain', 'again', listed[0].id], settings)).code, 1);
  },
);

test.serial('only an uncertain email can count as sent', async (t) => {
  const { tenant, ctx, campaignId, contactId, advance } = await given('accept');
  await advance();
  await blockRun(ctx, `enrollment/${campaignId}/${contactId}`, new Error('boom'));
  const { data } = await list(tenant.apiKey);
  const refused = await call(world, 'POST', `/v1/tasks/dlq/${data[0]!.id}/replay`, {
    token: tenant.apiKey,
    body: { as: 'sent' },
  });
  t.deepEqual([refused.status, refused.body.problems?.[0]?.path], [400, 'body.as']);
  t.is((await list(tenant.apiKey, '?status=pending')).data.length, 1);
});

test.serial('a run that kept failing goes on when its dead letter is replayed', async (t) => {
  const { tenant, ctx, db, campaignId, contactId, enrollmentId, advance } = await given('accept');
  await advance();
  await blockRun(ctx, `enrollment/${campaignId}/${contactId}`, new Error('boom'));
  const { data } = await list(tenant.apiKey);
  t.like(data[0], { task_type: 'enrollment_run', task_id: enrollmentId });
  assertStatus(t, await replay(tenant.apiKey, data[0]!.id), 200);
  t.like(await db('enrollments').where({ id: enrollmentId }).first(), { blocked: false });
  t.true((await db('outbox').where({ workflow_id: `enrollment/${campaignId}/${contactId}` })).length > 0);
});

test.serial('ids of others and limits beyond the range are refused', async (t) => {
  const { tenant, deliver } = await given(NO_ANSWER);
  await deliver();
  const { data } = await list(tenant.apiKey);
  const other = await world.tenant();
  t.deepEqual((await list(other.apiKey)).data, []);
  for (const id of [data[0]!.id, newId(), 'x']) t.is((await replay(other.apiKey, id)).status, 404);
  t.is((await list(tenant.apiKey, '?limit=201')).status, 400);
  t.is((await list(tenant.apiKey, '?status=lost')).status, 400);
});
