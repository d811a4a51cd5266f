import test from 'ava';
import { message } from '../../../messages/index.ts';
import { runImport, failImport } from '../../../domain/audience/imports/run.ts';
import { newId } from '../../../lib/ids.ts';
import { createPolicy } from '../../../test/harness/approvals.ts';
import { openDesk, type Desk } from '../../../test/harness/campaign-desk.ts';
import { createMember, createSession } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createAccessToken } from '../../../test/harness/oauth.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

const NOON = new Date('2026-03-02T12:00:00Z');

const clock = new ManualClock(NOON);
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.beforeEach(() => clock.set(NOON));
test.after.always(() => world?.close());

const ask = (token: string, method: string, path: string, body?: unknown) =>
  call(world, method, `/v1${path}`, { token, ...(body === undefined ? {} : { body }) });

/** Creates a campaign that a person has started, and a credential without a policy. */
async function openSending() {
  const desk = await openDesk(world);
  const { tenant } = desk;
  const { campaign } = await desk.ready(1);
  // Each request uses a new session, because the test advances the clock beyond the lifetime of a token.
  const person = async (method: string, path: string, body?: unknown) =>
    ask(await createSession(world.deps, tenant.userId, tenant.organizationId), method, path, body);
  assertOk(await person('POST', `/campaigns/${campaign.id}/start`));
  await world.deps.db('agent_policies').where({ organization_id: tenant.organizationId }).delete();
  const add = async (count: number, token = tenant.apiKey) => {
    const contact_ids: string[] = [];
    for (let n = 0; n < count; n += 1) contact_ids.push(await desk.contact());
    return ask(token, 'POST', `/campaigns/${campaign.id}/leads`, { contact_ids });
  };
  const decide = (id: string, body: object) => person('POST', `/approvals/${id}/decision`, body);
  const waiting = async () =>
    (await world.deps.db('enrollments').where({ campaign_id: campaign.id, hold_source: 'approval' })).length;
  return { desk, tenant, campaignId: campaign.id as string, person, add, decide, waiting };
}

function assertOk({ status, text }: { status: number; text: string }): void {
  if (status >= 300) throw new Error(text);
}

test.serial(
  'a person approves held leads once, or lets the credential add so many a day to this campaign',
  async (t) => {
    const { tenant, campaignId, person, add, decide, waiting } = await openSending();
    const held = await add(2);
    assertStatus(t, held, 202);
    assertStatus(t, await decide(held.body.approval_id, { decision: 'approved' }), 200);
    t.is(await waiting(), 0);
    const again = await add(1);
    t.is(again.status, 202, 'approved once');
    t.deepEqual((await person('GET', '/lead-allowances')).body.data, []);

    const decided = await decide(again.body.approval_id, { decision: 'approved', leads_per_day: 3 });
    assertStatus(t, decided, 200);
    t.is(decided.body.status, 'executed');
    const { data } = (await person('GET', '/lead-allowances')).body;
    t.is(data.length, 1);
    t.like(data[0], {
      campaign_id: campaignId,
      campaign_name: 'Spring',
      api_key_id: tenant.apiKeyId,
      oauth_grant_id: null,
      credential_name: 'test',
      leads_per_day: 3,
      used_today: 0,
      granted_by: tenant.userId,
    });
    assertStatus(t, await add(2), 200);
    const effective = (await ask(tenant.apiKey, 'GET', '/agent-policies/effective')).body;
    t.deepEqual(effective.lead_allowances, [{ campaign_id: campaignId, leads_per_day: 3, used_today: 2 }]);
    t.is(effective.source, 'none');

    const more = await add(2);
    assertStatus(t, more, 202);
    t.is(await waiting(), 1, 'one of the two is within the day, one waits');
    t.deepEqual(
      more.body.reasons.map(({ code }: { code: string }) => code),
      ['no_policy', 'leads_per_day_exceeded'],
    );
    t.regex(more.body.reasons[1].message, /3 leads today; a person allowed 3 a day/);

    const audit = await world.deps.db('audit_logs').where({ entity_type: 'lead_allowance' }).orderBy('id');
    t.deepEqual(
      audit.map(({ action, entity_id }) => [action, entity_id]),
      [['lead_allowance.created', data[0].id]],
    );
    t.deepEqual(audit[0].changes.leads_per_day, { from: null, to: 3 });
  },
);

