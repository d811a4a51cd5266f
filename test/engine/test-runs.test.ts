import test from 'ava';
import { json } from '../../db/connection.ts';
import { createAppConnection } from '../../domain/connect/app-connections/connections.ts';
import { newId } from '../../lib/ids.ts';
import {
  createCampaign,
  createContact,
  createLabel,
  createMailbox,
  enroll,
  type StepSpec,
  type Tenant,
} from '../harness/factories.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { startReceiver, type Receiver } from '../harness/receiver.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../harness/world.ts';

let world: World;
let mail: MailWorld;
let app: Receiver;
let engine: Engine;
test.before(async () => {
  [world, mail, app] = await Promise.all([
    createWorld({ env: { ROW_SECURITY: 'true' } }),
    startMailWorld(),
    startReceiver(),
  ]);
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  await Promise.all([mail?.stop(), app?.stop()]);
  await world?.close();
});

interface Bench {
  tenant: Tenant;
  campaignId: string;
  stepIds: string[];
  mailboxId: string;
  connectionId: string;
  start(body: object): Promise<Answer>;
  get(runId: string): Promise<any>;
  over(runId: string): Promise<any>;
}

/** Creates a draft in a new workspace with a mailbox and an app. */
async function bench(
  steps: (connectionId: string) => StepSpec[],
  fields: Record<string, unknown> = {},
): Promise<Bench> {
  const tenant = await world.tenant();
  const email = `${newId()}@sender.example.com`;
  const box = await mail.addMailbox({ email, password: 'secret' });
  const mailboxId = await createMailbox(world.deps, tenant.organizationId, email, { smtp: box.smtp, imap: box.imap });
  const { connection } = await createAppConnection(world.system(tenant.organizationId), {
    name: 'App',
    baseUrl: app.url,
  });
  const campaign = await createCampaign(world.deps, tenant.organizationId, steps(connection.id), {
    status: 'draft',
    ...fields,
  });
  const path = `/v1/campaigns/${campaign.campaignId}`;
  const get = async (runId: string) =>
    (await call(world, 'GET', `${path}/test-runs/${runId}`, { token: tenant.apiKey })).body;
  return {
    tenant,
    ...campaign,
    mailboxId,
    connectionId: connection.id,
    start: (body) => call(world, 'POST', `${path}/test`, { token: tenant.apiKey, body }),
    get,
    over: (runId) =>
      eventually(async () => {
        const run = await get(runId);
        return run.completed_at === undefined ? undefined : run;
      }),
  };
}

const text = (raw: Buffer) => raw.toString().replace(/=\r\n/g, '');

