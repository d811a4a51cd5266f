import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { routes } from '../../api/routes.ts';
import { json } from '../../db/connection.ts';
import { createAppConnection } from '../../domain/connect/app-connections/connections.ts';
import { findCampaign } from '../../domain/sending/campaign/find.ts';
import { checkStart } from '../../domain/sending/campaign/launch-checks.ts';
import { reader } from '../../domain/platform/kernel/transact.ts';
import { ERROR_CODES, type ErrorCode } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { allowEverything } from '../harness/approvals.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import {
  createCampaign,
  createContact,
  createMailbox,
  enroll,
  type StepSpec,
  type Tenant,
} from '../harness/factories.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { startReceiver, type Receiver } from '../harness/receiver.ts';
import { call, createWorld, type Answer, type World } from '../harness/world.ts';
import { render } from '../../messages/render.ts';

/*
 * Provokes every problem code of campaigns, steps, test runs, app connections, product events and mailboxes, and checks
 * its fix. The last tests scan the sources: a code without a case, or a fix without an endpoint, is a defect.
 */

let world: World;
let mail: MailWorld;
let app: Receiver;
let engine: Engine;
test.before(async () => {
  [mail, app, world] = await Promise.all([
    startMailWorld(),
    startReceiver({ respond: 500 }),
    createWorld({
      env: { GOOGLE_MAILBOX_CLIENT_ID: 'client', GOOGLE_MAILBOX_CLIENT_SECRET: 'secret', ORG_STORED_BYTES: '10' },
    }),
  ]);
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  await Promise.all([mail?.stop(), app?.stop()]);
  await world?.close();
});

const NOWHERE = { smtp: { host: '127.0.0.1', port: 1 }, imap: { host: '127.0.0.1', port: 1 } };

interface Case {
  steps?: StepSpec[];
  fields?: Record<string, unknown>;
  mailbox?: false;
  /** Contacts of the leads. Defaults to one valid lead. */
  leads?: Record<string, unknown>[];
  /** Changes rows after the campaign was created. */
  change?: (stepIds: string[]) => Promise<unknown>;
}

const email: StepSpec = { subject: 'Hello', body_plain: 'Hi' };
const waitFor = (extra: Record<string, unknown>): StepSpec => ({
  kind: 'wait',
  action: {
    type: 'wait_for_event',
    wait_event_name: 'order.paid',
    timeout_minutes: 5,
    on_timeout: 'continue',
    ...extra,
  },
});
const branches = (id: string, links: object[]) =>
  world.deps
    .db('campaign_steps')
    .where({ id })
    .update({ conditions: json({ branches: links }) });

/** Findings of validation and preflight by code, each with a campaign that causes it. */
const FOUND_BY_CHECKS: Record<string, Case> = {
  campaign_invalid: { steps: [] },
  empty_step_body: { steps: [{ subject: 'Hello' }] },
  campaign_no_mailbox: { mailbox: false },
  campaign_no_contacts: { leads: [] },
  campaign_variable_missing: { steps: [{ subject: 'Hello', body_plain: 'Your {{.App.demo.url}}' }] },
  merge_tag_foreign: { steps: [{ subject: 'Hello', body_plain: 'Hi {FirstName}' }] },
  leads_undeliverable: { leads: [{ verification_status: 'invalid' }] },
  list_bounce_risk: {
    fields: { risky_emails: true },
    leads: Array.from({ length: 50 }, () => ({ verification_status: 'risky' })),
  },
  step_no_connection: {
    steps: [email, { kind: 'action', action: { type: 'notify', message: '' } }],
    // Simulates a connection that was deleted in the database, not through the API.
    change: ([, step]) =>
      world.deps
        .db('campaign_steps')
        .where({ id: step })
        .update({
          action: json({ type: 'app_action', app_connection_id: null, path: '/x', output_key: 'x', inputs: {} }),
        }),
  },
  email_too_large: {
    steps: [{ subject: 'Hello', body_plain: 'x'.repeat(70_000) }],
    change: async ([id]) => {
      const { db } = world.deps;
      const { organization_id: own } = await db('campaign_steps').where({ id }).first();
      await db('mailboxes').where({ organization_id: own }).update({ smtp_max_bytes: 65_536 });
    },
  },
  step_unreachable: { steps: [email, email], change: ([first]) => branches(first!, []) },
  wait_unbounded: { steps: [email, waitFor({ timeout_minutes: null }), email] },
  wait_timeout_unrouted: {
    steps: [email, waitFor({}), email],
    change: ([, wait, last]) =>
      branches(wait!, [{ to: last, when: [{ field: 'node_outcome', operator: 'equals', value: 'event' }] }]),
  },
};