test.serial('an allowance counts by the day of the workspace, and a decision changes its number', async (t) => {
  const { tenant, person, add, decide } = await openSending();
  await world.deps.db('organizations').where({ id: tenant.organizationId }).update({ timezone: 'America/New_York' });
  const first = await add(1);
  await decide(first.body.approval_id, { decision: 'approved', leads_per_day: 1 });
  assertStatus(t, await add(1), 200);
  clock.set(new Date('2026-03-03T01:00:00Z'));
  const evening = await add(1);
  t.is(evening.status, 202, 'the same day in New York');
  await decide(evening.body.approval_id, { decision: 'approved', leads_per_day: 2 });
  assertStatus(t, await add(1), 200);
  t.is((await add(1)).status, 202, 'what was used of the day stays counted');
  clock.set(new Date('2026-03-03T06:00:00Z'));
  assertStatus(t, await add(2), 200);
  const { data } = (await person('GET', '/lead-allowances')).body;
  t.deepEqual(
    data.map((one: any) => [one.leads_per_day, one.used_today]),
    [[2, 2]],
  );
  const actions = await world.deps.db('audit_logs').where({ entity_id: data[0].id }).orderBy('id').pluck('action');
  t.deepEqual(actions, ['lead_allowance.created', 'lead_allowance.updated']);
});

test.serial('parallel additions do not exceed an allowance together', async (t) => {
  const { add, decide, waiting } = await openSending();
  await decide((await add(1)).body.approval_id, { decision: 'approved', leads_per_day: 3 });
  await Promise.all(Array.from({ length: 5 }, () => add(1)));
  t.is(await waiting(), 2);
});

test.serial(
  'an allowance is for one campaign and one credential, and ends with a word, its key or its grant',
  async (t) => {
    const { desk, tenant, person, add, decide } = await openSending();
    const { accessToken } = await createAccessToken(world, tenant);
    await decide((await add(1)).body.approval_id, { decision: 'approved', leads_per_day: 50 });
    t.is((await add(1, accessToken)).status, 202, 'another credential');
    const other = await desk.campaign({ steps: [{ subject: 'Hello', body_plain: 'Hi' }] });
    await person('POST', `/campaigns/${other.id}/leads`, { contact_ids: [await desk.contact()] });
    assertOk(await person('POST', `/campaigns/${other.id}/start`));
    const lead = { contact_ids: [await desk.contact()] };
    t.is((await ask(tenant.apiKey, 'POST', `/campaigns/${other.id}/leads`, lead)).status, 202, 'another campaign');

    const list = async () => (await person('GET', '/lead-allowances')).body.data;
    const [{ id }] = await list();
    const viewer = await createMember(world.deps, tenant, 'Viewer');
    t.is((await ask(viewer.sessionToken, 'DELETE', `/lead-allowances/${id}`)).status, 403);
    t.is((await ask(tenant.apiKey, 'DELETE', `/lead-allowances/${id}`)).status, 403);
    const stranger = await world.tenant();
    t.is((await ask(stranger.sessionToken, 'DELETE', `/lead-allowances/${id}`)).status, 404);
    assertStatus(t, await person('DELETE', `/lead-allowances/${id}`), 204);
    t.is((await person('DELETE', `/lead-allowances/${id}`)).status, 404);
    t.deepEqual(await list(), []);
    const waits = await add(1);
    t.is(waits.status, 202, 'a person decides again');

    await decide(waits.body.approval_id, { decision: 'approved', leads_per_day: 50 });
    const byApp = await add(1, accessToken);
    await decide(byApp.body.approval_id, { decision: 'approved', leads_per_day: 50 });
    t.is((await list()).length, 2);
    await person('DELETE', `/api-keys/${tenant.apiKeyId}`);
    t.deepEqual(
      (await list()).map((one: any) => one.api_key_id),
      [null],
      'revoked with its key',
    );
    await world.deps
      .db('oauth_grants')
      .where({ organization_id: tenant.organizationId })
      .update({ revoked_at: clock.now() });
    t.deepEqual(await list(), []);
    t.is((await world.deps.db('audit_logs').where({ entity_id: id, action: 'lead_allowance.deleted' })).length, 1);
  },
);