test.serial(
  'a prospect goes through email, app, event and follow-up; nothing of it counts for the campaign',
  async (t) => {
    app.respond({ status: 200, body: { url: 'https://demo.example/7' } });
    app.clear();
    const given = await bench((connection) => [
      { name: 'Opening', subject: 'Hello {{.FirstName}}', body_plain: 'Hi {{.FirstName}}, we write to {{.Email}}.' },
      {
        name: 'Demo',
        kind: 'action',
        action: {
          type: 'app_action',
          app_connection_id: connection,
          path: '/demo',
          output_key: 'demo',
          inputs: { who: '{{.FirstName}}' },
        },
      },
      {
        name: 'Paid',
        kind: 'wait',
        action: {
          type: 'wait_for_event',
          wait_event_name: 'order.paid',
          timeout_minutes: 600,
          on_timeout: 'stop',
          output_key: 'order',
        },
      },
      { name: 'Tag', kind: 'action', action: { type: 'notify', message: 'x' } },
      { name: 'Thanks', body_plain: 'Your demo: {{.App.demo.url}}, order {{.App.order.number}}.', wait_after: 3 },
    ]);
    const { tenant, campaignId } = given;
    const contactId = await createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId, {
      first_name: 'Kim',
      email: 'kim@prospect.example',
    });
    const to = `${newId()}@tester.example`;
    const started = await given.start({ contact_id: contactId, prospect_email: to, max_wait_seconds: 1 });
    assertStatus(t, started, 202);
    t.like(started.body, { state: 'running', contact_id: contactId, prospect_email: to, step_count: 5, steps: [] });

    const first = await mail.waitFor(({ envelope }) => envelope.to.includes(to), 20_000);
    t.true(text(first.raw).includes(`Hi Kim, we write to ${to}.`));
    const [request] = await app.received(1);
    t.like(request!.json, { run_mode: 'test', inputs: { who: 'Kim' }, contact: { id: contactId, email: to } });
    t.is(request!.headers['x-service-event'], 'app.action');

    // This test run shortened all waits to a second. The event is therefore tested with a second one, which has the
    // real waits.
    const over = await given.over(started.body.id);
    t.is(over.state, 'completed');
    t.deepEqual(
      over.steps.map(({ name, state, outcome }: any) => [name, state, outcome]),
      [
        ['Opening', 'completed', 'sent'],
        ['Demo', 'completed', 'success'],
        ['Paid', 'completed', 'timeout'],
        ['Tag', 'completed', 'done'],
        ['Thanks', 'completed', 'sent'],
      ],
    );

    const second = (await given.start({ contact_id: contactId, prospect_email: to })).body;
    const waiting = await eventually(async () => {
      const run = await given.get(second.id);
      return run.state === 'waiting_for_event' && run;
    });
    t.like(waiting, { waiting_event: 'order.paid', app_variables: { demo: { url: 'https://demo.example/7' } } });
    t.truthy(waiting.waiting_until);
    const published = await call(world, 'POST', '/v1/events', {
      token: tenant.apiKey,
      headers: { 'Idempotency-Key': newId() },
      body: { name: 'order.paid', contact_id: contactId, data: { number: 'A-1' } },
    });
    t.like(published.body, { matched_waits: 1 });
    t.deepEqual(published.body.matched_runs, [
      {
        run_id: second.id,
        campaign_id: campaignId,
        step_id: given.stepIds[2],
        contact_id: contactId,
        state: 'resumed',
        mode: 'test',
      },
    ]);
    const followUp = await eventually(async () => {
      const run = await given.get(second.id);
      return run.steps.length === 5 && run;
    });
    t.like(followUp.steps[3], { name: 'Tag', state: 'completed' });
    t.like(followUp.app_variables, { order: { number: 'A-1' } });
    // The test run would wait three days, as the step says, but a person can end it.
    const path = `/v1/campaigns/${campaignId}/test-runs/${second.id}/cancel`;
    t.like((await call(world, 'POST', path, { token: tenant.apiKey })).body, { state: 'cancelled' });
    assertStatus(t, await call(world, 'POST', path, { token: tenant.apiKey }), 200);

    const org = tenant.organizationId;
    t.deepEqual(await world.deps.db('enrollments').where({ campaign_id: campaignId }), []);
    t.deepEqual(await world.deps.db('sends').where({ campaign_id: campaignId }), []);
    t.deepEqual(await world.deps.db('sends').whereNotNull('contact_id').where({ organization_id: org }), []);
    t.deepEqual(await world.deps.db('daily_counters').where({ scope_id: campaignId }), []);
    // Sums over all days, because the test may run at midnight.
    const ofMailbox = { scope: 'mailbox', scope_id: given.mailboxId };
    t.is(Number((await world.deps.db('daily_counters').where(ofMailbox).sum({ sum: 'count' }))[0]!.sum), 3);
    const events = await world.deps.db('domain_events').where({ organization_id: org }).pluck('type');
    t.deepEqual(
      events.filter((type: string) => type.startsWith('campaign.')),
      [],
    );
  },
);

