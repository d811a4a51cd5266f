import test from 'ava';
import { connectRaw, json } from '../../db/connection.ts';
import { isDatabaseUnavailable } from '../../db/errors.ts';
import { errorKind } from '../../lib/error-report.ts';
import { retryDueRuns, retryRun } from '../../domain/operations/system/blocked-runs.ts';
import { newId } from '../../lib/ids.ts';
import { message } from '../../messages/index.ts';
import { breakWrites } from '../harness/broken-writes.ts';
import { createCampaign, createContact, createMailbox, enroll, type Tenant } from '../harness/factories.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { startReceiver } from '../harness/receiver.ts';
import { createEndpoint, emitEvents } from '../harness/webhooks.ts';
import { call, createWorld, type World } from '../harness/world.ts';
import { externalText } from '../../domain/platform/external-text.ts';
import { render } from '../../messages/render.ts';

let world: World;
let mail: MailWorld;
let engine: Engine;
let tenant: Tenant & { apiKey: string };

test.before(async () => {
  [world, mail] = await Promise.all([
    createWorld({ env: { RUN_BLOCK_AFTER_MS: '1000', WEBHOOK_RETRY_BASE_MS: '200', TEMPORAL_UI_URL: UI } }),
    startMailWorld(),
  ]);
  engine = await startEngine(world);
  tenant = await world.tenant();
});
test.after.always(async () => {
  await engine?.stop();
  await mail?.stop();
  await world?.close();
});

const PATIENCE_MS = 60_000;
const UI = 'https://temporal.example';
/** Returns a record as the API shows it while its workflow is blocked. */
const shownAs = async (path: string, token = tenant.apiKey): Promise<any> =>
  (await call(world, 'GET', path, { token })).body;
const linkTo = (workflowId: string) => `${UI}/namespaces/default/workflows/${encodeURIComponent(workflowId)}`;
const REASON = /^blocked: it kept failing \(PostgreSQL P0001\)$/;

const waitForLetter = (workflowId: string, status: 'pending' | 'replayed') =>
  eventually(
    () =>
      world.deps.db('dead_letters').whereRaw(`payload ->> 'workflow_id' = ?`, [workflowId]).where({ status }).first(),
    PATIENCE_MS,
  );
