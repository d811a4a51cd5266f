import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createEgress } from '../../../lib/egress/index.ts';
import { newId } from '../../../lib/ids.ts';
import { TargetLimits } from '../../../lib/target-limits.ts';
import { verifySignature } from '../../../lib/signature.ts';
import { createCampaign, createContact, enroll, type StepSpec, type Tenant } from '../../../test/harness/factories.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { finishEnrollment } from '../../sending/control/finish.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { retryStepRun } from '../../campaigns/step-runs/step-runs.ts';
import { InputsTooLarge, renderInputs } from './action-call.ts';
import { callApp } from './call.ts';
import { createAppConnection } from './connections.ts';
import { render } from '../../../messages/render.ts';

const NOON = new Date('2026-03-02T12:00:00Z');
const clock = new ManualClock(NOON);
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

interface Request {
  url: string;
  headers: IncomingHttpHeaders;
  raw: string;
  body: any;
}

/** Starts a customer's app on loopback. `answer` handles each request after its body is read. */
async function app(
  t: ExecutionContext,
  answer: (request: Request, response: Parameters<RequestListener>[1]) => unknown,
): Promise<{ url: string; requests: Request[] }> {
  const requests: Request[] = [];
  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const raw = Buffer.concat(chunks).toString();
        const request = { url: message.url!, headers: message.headers, raw, body: JSON.parse(raw) };
        requests.push(request);
        answer(request, response);
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/`, requests };
}

const json = (value: unknown) => (_request: Request, response: Parameters<RequestListener>[1]) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};

interface Setup {
  tenant: Tenant;
  secret: string;
  campaignId: string;
  stepId: string;
  contactId: string;
  enrollmentId: string;
  runId: string;
}

/** Creates a contact at an app_action step. */
async function setup(
  baseUrl: string,
  options: {
    inputs?: Record<string, unknown>;
    conditions?: StepSpec['conditions'];
    app?: Record<string, unknown>;
  } = {},
): Promise<Setup> {
  const tenant = await world.tenant();
  const { organizationId } = tenant;
  const { connection, secret } = await createAppConnection(world.system(organizationId), { name: 'Shop', baseUrl });
  const { campaignId, stepIds } = await createCampaign(world.deps, organizationId, [
    {
      kind: 'action',
      name: 'Make an offer',
      ...(options.conditions ? { conditions: options.conditions } : {}),
      action: {
        type: 'app_action',
        app_connection_id: connection.id,
        path: '/offers',
        output_key: 'offer',
        inputs: options.inputs ?? {},
      },
    },
    { subject: 'Hi', body_plain: 'Take {{.App.offer.code}}' },
  ]);
  const contactId = await createContact(world.deps.db, NOON, organizationId, {
    first_name: 'Ada',
    last_name: 'Lovelace',
    company: 'Engines "R" Us',
    custom_fields: { city: 'London', 'Job Title': 'Countess' },
  });
  const [enrollmentId] = await enroll(world.deps, organizationId, campaignId, [contactId]);
  await world.deps
    .db('enrollments')
    .where({ id: enrollmentId })
    .update({ state: 'active', launched_at: NOON, app_values: JSON.stringify(options.app ?? {}) });
  const runId = newId();
  await world.deps.db('step_runs').insert({
    id: runId,
    organization_id: organizationId,
    enrollment_id: enrollmentId,
    campaign_id: campaignId,
    contact_id: contactId,
    step_id: stepIds[0],
    seq: 1,
    kind: 'app_action',
    state: 'running',
    output_key: 'offer',
    started_at: NOON,
  });
  return { tenant, secret, campaignId, stepId: stepIds[0]!, contactId, enrollmentId: enrollmentId!, runId };
}

const limits = () => new TargetLimits({ total: 20, perTarget: 10 });
const call = (given: Setup, within = limits()) =>
  callApp(world.system(given.tenant.organizationId), given.runId, within);
/** Reads a step run, with its error in English. */
const readRun = async (given: Setup) => {
  const { error, ...run } = await world.deps.db('step_runs').where({ id: given.runId }).first();
  const said = error && { ...error, message: render(error.message), fix: render(error.fix) };
  return { ...run, error: said };
};
const readLead = (given: Setup) => world.deps.db('enrollments').where({ id: given.enrollmentId }).first();
const readIntents = (given: Setup) =>
  world.deps.db('outbox').where({ workflow_id: `enrollment/${given.campaignId}/${given.contactId}` });

test.serial(
  'a second attempt of a call waits while the first may be alive, and calls once its claim has ended',
  async (t) => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const { url, requests } = await app(t, async (request, response) => {
      if (requests.length === 1) await gate;
      json({ code: 'A' })(request, response);
    });
    const given = await setup(url);
    const first = call(given);
    await eventually(async () => requests.length === 1);
    t.like(await call(given), { outcome: 'under_way' });
    open();
    t.deepEqual(await first, { outcome: 'success' });
    t.is(requests.length, 1);

    const dead = await setup(url);
    const { db } = world.deps;
    await db('step_runs')
      .where({ id: dead.runId })
      .update({ call_until: db.raw(`now() + interval '1 hour'`) });
    t.like(await call(dead), { outcome: 'under_way' });
    await db('step_runs')
      .where({ id: dead.runId })
      .update({ call_until: db.raw('now()') });
    t.deepEqual(await call(dead), { outcome: 'success' });
    t.is(requests.length, 2);
  },
);

test.serial('a call that is retried after a failure is free at once, and keeps the moment of the first', async (t) => {
  const { url, requests } = await app(t, (request, response) => {
    if (requests.length === 1) response.writeHead(503).end();
    else json({ code: 'A' })(request, response);
  });
  const given = await setup(url);
  t.like(await call(given), { outcome: 'retry' });
  clock.advance(60_000);
  t.like(await call(given), { outcome: 'success' });
  t.deepEqual((await readRun(given)).called_at, NOON);
  clock.set(NOON);
});

test.serial(
  'the app gets a signed request with contact, campaign, step and variables, and its answer is kept',
  async (t) => {
    const { url, requests } = await app(t, json({ code: 'SPRING-7', lines: [1, { a: null }] }));
    const given = await setup(url, {
      inputs: {
        greeting: 'Hello {{.FirstName | default "there"}} in {{.city}}',
        nested: [{ plan: '{{.App.plan.name}}' }, 3, true, null],
      },
      app: { plan: { name: 'pro "plus"' } },
    });
    t.deepEqual(await call(given), { outcome: 'success' });
    const [request] = requests;
    t.is(request!.url, '/hooks/offers');
    t.like(request!.headers, {
      'content-type': 'application/json',
      'x-service-event': 'app.action',
      'x-service-event-id': given.runId,
      'idempotency-key': given.runId,
    });
    t.true(
      verifySignature(request!.headers['x-service-signature'] as string, given.secret, request!.raw, {
        now: clock.now(),
      }),
    );
    t.deepEqual(request!.body, {
      id: `${given.campaignId}:${given.contactId}:${given.stepId}`,
      run_id: given.runId,
      run_mode: 'live',
      campaign: { id: given.campaignId, name: 'Spring' },
      step: { id: given.stepId, name: 'Make an offer' },
      contact: {
        id: given.contactId,
        email: `${given.contactId}@example.com`,
        first_name: 'Ada',
        company: 'Engines "R" Us',
        custom_fields: { city: 'London', 'Job Title': 'Countess' },
      },
      app: { plan: { name: 'pro "plus"' } },
      inputs: { greeting: 'Hello Ada in London', nested: [{ plan: 'pro "plus"' }, 3, true, null] },
      requested_at: NOON.toISOString(),
    });
    t.like(await readRun(given), {
      state: 'completed',
      outcome: 'success',
      attempts: 1,
      output: { code: 'SPRING-7', lines: [1, { a: null }] },
      output_key: 'offer',
    });
    t.deepEqual((await readLead(given)).app_values, {
      plan: { name: 'pro "plus"' },
      offer: { code: 'SPRING-7', lines: [1, { a: null }] },
    });
    t.deepEqual(await call(given), { outcome: 'stale' }, 'a settled run is not called again');
    t.is(requests.length, 1);
  },
);

test.serial(
  '5xx, 429, a broken connection and an app that is away are tried again, with the same event id, until attempts run out',
  async (t) => {
    const answers = [500, 429, 'cut', 503, 502] as const;
    let n = 0;
    const { url, requests } = await app(t, (_request, response) => {
      const next = answers[n++ % answers.length]!;
      if (next === 'cut') response.destroy();
      else response.writeHead(next).end('{}');
    });
    const given = await setup(url);
    for (let attempt = 1; attempt <= 4; attempt += 1) t.is((await call(given)).outcome, 'retry');
    t.like(await readRun(given), { state: 'running', attempts: 4 });
    t.is((await call(given)).outcome, 'error');
    t.is(new Set(requests.map((request) => request.headers['x-service-event-id'])).size, 1);
    const run = await readRun(given);
    t.like(run, { state: 'blocked', outcome: null, attempts: 5 });
    t.like(run.error, { code: 'app_action_failed', message: 'The app answered 502' });
    t.true(run.error.fix.length > 0);
    t.true((await readLead(given)).blocked);
    const [log] = await world.deps
      .db('campaign_logs')
      .where({ campaign_id: given.campaignId, event_type: 'step_blocked' });
    t.like(log.metadata, { step_run_id: given.runId, code: 'app_action_failed' });
    t.is((await call(given)).outcome, 'stale', 'a blocked run waits for a person');
  },
);

test.serial('task_reliability decides how often; switched off, a failure is final', async (t) => {
  const { url } = await app(t, (_request, response) => void response.writeHead(500).end());
  for (const [settings, limit] of [
    [{ max_attempts: 2 }, 2],
    [{ enabled: false }, 1],
  ] as const) {
    const given = await setup(url);
    await world.deps.db('outreach_settings').insert({
      organization_id: given.tenant.organizationId,
      settings: JSON.stringify({ task_reliability: settings }),
      updated_at: NOON,
    });
    for (let attempt = 1; attempt < limit; attempt += 1)
      t.like(await call(given), { outcome: 'retry', retryInMs: Math.min(300_000, 1_000 * 2 ** attempt) });
    t.is((await call(given)).outcome, 'error');
  }
});

test.serial('a long whole number of an answer is kept as it was written', async (t) => {
  const { url } = await app(t, (_request, response) =>
    response.writeHead(200).end('{"order":7615917337495251231,"total":12.5,"note":"id 7615917337495251231"}'),
  );
  const given = await setup(url);
  await call(given);
  t.deepEqual((await readRun(given)).output, {
    order: '7615917337495251231',
    total: 12.5,
    note: 'id 7615917337495251231',
  });
});

test.serial('an app that takes longer than 30 seconds is asked again', async (t) => {
  const { url } = await app(t, () => undefined);
  const given = await setup(url);
  const { egress } = world.deps;
  const allowed: number[] = [];
  const hurried = {
    ...egress,
    request(request: Parameters<typeof egress.request>[0]) {
      allowed.push(request.timeoutMs);
      return egress.request({ ...request, timeoutMs: 100 });
    },
  };
  const result = await callApp(
    { ...world.system(given.tenant.organizationId), egress: hurried },
    given.runId,
    limits(),
  );
  t.deepEqual(allowed, [30_000]);
  t.deepEqual(result, { outcome: 'retry', detail: 'The host did not answer in time', retryInMs: 2_000 });
});

const wrongAnswers: Record<string, [Parameters<typeof app>[1], RegExp]> = {
  'a client error': [(_request, response) => void response.writeHead(422).end('{"no":1}'), /answered 422/],
  'a redirect, which is not followed': [
    (_request, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    /redirect \(302\)/,
  ],
  'a list': [json([1, 2]), /not a JSON object/],
  'a string': [json('done'), /not a JSON object/],
  null: [json(null), /not a JSON object/],
  'a page': [(_request, response) => void response.writeHead(200).end('<html>'), /not a JSON object/],
  'an empty 204': [(_request, response) => void response.writeHead(204).end(), /not a JSON object/],
  'bytes that are no UTF-8': [
    (_request, response) => void response.writeHead(200).end(Buffer.from([0x7b, 0xff, 0x7d])),
    /not a JSON object/,
  ],
  'more than 64 KiB': [json({ text: 'x'.repeat(64 * 1024) }), /larger than 64 KiB/],
  'a NUL character, which PostgreSQL cannot keep': [json({ text: 'a\0b' }), /NUL character/],
  'half of a surrogate pair': [json({ ['\ud800']: 1 }), /surrogate pair/],
  'a hundred levels': [
    (_request, response) => void response.writeHead(200).end('{"a":'.repeat(100) + '1' + '}'.repeat(100)),
    /levels deep/,
  ],
};
for (const [what, [answer, message]] of Object.entries(wrongAnswers)) {
  test.serial(`${what} is an error at once`, async (t) => {
    const { url, requests } = await app(t, answer);
    const given = await setup(url);
    t.is((await call(given)).outcome, 'error');
    t.is(requests.length, 1);
    const run = await readRun(given);
    t.is(run.state, 'blocked');
    t.regex(run.error.message, message);
    t.deepEqual((await readLead(given)).app_values, {});
  });
}

test.serial('an answer of exactly 64 KiB fits', async (t) => {
  const text = 'x'.repeat(64 * 1024 - '{"text":""}'.length);
  const { url } = await app(t, json({ text }));
  const given = await setup(url);
  t.is((await call(given)).outcome, 'success');
});

test.serial('a branch for the outcome error takes the contact on instead of blocking it', async (t) => {
  const { url } = await app(t, (_request, response) => void response.writeHead(400).end());
  const given = await setup(url, {
    conditions: { branches: [{ to: null, when: [{ field: 'node_outcome', operator: 'equals', value: 'error' }] }] },
  });
  t.is((await call(given)).outcome, 'error');
  t.like(await readRun(given), { state: 'completed', outcome: 'error' });
  t.false((await readLead(given)).blocked);
});

test.serial('a branch that asks for the error and for a reaction counts where an email has left', async (t) => {
  const { url } = await app(t, (_request, response) => void response.writeHead(400).end());
  const when = [
    { field: 'node_outcome', operator: 'equals', value: 'error' },
    { field: 'opened', operator: 'equals', value: true },
  ];
  const mailed = await setup(url, { conditions: { branches: [{ to: null, when }] } });
  await world.deps.db('sends').insert({
    id: newId(),
    organization_id: mailed.tenant.organizationId,
    campaign_id: mailed.campaignId,
    enrollment_id: mailed.enrollmentId,
    step_id: newId(),
    state: 'sent',
    recipient: 'ada@example.com',
    slot_at: NOON,
    slot_day: '2026-03-02',
    sent_at: NOON,
    created_at: NOON,
    updated_at: NOON,
  });
  t.is((await call(mailed)).outcome, 'error');
  t.like(await readRun(mailed), { state: 'completed', outcome: 'error' });
  t.false((await readLead(mailed)).blocked);
  // An email that was not sent cannot be opened, so no branch accepts the error.
  const fresh = await setup(url, { conditions: { branches: [{ to: null, when }] } });
  t.is((await call(fresh)).outcome, 'error');
  t.is((await readRun(fresh)).state, 'blocked');
});

test.serial('an answer that comes after the contact has finished changes nothing', async (t) => {
  let given: Setup;
  const { url } = await app(t, (_request, response) => {
    // The contact replies while the app is still working.
    void transact(world.system(given.tenant.organizationId), (tx) =>
      finishEnrollment(tx, given.enrollmentId, 'replied'),
    ).then(() => response.writeHead(200).end('{"code":"late"}'));
  });
  given = await setup(url);
  t.deepEqual(await call(given), { outcome: 'stale' });
  t.like(await readRun(given), { state: 'skipped', output: null });
  t.deepEqual((await readLead(given)).app_values, {});
});

test.serial('of two calls at the same time one is kept', async (t) => {
  let n = 0;
  const { url, requests } = await app(
    t,
    (_request, response) => void response.writeHead(200).end(JSON.stringify({ n: ++n })),
  );
  const given = await setup(url);
  const outcomes = (await Promise.all([call(given), call(given), call(given)])).map(({ outcome }) => outcome).sort();
  t.is(outcomes.filter((outcome) => outcome === 'success').length, 1);
  t.deepEqual((await readLead(given)).app_values.offer, (await readRun(given)).output);
  t.true(requests.every((request) => request.headers['idempotency-key'] === given.runId));
});

test.serial('a paused campaign and a held lead are not asked about', async (t) => {
  const { url, requests } = await app(t, json({}));
  const given = await setup(url);
  await world.deps.db('campaigns').where({ id: given.campaignId }).update({ status: 'paused' });
  t.is((await call(given)).outcome, 'stale');
  await world.deps.db('campaigns').where({ id: given.campaignId }).update({ status: 'active' });
  await world.deps
    .db('enrollments')
    .where({ id: given.enrollmentId })
    .update({ hold_since: NOON, hold_until: new Date(NOON.getTime() + 1) });
  t.is((await call(given)).outcome, 'stale');
  t.is(requests.length, 0);
  t.is(
    (await callApp(world.system((await world.tenant()).organizationId), given.runId, limits())).outcome,
    'stale',
    'nor another organization',
  );
});

test.serial('a retry runs a blocked run again with all its attempts, once, and wakes the contact', async (t) => {
  let works = false;
  const { url } = await app(t, (_request, response) => void response.writeHead(works ? 200 : 400).end('{"code":"ok"}'));
  const given = await setup(url);
  await call(given);
  const ctx = world.system(given.tenant.organizationId);
  const [first, second] = await Promise.allSettled([
    retryStepRun(ctx, given.campaignId, given.runId),
    retryStepRun(ctx, given.campaignId, given.runId),
  ]);
  t.deepEqual([first.status, second.status].sort(), ['fulfilled', 'rejected']);
  t.like(await readRun(given), { state: 'running', attempts: 0, error: null });
  t.false((await readLead(given)).blocked);
  t.is((await readIntents(given)).length, 1);
  works = true;
  t.is((await call(given)).outcome, 'success');
  const error = await t.throwsAsync(retryStepRun(ctx, given.campaignId, given.runId));
  t.like(error, { code: 'conflict' });
});

test.serial('an address that is not allowed is no retry', async (t) => {
  const given = await setup('http://127.0.0.1:9');
  const egress = createEgress({ allowUnsafe: false });
  t.teardown(() => egress.close());
  t.is(
    (await callApp({ ...world.system(given.tenant.organizationId), egress }, given.runId, limits())).outcome,
    'error',
  );
  t.like(await readRun(given), { state: 'blocked', attempts: 1 });
});

test('inputs keep their types; only text is rendered', (t) => {
  t.deepEqual(renderInputs({ a: 1, b: [null, '{{.X}}'], '{{.X}}': { c: false } }, { X: 'y' }), {
    a: 1,
    b: [null, 'y'],
    '{{.X}}': { c: false },
  });
});

test('inputs share one budget of work, so that many of them cannot hold up a worker', (t) => {
  const x = 'a b '.repeat(25_000);
  t.notThrows(() => renderInputs({ a: '{{truncate 99999 .x}}', b: '{{.x}}' }, { x }));
  t.throws(
    () =>
      renderInputs(
        Array.from({ length: 100 }, () => '{{truncate 99999 .x}}'),
        { x },
      ),
    {
      instanceOf: InputsTooLarge,
    },
  );
});

test.serial('a call to an app that has as many as it may comes again later, and counts as no attempt', async (t) => {
  let answer = () => {};
  const { url, requests } = await app(t, (_request, response) => {
    answer = () => void response.writeHead(200).end('{}');
  });
  const given = await setup(url);
  const one = new TargetLimits({ total: 20, perTarget: 1 });
  const first = call(given, one);
  await eventually(async () => requests.length === 1);
  // The second call may be for the same step run, because the limit counts calls and not contacts.
  const second = await call(given, one);
  t.is(second.outcome, 'busy');
  t.true((second as { retryInMs: number }).retryInMs > 0);
  t.is(requests.length, 1);
  t.like(await readRun(given), { state: 'running', attempts: 0 });
  answer();
  t.is((await first).outcome, 'success');
});