test.serial('a follow-up replies in the conversation, and the link of the footer suppresses nobody', async (t) => {
  const given = await bench(
    () => [
      { subject: 'Hello', body_plain: 'Hi' },
      { body_plain: 'Again', wait_after: 2 },
    ],
    { unsubscribe_header: true },
  );
  const to = `${newId()}@tester.example`;
  const { body } = await given.start({ prospect_email: to, max_wait_seconds: 1 });
  const over = await given.over(body.id);
  t.is(over.state, 'completed');
  const emails = mail.messages.filter(({ envelope }) => envelope.to.includes(to)).map(({ raw }) => text(raw));
  t.is(emails.length, 2);
  const id = /^Message-ID: (.+)$/im.exec(emails[0]!)![1]!.trim();
  t.true(emails[1]!.includes(`In-Reply-To: ${id}`));
  const link = /^List-Unsubscribe: <([^>]+)>/im.exec(emails[0]!.replace(/\r\n\s/g, ''))![1]!;
  const { optOut, findOptOut } = await import('../../domain/campaigns/tracking/opt-out.ts');
  const found = await findOptOut(world.deps, link.split('/').at(-1)!);
  await optOut(world.deps, found!, 'one_click', newId());
  const org = given.tenant.organizationId;
  t.deepEqual(await world.deps.db('suppressions').where({ organization_id: org }), []);
  t.true((await world.deps.db('contacts').where({ organization_id: org, email: to }).first()).subscribed);
});

test.serial(
  'steps that change records say what they would do and change nothing; waits, variants and ends are as for a lead',
  async (t) => {
    const given = await bench(() => []);
    const { db } = world.deps;
    const org = given.tenant.organizationId;
    const [had, wanted] = [
      await createLabel(world.deps, org, 'category'),
      await createLabel(world.deps, org, 'category'),
    ];
    const contactId = await createContact(db, world.deps.clock.now(), org, {});
    await db('contact_categories').insert({ organization_id: org, contact_id: contactId, label_id: had });
    const before = await db('contacts').where({ id: contactId }).first();
    const build = async (steps: object[]) => {
      const made = await call(world, 'POST', '/v1/campaigns', {
        token: given.tenant.apiKey,
        body: { name: 'Kinds', steps },
      });
      assertStatus(t, made, 201);
      return made.body.id as string;
    };
    const walk = async (campaignId: string, more = {}) => {
      const to = `${newId()}@tester.example`;
      const path = `/v1/campaigns/${campaignId}`;
      const body = { contact_id: contactId, prospect_email: to, max_wait_seconds: 1, ...more };
      const begun = await call(world, 'POST', `${path}/test`, { token: given.tenant.apiKey, body });
      assertStatus(t, begun, 202);
      const run = await eventually(async () => {
        const now = (await call(world, 'GET', `${path}/test-runs/${begun.body.id}`, { token: given.tenant.apiKey }))
          .body;
        return now.completed_at !== undefined && now;
      });
      const emails = mail.messages.filter(({ envelope }) => envelope.to.includes(to)).map(({ raw }) => text(raw));
      return {
        state: run.state,
        steps: run.steps.map((one: any) => [one.kind, one.state, one.outcome, one.detail]),
        emails,
      };
    };
    const action = (type: string, more = {}) => ({ kind: 'action', action: { type, ...more } });
    const email = { subject: 'Hello', body_plain: 'As the step says' };
    const ending = await build([
      action('add_tag', { category_id: wanted }),
      action('remove_tag', { category_id: had }),
      action('create_task', { title: 'Call {{.FirstName}}' }),
      action('notify', { message: 'look' }),
      { kind: 'wait', action: { type: 'wait', wait_minutes: 600 } },
      email,
      action('end'),
      { subject: 'Never', body_plain: 'Never' },
    ]);
    const stepId = (
      await db('campaign_steps').where({ campaign_id: ending, kind: 'email' }).orderBy('position').first()
    ).id;
    const variant = await call(world, 'POST', `/v1/campaigns/${ending}/ab-variants`, {
      token: given.tenant.apiKey,
      body: { name: 'B', step_id: stepId, subject: 'Hello', body_plain: 'As the variant says', weight: 100 },
    });
    assertStatus(t, variant, 201);
    await db('campaign_variants')
      .where({ campaign_id: ending })
      .whereNot({ id: variant.body.id })
      .update({ weight: 0 });

    const first = await walk(ending);
    t.is(first.state, 'completed');
    t.deepEqual(first.steps, [
      ['add_tag', 'completed', 'done', 'Not carried out in a test: a lead gets the category'],
      ['remove_tag', 'completed', 'done', 'Not carried out in a test: a lead loses the category'],
      ['create_task', 'completed', 'done', 'Not carried out in a test: a task is created for the lead'],
      ['notify', 'completed', 'done', 'Not carried out in a test: the event campaign.action is emitted'],
      ['wait', 'completed', 'elapsed', undefined],
      ['email', 'completed', 'sent', undefined],
      ['end', 'completed', 'done', 'An end step'],
    ]);
    t.is(first.emails.length, 1);
    t.true(first.emails[0]!.includes('As the variant says'), first.emails[0]);

    const leaving = await build([action('unsubscribe'), { subject: 'Never', body_plain: 'Never' }]);
    t.deepEqual(await walk(leaving), {
      state: 'completed',
      steps: [
        ['unsubscribe', 'completed', 'done', 'Not carried out in a test: the lead is unsubscribed and ends here'],
      ],
      emails: [],
    });
    const wait = (on_timeout: string) => ({
      kind: 'wait',
      action: { type: 'wait_for_event', wait_event_name: 'order.paid', timeout_minutes: 600, on_timeout },
    });
    t.deepEqual(await walk(await build([wait('stop'), { subject: 'Never', body_plain: 'Never' }])), {
      state: 'completed',
      steps: [['wait_for_event', 'completed', 'timeout', undefined]],
      emails: [],
    });
    t.deepEqual((await walk(await build([wait('continue'), email]))).steps, [
      ['wait_for_event', 'completed', 'timeout', undefined],
      ['email', 'completed', 'sent', undefined],
    ]);

    t.deepEqual(await db('contacts').where({ id: contactId }).first(), before);
    t.deepEqual(await db('contact_categories').where({ contact_id: contactId }).pluck('label_id'), [had]);
    t.deepEqual(await db('suppressions').where({ organization_id: org }), []);
    const events: string[] = await db('domain_events').where({ organization_id: org }).pluck('type');
    t.deepEqual(
      [...new Set(events)],
      ['campaign.created', 'campaign.updated'],
      'no event but those of building the campaigns',
    );
  },
);