const isRunning = async (workflowId: string) =>
  (await engine.temporal.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING';

async function enrollOne(name: string, steps: Parameters<typeof createCampaign>[2]) {
  const { organizationId } = tenant;
  const email = `${name}@sender.example.com`;
  const box = await mail.addMailbox({ email, password: 'secret' });
  await createMailbox(world.deps, organizationId, email, { smtp: box.smtp, imap: box.imap });
  const { campaignId } = await createCampaign(world.deps, organizationId, steps);
  const contactId = await createContact(world.deps.db, world.deps.clock.now(), organizationId, {
    email: `${name}@lead.example.org`,
  });
  const [enrollmentId] = await enroll(world.deps, organizationId, campaignId, [contactId]);
  return { organizationId, campaignId, contactId, enrollmentId: enrollmentId! };
}

test.serial(
  'a contact whose decision keeps failing is blocked with the reason, and goes on when an operator retries it',
  async (t) => {
    t.timeout(PATIENCE_MS * 3);
    const { organizationId, campaignId, contactId, enrollmentId } = await enrollOne('decision', [
      {
        kind: 'action',
        action: { type: 'wait_for_event', wait_event_name: 'paid', timeout_minutes: 60, on_timeout: 'continue' },
      },
    ]);
    const repair = await breakWrites(world, 'waits', 'insert', `new.campaign_id = '${campaignId}'`);
    await engine.launch(organizationId, campaignId);
    const workflowId = `enrollment/${campaignId}/${contactId}`;
    const letter = await waitForLetter(workflowId, 'pending');
    t.like(letter, {
      task_type: 'enrollment_run',
      task_id: enrollmentId,
      attempts: 1,
      organization_id: organizationId,
    });
    t.regex(render(letter.last_error), REASON);
    t.true(letter.next_retry_at > new Date());
    const row = await world.deps.db('enrollments').where({ id: enrollmentId }).first();
    t.is(row.blocked, true);
    t.regex(render(row.waiting_for), REASON);
    const shown = await eventually(async () => {
      const { searchAttributes } = await engine.temporal.workflow.getHandle(workflowId).describe();
      return searchAttributes.State?.[0] as string | undefined;
    }, PATIENCE_MS);
    t.is(shown, 'blocked');
    t.true(await isRunning(workflowId), 'it waits');
    const { data } = await shownAs(`/v1/campaigns/${campaignId}/leads`);
    t.like(data[0], { blocked: true, waiting_for: render(row.waiting_for), temporal_url: linkTo(workflowId) });

    await repair();
    t.true(await retryRun(world.deps, workflowId));
    await eventually(
      () => world.deps.db('waits').where({ enrollment_id: enrollmentId, state: 'open' }).first(),
      PATIENCE_MS,
    );
    t.like(await world.deps.db('enrollments').where({ id: enrollmentId }).first(), {
      blocked: false,
      waiting_for: { code: 'wait.at_step', values: { what: { code: 'wait.for_event', values: { event: 'paid' } } } },
    });
    await waitForLetter(workflowId, 'replayed');
    t.false(await retryRun(world.deps, workflowId), 'nothing is blocked any more');
  },
);

test.serial('a launcher that keeps failing is blocked, and the sweep retries it', async (t) => {
  t.timeout(PATIENCE_MS * 3);
  const { organizationId, campaignId, enrollmentId } = await enrollOne('launcher', [{ subject: 'S', body_plain: 'b' }]);
  const repair = await breakWrites(world, 'sends', 'insert', `new.campaign_id = '${campaignId}'`);
  await engine.launch(organizationId, campaignId);
  const letter = await waitForLetter(`campaign/${campaignId}`, 'pending');
  t.like(letter, { task_type: 'campaign_launch', task_id: campaignId });
  t.regex(render((await world.deps.db('campaigns').where({ id: campaignId }).first()).blocked_reason), REASON);
  const shown = await shownAs(`/v1/campaigns/${campaignId}`);
  t.regex(shown.blocked_reason, REASON);
  t.is(shown.temporal_url, linkTo(`campaign/${campaignId}`));
  t.is(await retryDueRuns(world.deps), 0, 'its time has not come');

  await repair();
  await world.deps
    .db('dead_letters')
    .where({ id: letter.id })
    .update({ next_retry_at: new Date(0) });
  t.is(await retryDueRuns(world.deps), 1);
  await eventually(
    () => world.deps.db('enrollments').where({ id: enrollmentId, state: 'completed' }).first(),
    PATIENCE_MS,
  );
  t.is((await world.deps.db('campaigns').where({ id: campaignId }).first()).blocked_reason, null);
  await waitForLetter(`campaign/${campaignId}`, 'replayed');
});

test.serial('a blocked run that cannot be retried keeps no other from it', async (t) => {
  const { organizationId } = tenant;
  const { db, clock } = world.deps;
  const now = clock.now();
  const due = async (next_retry_at: Date) => {
    const { campaignId } = await createCampaign(world.deps, organizationId, [{ subject: 'S', body_plain: 'b' }]);
    const [id, stamps] = [newId(), { created_at: now, updated_at: now }];
    const task = {
      task_id: campaignId,
      task_type: 'campaign_launch',
      last_error: externalText('it kept failing'),
      next_retry_at,
    };
    await db('dead_letters').insert({ id, organization_id: organizationId, ...task, ...stamps });
    return { id, campaignId };
  };
  const broken = await due(new Date(0));
  const sound = await due(new Date(1_000));
  const repair = await breakWrites(world, 'campaigns', 'update', `new.id = '${broken.campaignId}'`);
  await t.throwsAsync(retryDueRuns(world.deps), { message: '1 of 2 failed' });
  const status = async (id: string) => (await db('dead_letters').where({ id }).first('status')).status;
  t.deepEqual([await status(broken.id), await status(sound.id)], ['pending', 'replayed']);
  await repair();
  t.is(await retryDueRuns(world.deps), 1);
});

test.serial('an import that keeps failing is blocked, and goes on behind its checkpoint', async (t) => {
  t.timeout(PATIENCE_MS * 3);
  const repair = await breakWrites(world, 'contacts', 'insert', `new.email = 'p1500@import.example'`);
  const body = new FormData();
  const rows = Array.from({ length: 1600 }, (_, n) => `p${n}@import.example`);
  body.append('file', new Blob([`email\n${rows.join('\n')}\n`]), 'people.csv');
  body.append('options', '{}');
  const { id } = (await call(world, 'POST', '/v1/contacts/import', { token: tenant.apiKey, body })).body;
  await waitForLetter(`contact-import/${id}`, 'pending');
  const job = () => world.deps.db('contact_imports').where({ id }).first();
  const stuck = await job();
  t.like(stuck, { status: 'running', total: 1000 });
  t.regex(render(stuck.blocked_reason), REASON);
  t.like(await shownAs(`/v1/contacts/imports/${id}`), {
    blocked_reason: render(stuck.blocked_reason),
    temporal_url: linkTo(`contact-import/${id}`),
  });

  await repair();
  t.true(await retryRun(world.deps, `contact-import/${id}`));
  await eventually(async () => (await job()).status === 'completed', PATIENCE_MS);
  t.like(await job(), { imported: 1600, blocked_reason: null });
});

test.serial('a delivery that cannot be attempted is blocked, and attempted when it is retried', async (t) => {
  t.timeout(PATIENCE_MS * 3);
  // Uses a separate organization, because the campaigns of the other tests emit events too.
  const own = await world.tenant();
  let status = 500;
  const receiver = await startReceiver({ respond: () => ({ status }) });
  const endpoint = await createEndpoint(world.deps, own.organizationId, receiver.url);
  // Breaks only claims by the delivery's own workflow. The first attempt is part of a batch workflow, which may be
  // repeated under load and must succeed.
  const repair = await breakWrites(
    world,
    'webhook_deliveries',
    'update',
    `new.endpoint_id = '${endpoint.id}' and new.batch_id is null and new.status = 'in_flight'`,
  );
  await emitEvents(world.deps, own.organizationId, 1);
  const row = () => world.deps.db('webhook_deliveries').where({ endpoint_id: endpoint.id }).first();
  const failed = await eventually(async () => {
    const delivery = await row();
    return delivery?.blocked_reason ? delivery : undefined;
  }, PATIENCE_MS);
  t.is(failed.status, 'failed');
  const attempts = await world.deps.db('webhook_attempts').where({ delivery_id: failed.id });
  t.is(failed.attempt_count, attempts.length, 'claims that failed do not count');
  t.regex(render(failed.blocked_reason), REASON);
  const workflowId = `webhook-delivery/${failed.id}`;
  await waitForLetter(workflowId, 'pending');
  t.like((await shownAs('/v1/webhooks/deliveries', own.apiKey)).data[0], {
    blocked_reason: render(failed.blocked_reason),
    temporal_url: linkTo(workflowId),
  });

  await repair();
  status = 204;
  t.true(await retryRun(world.deps, workflowId));
  await eventually(async () => (await row()).status === 'delivered', PATIENCE_MS);
  t.is((await row()).blocked_reason, null);
  await receiver.stop();
});

/** Creates two workspaces with an endpoint each. Every claim of the first workspace's deliveries fails. */
async function poisonOne() {
  const [poisoned, healthy] = await Promise.all([world.tenant(), world.tenant()]);
  const receiver = await startReceiver({ respond: 204 });
  const endpoint = await createEndpoint(world.deps, poisoned.organizationId, receiver.url);
  const other = await createEndpoint(world.deps, healthy.organizationId, receiver.url);
  const repair = await breakWrites(
    world,
    'webhook_deliveries',
    'update',
    `new.endpoint_id = '${endpoint.id}' and new.status = 'in_flight'`,
  );
  const row = (endpointId: string) => world.deps.db('webhook_deliveries').where({ endpoint_id: endpointId }).first();
  return { poisoned, healthy, endpoint, other, receiver, repair, row };
}

test.serial(
  'a batch that keeps failing lets its deliveries go: one is blocked by itself, the others arrive',
  async (t) => {
    t.timeout(PATIENCE_MS * 3);
    const { poisoned, healthy, endpoint, other, receiver, repair, row } = await poisonOne();
    // Inserts all events at once, so that one fan-out iteration puts their deliveries in one batch.
    const created_at = world.deps.clock.now();
    await world.deps.db('domain_events').insert(
      [poisoned, healthy].map(({ organizationId }) => ({
        id: newId(),
        organization_id: organizationId,
        type: 'team.member_joined',
        data: json({ n: 1 }),
        created_at,
      })),
    );
    const batch = await eventually(async () => (await row(endpoint.id))?.batch_id as string | undefined, PATIENCE_MS);
    await eventually(async () => (await row(other.id)).status === 'delivered', PATIENCE_MS);
    const stuck = await eventually(async () => {
      const delivery = await row(endpoint.id);
      return delivery.blocked_reason ? delivery : undefined;
    }, PATIENCE_MS);
    t.like(stuck, { batch_id: null, status: 'pending', attempt_count: 0 });
    t.regex(render(stuck.blocked_reason), REASON);
    t.deepEqual(stuck.error_reason, message('connect.batch_failing', { kind: 'PostgreSQL P0001' }));
    // The row may be visible before its workflow has ended, because the batch has no work left.
    await eventually(async () => !(await isRunning(`webhook-batch/${batch}`)), PATIENCE_MS);
    const letter = await waitForLetter(`webhook-delivery/${stuck.id}`, 'pending');
    t.like(letter, { organization_id: poisoned.organizationId, task_type: 'webhook_delivery', task_id: stuck.id });

    await repair();
    t.true(await retryRun(world.deps, `webhook-delivery/${stuck.id}`));
    await eventually(async () => (await row(endpoint.id)).status === 'delivered', PATIENCE_MS);
    t.is(receiver.requests.length, 2, 'each was delivered once');
    await receiver.stop();
  },
);

test.serial("an endpoint's own batch that keeps failing lets its deliveries go as well", async (t) => {
  t.timeout(PATIENCE_MS * 3);
  const { poisoned, endpoint, receiver, repair, row } = await poisonOne();
  await world.deps.db('webhook_endpoints').where({ id: endpoint.id }).update({ consecutive_failures: 5 });
  await emitEvents(world.deps, poisoned.organizationId, 1);
  const stuck = await eventually(async () => {
    const delivery = await row(endpoint.id);
    return delivery?.blocked_reason ? delivery : undefined;
  }, PATIENCE_MS);
  await eventually(async () => !(await isRunning(`webhook-endpoint/${endpoint.id}`)), PATIENCE_MS);
  await waitForLetter(`webhook-delivery/${stuck.id}`, 'pending');
  await repair();
  t.true(await retryRun(world.deps, `webhook-delivery/${stuck.id}`));
  await eventually(async () => (await row(endpoint.id)).status === 'delivered', PATIENCE_MS);
  await receiver.stop();
});

test('an absent database is distinguished from a failing statement, and kinds of failure hold no values', async (t) => {
  const nowhere = connectRaw({ url: 'postgres://nobody:x@127.0.0.1:1/none', max: 1 });
  t.true(isDatabaseUnavailable(await t.throwsAsync(async () => nowhere.raw('select 1'))));
  await nowhere.destroy();
  const { db } = world.deps;
  const killed = connectRaw({ url: world.deps.config.PRIMARY_DB, max: 1 });
  t.true(
    isDatabaseUnavailable(await t.throwsAsync(async () => killed.raw('select pg_terminate_backend(pg_backend_pid())'))),
  );
  await killed.destroy();
  const broken = await t.throwsAsync(async () =>
    db('labels').insert({ id: '00000000-0000-4000-8000-000000000000', name: 'person@secret.example' }),
  );
  t.false(isDatabaseUnavailable(broken));
  t.regex(errorKind(broken), /^PostgreSQL [0-9A-Z]{5}/);
  t.is(errorKind(new TypeError('person@secret.example')), 'TypeError');
});