/** Creates the campaign of a case in a new workspace. */
async function given(of: Case): Promise<{ tenant: Tenant; campaignId: string }> {
  const { deps } = world;
  const tenant = await world.tenant();
  const org = tenant.organizationId;
  if (of.mailbox !== false) await createMailbox(deps, org, `${newId()}@ours.test`, NOWHERE);
  const fields = { status: 'draft', had_leads: false, ...of.fields };
  const { campaignId, stepIds } = await createCampaign(deps, org, of.steps ?? [email], fields);
  await of.change?.(stepIds);
  const contacts: string[] = [];
  for (const lead of of.leads ?? [{}]) contacts.push(await createContact(deps.db, deps.clock.now(), org, lead));
  if (contacts.length > 0) await enroll(deps, org, campaignId, contacts);
  return { tenant, campaignId };
}

for (const [code, of] of Object.entries(FOUND_BY_CHECKS))
  test(`${code} is found by validation and preflight, with a fix`, async (t) => {
    const { tenant, campaignId } = await given(of);
    const check = async (name: string) =>
      (await call(world, 'POST', `/v1/campaigns/${campaignId}/${name}`, { token: tenant.apiKey })).body;
    for (const found of [(await check('validate')).problems, (await check('preflight')).findings]) {
      const problem = found.find((one: { code: string }) => one.code === code);
      t.truthy(problem, found.map((one: { code: string }) => one.code).join());
      t.regex(problem.fix, /\w/);
      t.regex(problem.message, /\w/);
    }
  });

interface Issue {
  code: string;
  message: string;
  fix?: string;
}

const send = (tenant: Tenant, method: string, path: string, body?: unknown): Promise<Answer> =>
  call(world, method, `/v1${path}`, {
    token: tenant.apiKey,
    ...(body === undefined ? {} : { body }),
    headers: { 'idempotency-key': newId() },
  });

/** Starts the campaign of a case with a key whose policy allows it. */
async function start(of: Case): Promise<Answer> {
  const { tenant, campaignId } = await given(of);
  await allowEverything(world.deps, tenant);
  return send(tenant, 'POST', `/campaigns/${campaignId}/start`, {});
}

const mailbox = (tenant: Tenant, fields: Record<string, unknown> = {}) =>
  createMailbox(world.deps, tenant.organizationId, `${newId()}@ours.test`, NOWHERE, fields);
const consent = (tenant: Tenant, provider: string) =>
  send(tenant, 'POST', '/emails/onboarding/oauth/cli-start', { provider });
const connection = async (tenant: Tenant, baseUrl: string) =>
  (await createAppConnection(world.system(tenant.organizationId), { name: 'App', baseUrl })).connection.id;
const appStep = (connectionId: string) => ({
  name: 'Ask',
  kind: 'action',
  action: { type: 'app_action', app_connection_id: connectionId, path: '/x', output_key: 'x', inputs: {} },
});

/** Runs a test of a campaign whose app fails. */
async function failedTest(): Promise<{ error: Issue; steps: { error: Issue }[] }> {
  const tenant = await world.tenant();
  await mailbox(tenant);
  const steps = [appStep(await connection(tenant, app.url))];
  const { body: campaign } = await send(tenant, 'POST', '/campaigns', { name: 'Failing', steps });
  const path = `/campaigns/${campaign.id}`;
  const { body: begun } = await send(tenant, 'POST', `${path}/test`, { prospect_email: 'me@tester.example' });
  return eventually(async () => {
    const { body } = await send(tenant, 'GET', `${path}/test-runs/${begun.id}`);
    return body.state === 'failed' && body;
  });
}