test.serial('a follow-up to an email whose answer was lost has its subject, and replies to nothing', async (t) => {
  const given = await bench(() => [
    { subject: 'Hello', body_plain: 'Hi' },
    { body_plain: 'Again', wait_after: 2 },
  ]);
  const to = `${newId()}@tester.example`;
  mail.script(to, { kind: 'drop' });
  const over = await given.over((await given.start({ prospect_email: to, max_wait_seconds: 1 })).body.id);
  t.is(over.state, 'completed', JSON.stringify(over.error));
  t.deepEqual(
    over.steps.map(({ outcome }: any) => outcome),
    ['uncertain', 'sent'],
  );
  const second = mail.messages.filter(({ envelope }) => envelope.to.includes(to)).map(({ raw }) => text(raw))[1]!;
  t.regex(second, /^Subject: Hello\r$/m);
  t.notRegex(second, /^In-Reply-To:/m);
});

test.serial('a refused recipient, a broken template and a failing app end the test, and nothing else', async (t) => {
  const refused = `${newId()}@tester.example`;
  mail.script(refused, { kind: 'reject', code: 550, message: '5.1.1 no such user' });
  const plain = await bench(() => [{ name: 'Opening', subject: 'Hello', body_plain: 'Hi' }]);
  const bounced = await plain.over((await plain.start({ prospect_email: refused })).body.id);
  t.like(bounced, { state: 'failed', error: { code: 'run_failed' } });
  t.like(bounced.steps[0], { state: 'failed', outcome: 'bounced' });
  t.true(bounced.error.fix !== '');
  const org = plain.tenant.organizationId;
  t.deepEqual(await world.deps.db('suppressions').where({ organization_id: org }), []);
  t.deepEqual(await world.deps.db('dead_letters').where({ organization_id: org }), []);

  app.respond(500);
  const action = (connection: string) => ({
    name: 'Ask',
    kind: 'action' as const,
    action: { type: 'app_action', app_connection_id: connection, path: '/x', output_key: 'x', inputs: {} },
  });
  const failing = await bench((connection) => [action(connection), { subject: 'Hello', body_plain: 'Hi' }]);
  const to = `${newId()}@tester.example`;
  const failed = await failing.over((await failing.start({ prospect_email: to })).body.id);
  t.like(failed, { state: 'failed', error: { code: 'run_failed' } });
  t.like(failed.steps[0], { state: 'failed', outcome: 'error', error: { code: 'app_action_failed' } });
  t.deepEqual(
    mail.messages.filter(({ envelope }) => envelope.to.includes(to)),
    [],
  );

  const routed = await bench((connection) => [action(connection), { subject: 'Sorry', body_plain: 'Hi' }]);
  await world.deps
    .db('campaign_steps')
    .where({ id: routed.stepIds[0] })
    .update({
      conditions: json({
        branches: [{ to: routed.stepIds[1], when: [{ field: 'node_outcome', operator: 'equals', value: 'error' }] }],
      }),
    });
  const answered = await routed.over((await routed.start({ prospect_email: to })).body.id);
  t.deepEqual(
    answered.steps.map(({ state }: any) => state),
    ['completed', 'completed'],
  );
});