test.serial('an allowance comes with approved leads alone', async (t) => {
  const { tenant, campaignId, person, add, decide } = await openSending();
  const { approval_id: leads } = (await add(1)).body;
  for (const body of [
    { decision: 'denied', leads_per_day: 5 },
    { decision: 'approved', leads_per_day: 0 },
    { decision: 'approved', leads_per_day: 100_001 },
  ]) {
    const refused = await decide(leads, body);
    assertStatus(t, refused, 400);
    t.is(refused.body.problems[0].path, 'body.leads_per_day');
  }
  await person('POST', `/campaigns/${campaignId}/stop`);
  const { body: start } = await ask(tenant.apiKey, 'POST', `/campaigns/${campaignId}/start`, {});
  const refused = await decide(start.approval_id, { decision: 'approved', leads_per_day: 5 });
  assertStatus(t, refused, 400);
  t.deepEqual((await person('GET', '/lead-allowances')).body.data, []);
});

test.serial('allowances are paged, newest first', async (t) => {
  const { desk, person, add, decide } = await openSending();
  await decide((await add(1)).body.approval_id, { decision: 'approved', leads_per_day: 1 });
  const second = await desk.campaign({ name: 'Second' });
  const [row] = await world.deps.db('lead_allowances').where({ organization_id: desk.tenant.organizationId });
  await world.deps.db('lead_allowances').insert({ ...row, id: newId(), campaign_id: second.id });
  const first = (await person('GET', '/lead-allowances?limit=1')).body;
  const rest = (await person('GET', `/lead-allowances?limit=1&cursor=${first.pagination.next_cursor}`)).body;
  t.deepEqual(
    [...first.data, ...rest.data].map((one: any) => one.campaign_name),
    ['Second', 'Spring'],
  );
});

/**
 * Imports a file of `count` new people into a campaign with a credential. Returns the import before it has finished.
 */
async function importFile(token: string, campaignId: string, count: number) {
  const form = new FormData();
  const lines = Array.from({ length: count }, () => `${newId()}@lead.test`);
  form.set('file', new Blob([`email\n${lines.join('\n')}\n`]), 'leads.csv');
  form.set('options', JSON.stringify({ campaign_id: campaignId }));
  const answer = await ask(token, 'POST', '/contacts/import', form);
  if (answer.status !== 202) throw new Error(answer.text);
  return answer.body;
}

const run = (desk: Desk, id: string) => runImport(world.system(desk.tenant.organizationId), id);

test.serial(
  'a file that a credential imports into a campaign that sends is stored, and its leads wait as others do',
  async (t) => {
    const { desk, tenant, campaignId, person, decide, waiting } = await openSending();
    const { accessToken } = await createAccessToken(world, tenant);
    for (const token of [tenant.apiKey, accessToken])
      for (const status of ['active', 'completed']) {
        await world.deps.db('campaigns').where({ id: campaignId }).update({ status });
        const started = await importFile(token, campaignId, 3);
        t.is(started.approval_id, null);
        await run(desk, started.id);
        const { body: ended } = await person('GET', `/contacts/imports/${started.id}`);
        t.like(ended, { status: 'completed', imported: 3 });
        t.is(ended.approval_url, `${world.deps.config.APP_URL}/approvals/${ended.approval_id}`);
        t.is(await waiting(), 3);
        t.is((await desk.row(campaignId)).status, status, 'not before a person has approved them');
        const { body: decided } = await decide(ended.approval_id, { decision: 'approved' });
        t.is(decided.status, 'executed');
        t.is(decided.payload.recipients.count, 3);
        t.is(await waiting(), 0);
        t.is((await desk.row(campaignId)).status, 'active');
      }
  },
);