/** Requests that are answered with an error, by its code. */
const ANSWERED: Partial<Record<ErrorCode, () => Promise<Answer>>> = {
  campaign_invalid: () => start({ steps: [] }),
  empty_step_body: () => start({ steps: [{ subject: 'Hello' }] }),
  campaign_no_mailbox: () => start({ mailbox: false }),
  no_leads: () => start({ leads: [] }),
  leads_undeliverable: () => start(FOUND_BY_CHECKS.leads_undeliverable!),
  list_bounce_risk: () => start(FOUND_BY_CHECKS.list_bounce_risk!),
  event_contact_not_found: async () =>
    send(await world.tenant(), 'POST', '/events', { name: 'order.paid', email: 'nobody@else.test' }),
  event_not_found: async () => send(await world.tenant(), 'GET', `/events/${newId()}`),
  event_run_not_found: async () => {
    const { tenant, campaignId } = await given({});
    return send(tenant, 'GET', `/campaigns/${campaignId}/test-runs/${newId()}`);
  },
  app_connection_in_use: async () => {
    const tenant = await world.tenant();
    const id = await connection(tenant, app.url);
    await send(tenant, 'POST', '/campaigns', { name: 'Using it', steps: [appStep(id)] });
    return send(tenant, 'DELETE', `/app-connections/${id}`);
  },
  app_connection_not_found: async () => {
    const tenant = await world.tenant();
    await mailbox(tenant);
    return send(tenant, 'POST', '/runs', {
      name: 'Run',
      intent: 'draft',
      senders: { mode: 'auto' },
      daily_limit: 5,
      schedule: { mode: 'auto', timezone: 'UTC' },
      stop_on_reply: true,
      opt_out_enabled: true,
      leads: [{ email: 'ada@lead.test' }],
      steps: [{ type: 'app_action', app_action: { connection: 'Shoe', path: '/x', output_key: 'x', inputs: {} } }],
    });
  },
  mailbox_provider_requires_oauth: async () => send(await world.tenant(), 'POST', '/emails', { provider: 'gmail' }),
  mailbox_provider_not_configured: async () => consent(await world.tenant(), 'outlook'),
  mailbox_consent_expired: async () => {
    const tenant = await world.tenant();
    const { session } = (await consent(tenant, 'gmail')).body;
    const { db } = world.deps;
    await db('mailbox_consents')
      .where({ organization_id: tenant.organizationId })
      .update({ expires_at: new Date(0) });
    return send(tenant, 'GET', `/emails/onboarding/oauth/session/${session}`);
  },
  mailbox_allowance_reached: async () => {
    const tenant = await world.tenant();
    for (let n = 0; n < 10; n += 1) await mailbox(tenant);
    return consent(tenant, 'gmail');
  },
  mailbox_send_as_unsupported: async () => {
    const tenant = await world.tenant();
    return send(tenant, 'PATCH', `/emails/${await mailbox(tenant)}`, { send_as_email: 'x@ours.test' });
  },
  mailbox_send_as_unknown: async () => {
    const tenant = await world.tenant();
    return send(tenant, 'PATCH', `/emails/${await mailbox(tenant, { provider: 'gmail' })}`, {
      send_as_email: 'x@ours.test',
    });
  },
  mailbox_identity_unavailable: async () => {
    const tenant = await world.tenant();
    return send(tenant, 'POST', `/emails/${await mailbox(tenant, { provider: 'gmail' })}/identity/refresh`);
  },
  mailbox_auth_failed: async () => {
    const address = `${newId()}@ours.test`;
    const { smtp, imap } = await mail.addMailbox({ email: address, password: 'right' });
    const server = ({ host, port }: { host: string; port: number }) => ({
      host,
      port,
      username: address,
      password: 'wrong',
      security: 'none',
    });
    return send(await world.tenant(), 'POST', '/emails', {
      provider: 'smtp_imap',
      email: address,
      name: 'Sam',
      smtp: server(smtp),
      imap: server(imap),
    });
  },
  warmup_enable_failed: async () => {
    const tenant = await world.tenant();
    return send(tenant, 'POST', `/emails/${await mailbox(tenant, { status: 'inactive' })}/warmup/start`);
  },
  storage_limit_reached: async () => {
    const tenant = await world.tenant();
    return send(tenant, 'POST', '/unibox/compose', {
      email_account_id: await mailbox(tenant),
      to: ['lea@else.test'],
      subject: 'Hello',
      body_plain: 'Hi',
      attachments: [{ filename: 'a.txt', content_type: 'text/plain', content: Buffer.alloc(11).toString('base64') }],
    });
  },
};

for (const [code, provoke] of Object.entries(ANSWERED))
  test(`${code} answers a request, with its status and a fix`, async (t) => {
    const { status, body, text } = await provoke();
    t.deepEqual([status, body.code], [ERROR_CODES[code as ErrorCode], code], text);
    t.regex(body.fix, /\w/);
  });