test.serial(
  'a refusal that passes is tried again at a later slot, and a lead of the campaign is left alone',
  async (t) => {
    const to = `${newId()}@tester.example`;
    mail.script(to, { kind: 'defer', times: 1, code: 451, message: 'later' });
    const given = await bench(() => [{ subject: 'Hello', body_plain: 'Hi' }]);
    const lead = await createContact(world.deps.db, world.deps.clock.now(), given.tenant.organizationId, { email: to });
    await enroll(world.deps, given.tenant.organizationId, given.campaignId, [lead]);
    const { body } = await given.start({ contact_id: lead });
    const send = await eventually(async () => {
      const row = await world.deps.db('sends').where({ recipient: to, error_code: 'deferred' }).first();
      return row?.state === 'reserved' && row;
    });
    t.true(send.slot_at > new Date());
    t.like(await world.deps.db('enrollments').where({ campaign_id: given.campaignId }).first(), { state: 'pending' });
    const path = `/v1/campaigns/${given.campaignId}/test-runs/${body.id}/cancel`;
    assertStatus(t, await call(world, 'POST', path, { token: given.tenant.apiKey }), 200);
    t.deepEqual(await world.deps.db('sends').where({ recipient: to }), [], 'its slot is given back');
    await eventually(async () => (await world.deps.workflows.isOpen(`test-run/${body.id}`)) === false);
  },
);

test.serial('a test run of a workspace that will be deleted ends at its next email', async (t) => {
  const given = await bench(() => [
    { name: 'Opening', subject: 'Hello', body_plain: 'Hi' },
    { name: 'Second', subject: 'Again', body_plain: 'Hi again', wait_after: 1 },
  ]);
  const started = await given.start({ prospect_email: 'ann@prospect.example.com', max_wait_seconds: 3 });
  assertStatus(t, started, 202);
  const { db } = world.deps;
  const steps = () =>
    db('test_run_steps').where({ test_run_id: started.body.id }).orderBy('seq').select('state', 'attempts');
  await eventually(async () => (await steps())[0]?.state === 'completed');
  await db('organizations')
    .where({ id: given.tenant.organizationId })
    .update({ deletion_scheduled_at: new Date(), deletion_scheduled_for: new Date(Date.now() + 86_400_000) });
  const run = await eventually(async () => {
    const row = await db('test_runs').where({ id: started.body.id }).first('state', 'completed_at');
    return row!.completed_at ? row : undefined;
  });
  t.is(run.state, 'failed');
  t.is((await steps()).at(-1)!.state, 'failed');
});