test.serial(
  'within its policy a file is one action; beyond it the whole file waits, unless an allowance takes it',
  async (t) => {
    const { desk, tenant, campaignId, decide, waiting } = await openSending();
    const [mailbox] = await world.deps.db('mailboxes').where({ organization_id: tenant.organizationId });
    await createPolicy(world.deps, tenant, { mailbox_ids: [mailbox.id], max_recipients_per_run: 3 });
    const into = async (count: number) => {
      const { id } = await importFile(tenant.apiKey, campaignId, count);
      await run(desk, id);
      return world.deps.db('contact_imports').where({ id }).first('approval_id');
    };
    t.is((await into(3)).approval_id, null);
    t.is(await waiting(), 0);
    const [used] = await world.deps.db('agent_policy_usage').where({ credential_id: tenant.apiKeyId });
    t.like(used, { actions: 1, recipients: 3 });
    const { approval_id: beyond } = await into(4);
    t.is(await waiting(), 4);
    await decide(beyond, { decision: 'approved', leads_per_day: 5 });
    t.is((await into(4)).approval_id, null);
    t.truthy((await into(4)).approval_id);
    t.is(await waiting(), 3, 'one is left of the allowance');
  },
);

test.serial(
  'an import that ends early, or whose campaign or key ends, leaves no lead that nobody decides about',
  async (t) => {
    const { desk, tenant, campaignId, person, decide, waiting } = await openSending();
    const ctx = world.system(tenant.organizationId);
    /** Creates an import of two batches, and applies the first one. */
    const halfway = async () => {
      const { id } = await importFile(tenant.apiKey, campaignId, 1001);
      const stopped = new AbortController();
      await t.throwsAsync(runImport(ctx, id, { onProgress: () => stopped.abort(), signal: stopped.signal }), {
        any: true,
      });
      t.is(Number((await world.deps.db('contact_imports').where({ id }).first()).checkpoint), 1000);
      return id;
    };
    const cancelled = await halfway();
    t.is(await waiting(), 1000, 'nothing leaves before the policy has decided');
    t.is((await person('GET', '/approvals?status=pending')).body.data.length, 0);
    assertStatus(t, await person('POST', `/contacts/imports/${cancelled}/cancel`), 200);
    const { approval_id: first } = await world.deps.db('contact_imports').where({ id: cancelled }).first();
    await decide(first, { decision: 'approved' });
    t.is(await waiting(), 0);

    const failed = await halfway();
    await failImport(ctx, failed, message('imports.not_finished'));
    t.truthy((await world.deps.db('contact_imports').where({ id: failed }).first()).approval_id);

    const paused = await halfway();
    await person('POST', `/campaigns/${campaignId}/stop`);
    await run(desk, paused);
    const held = await waiting();
    t.is(held, 1000, 'those of the failed import; a campaign that does not send needs no approval');

    assertOk(await person('POST', `/campaigns/${campaignId}/start`));
    const revoked = await halfway();
    await person('DELETE', `/api-keys/${tenant.apiKeyId}`);
    await run(desk, revoked);
    t.is((await world.deps.db('contact_imports').where({ id: revoked }).first()).status, 'completed');
    t.is((await world.deps.db('contact_imports').where({ id: revoked }).first()).approval_id, null);
    t.true((await waiting()) > held, 'a revoked key has nothing mailed');
  },
);