/**
 * Functions that return a problem which is part of another object (a checklist, a test run, a step, the log of a
 * campaign), by its code.
 */
const SHOWN: Record<string, () => Promise<Issue | null>> = {
  app_connection_failed: async () => {
    const tenant = await world.tenant();
    return (await send(tenant, 'POST', `/app-connections/${await connection(tenant, app.url)}/test`)).body.error;
  },
  app_action_failed: async () => (await failedTest()).steps[0]!.error,
  run_failed: async () => (await failedTest()).error,
  mailbox_unhealthy: async () => {
    const tenant = await world.tenant();
    return (await send(tenant, 'POST', `/emails/${await mailbox(tenant, { status: 'inactive' })}/test`)).body.error;
  },
  // When Heron itself restarts the campaign, an added lead or a resent email always exists. So only a requester can
  // cause this code.
  no_remaining_leads: async () => {
    const { tenant, campaignId } = await given({ leads: [], fields: { had_leads: true } });
    const org = reader(world.system(tenant.organizationId));
    const { refusal } = await checkStart(org, await findCampaign(org, campaignId), {
      now: new Date(),
      byPlatform: true,
    });
    return refusal && { code: refusal.code, message: refusal.message, fix: render(refusal.fix!) };
  },
};

for (const [code, provoke] of Object.entries(SHOWN))
  test(`${code} is shown where it belongs, with a fix`, async (t) => {
    const issue = await provoke();
    t.is(issue?.code, code);
    t.regex(issue!.message, /\w/);
    t.regex(issue!.fix!, /\w/);
  });

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

async function sourcesOf(folder: string): Promise<[string, string][]> {
  const files = await readdir(`${ROOT}${folder}`, { recursive: true });
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  return Promise.all(
    sources.map(async (file): Promise<[string, string]> => [
      `${folder}/${file}`,
      await readFile(`${ROOT}${folder}/${file}`, 'utf8'),
    ]),
  );
}

test('every code that these areas raise has a case', async (t) => {
  const areas =
    /^(campaign|step|wait|run|app|event|mailbox|warmup)_(?!provisioning)|^(empty_step_body|leads_undeliverable|list_bounce_risk|no_leads|no_remaining_leads|storage_limit_reached)$/;
  const cases = new Set([FOUND_BY_CHECKS, ANSWERED, SHOWN].flatMap((table) => Object.keys(table)));
  const closed = Object.keys(ERROR_CODES).filter((code) => areas.test(code));
  const folders = ['sending/campaign', 'campaigns', 'connect/app-connections', 'mailboxes', 'audience/product-events'];
  const sources = (await Promise.all(folders.map((folder) => sourcesOf(`domain/${folder}`)))).flat();
  const raised = sources.flatMap(([, text]) =>
    [...text.matchAll(/(?:AppError\(\s*|code: )'([a-z_]+)'/g)].map(([, code]) => code!),
  );
  // Codes without a case here. The second one needs an installation without a worker; the test of the mailboxes' routes
  // covers it.
  const known = new Set(['campaign_deleted', 'mailbox_worker_unreachable']);
  const all = new Set([...closed, ...raised.filter((code) => areas.test(code))]);
  t.true(all.size >= 25, [...all].join());
  t.deepEqual(
    [...all].filter((code) => !cases.has(code) && !known.has(code)),
    [],
  );
});

test('a fix and every other text names endpoints that are there', async (t) => {
  const paths = new Set(routes.map(({ method, path }) => `${method.toUpperCase()} ${path.replace(/:\w+/g, ':')}`));
  const sources = (await Promise.all(['messages', 'domain', 'api', 'lib', 'deploy'].map(sourcesOf))).flat();
  const named = sources.flatMap(([file, text]) =>
    [...text.replaceAll(/\$\{[^}]*\}/g, ':id').matchAll(/\b(GET|POST|PUT|PATCH|DELETE) \/v1(\/[\w/:.-]*[\w])/g)].map(
      ([, method, path]) => ({
        file,
        endpoint: `${method} ${path!.replace(/:\w+/g, ':')}`,
      }),
    ),
  );
  t.true(named.length > 40);
  t.deepEqual(
    named.filter(({ endpoint }) => !paths.has(endpoint)),
    [],
  );
});
