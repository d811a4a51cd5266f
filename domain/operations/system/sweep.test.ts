import test from 'ava';
import { act, chain, createAutomation } from '../../../test/harness/automations.ts';
import { createApproval } from '../../../test/harness/approvals.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { firstIdAt, newId } from '../../../lib/ids.ts';
import { createMailbox } from '../../../test/harness/factories.ts';
import { createAccessToken, createApplication, createPublicClient } from '../../../test/harness/oauth.ts';
import { openRunDesk } from '../../../test/harness/run-desk.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { externalText } from '../../platform/external-text.ts';
import { mailApprovers } from '../../approvals/mail-approvers.ts';
import { createUsageLog } from '../../identity/api-keys/usage-log.ts';
import { endOrphanedApprovals } from './orphaned-approvals.ts';
import { sweepExpired } from './sweep.ts';

const clock = new ManualClock(new Date('2026-03-02T08:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

/** Returns a quote that expired `ageMs` ago. */
function quoteRow(organizationId: string, provider: string, ageMs: number, consumed = false) {
  const at = new Date(clock.now().getTime() - ageMs);
  return {
    id: newId(),
    organization_id: organizationId,
    order_id: newId(),
    provider,
    count: 1,
    domains: '[]',
    mailboxes: '[]',
    warmup: false,
    names: '[]',
    currency: 'usd',
    mailbox_monthly_cents: 350,
    warmup_monthly_cents: 0,
    domain_cents: 0,
    total_monthly_cents: 350,
    total_due_today_cents: 350,
    line_items: '[]',
    created_at: at,
    expires_at: at,
    consumed_at: consumed ? at : null,
  };
}

test.serial('quotes of mailboxes go a day after their time; one that was ordered stays', async (t) => {
  const { organizationId } = await world.tenant();
  const { db } = world.deps;
  await db('mailbox_quotes').insert([
    quoteRow(organizationId, 'old', DAY_MS),
    quoteRow(organizationId, 'new', DAY_MS - 1),
    quoteRow(organizationId, 'ordered', DAY_MS, true),
  ]);
  t.is(await sweepExpired(world.deps), 1);
  const left = await db('mailbox_quotes')
    .where({ organization_id: organizationId })
    .orderBy('provider')
    .pluck('provider');
  t.deepEqual(left, ['new', 'ordered']);
  await db('mailbox_quotes').delete();
});

test.serial('a table whose rows cannot be deleted keeps no other from it', async (t) => {
  const { organizationId } = await world.tenant();
  const { db } = world.deps;
  const minute = new Date(clock.now().getTime() - DAY_MS);
  await db('webhook_counts').insert({ organization_id: organizationId, minute, subject: 'endpoint', admitted: 1 });
  await db('mailbox_quotes').insert(quoteRow(organizationId, 'old', DAY_MS));
  await db.raw(`create function kept() returns trigger language plpgsql as $$ begin raise exception 'kept'; end $$`);
  await db.raw('create trigger kept before delete on mailbox_quotes for each row execute function kept()');
  await t.throwsAsync(sweepExpired(world.deps), { instanceOf: AggregateError, message: /^1 of \d+ failed$/ });
  t.deepEqual(await db('webhook_counts'), []);
  await db.raw('drop function kept cascade');
  t.is(await sweepExpired(world.deps), 1);
});

test.serial('warmup emails go after their time, a reply with its email, and none that may still leave', async (t) => {
  const { organizationId } = await world.tenant();
  const { db, config } = world.deps;
  const smtp = { host: '127.0.0.1', port: 1 };
  const [mailbox_id, partner_id] = await Promise.all(
    ['a', 'b'].map((name) => createMailbox(world.deps, organizationId, `${name}@ours.test`, { smtp })),
  );
  const days = config.WARMUP_RETENTION_DAYS;
  const mail = async (subject: string, ageDays: number, more: { answers?: string; state?: string } = {}) => {
    const at = new Date(clock.now().getTime() - ageDays * DAY_MS);
    const id = firstIdAt(at).slice(0, -12) + newId().slice(-12);
    await db('warmup_mails').insert({
      id,
      organization_id: organizationId,
      mailbox_id,
      partner_id,
      subject,
      state: 'sent',
      slot_at: at,
      slot_day: at.toISOString().slice(0, 10),
      created_at: at,
      ...more,
    });
    return id;
  };
  await mail('young', days - 1);
  await mail('old', days + 1);
  await mail('an old reply', days + 1, { answers: await mail('old, answered', days + 2) });
  await mail('a young reply', days - 2, { answers: await mail('answered of late', days + 1) });
  await mail('leaving', days + 1, { state: 'sending' });
  await mail('leaving reply', days + 1, { state: 'sending', answers: await mail('is being answered', days + 2) });
  const removed = await sweepExpired(world.deps);
  t.true(removed >= 2 && removed <= 3, 'the reply may have gone with its email');
  t.is(await sweepExpired(world.deps), 0);
  const left = await db('warmup_mails').where({ organization_id: organizationId }).orderBy('subject').pluck('subject');
  t.deepEqual(left.sort(), [
    'a young reply',
    'answered of late',
    'is being answered',
    'leaving',
    'leaving reply',
    'young',
  ]);
});

test.serial(
  'runs of automations that have ended go after their time, and not before the events that started them',
  async (t) => {
    const { organizationId } = await world.tenant();
    const { db, config } = world.deps;
    const automation = await createAutomation(world, organizationId, 'email.replied', chain(act('tell', 'notify')));
    const days = config.AUTOMATION_RUN_RETENTION_DAYS;
    const idAt = (ageDays: number) =>
      firstIdAt(new Date(clock.now().getTime() - ageDays * DAY_MS)).slice(0, -12) + newId().slice(-12);
    const run = (name: string, ageDays: number, more: object = {}) =>
      db('automation_runs').insert({
        id: idAt(ageDays),
        organization_id: organizationId,
        automation_id: automation,
        cause: `event/${newId()}`,
        trigger_event: 'email.replied',
        status: 'success',
        data: '{}',
        node_results: '[]',
        error_detail: externalText(name),
        hops: 0,
        started_at: clock.now(),
        finished_at: clock.now(),
        ...more,
      });
    // An event without a position is kept.
    const kept = idAt(days + 2);
    await db('domain_events').insert({
      id: kept,
      organization_id: organizationId,
      type: 'contact.updated',
      data: '{}',
      created_at: clock.now(),
    });
    await run('young', days - 1);
    await run('old', days + 1);
    await run('old, of a step', days + 1, { cause: `step/${newId()}` });
    await run('waits', days + 1, { status: 'running', finished_at: null });
    await run('its event is kept', days + 1, { cause: `event/${kept}` });
    t.is(await sweepExpired(world.deps), 2);
    t.deepEqual(
      (await db('automation_runs').where({ automation_id: automation }).pluck('error_detail'))
        .map(({ values }) => values.words)
        .toSorted(),
      ['its event is kept', 'waits', 'young'],
    );
    await db('domain_events').where({ id: kept }).delete();
    await db('automations').where({ id: automation }).delete();
  },
);

test.serial('what has expired goes, what has not stays', async (t) => {
  const { organizationId } = await world.tenant();
  const now = clock.now();
  const row = (key: string, expiresInMs: number) => ({
    organization_id: organizationId,
    actor_id: 'a',
    operation: 'o',
    key,
    request_hash: 'h',
    created_at: now,
    expires_at: new Date(now.getTime() + expiresInMs),
  });
  await world.deps.db('idempotency_keys').insert([row('old', -1), row('now', 0), row('fresh', 1_000)]);
  await world.deps.db('mailbox_checks').insert({
    id: newId(),
    organization_id: organizationId,
    request: Buffer.from('x'),
    created_at: now,
    expires_at: new Date(now.getTime() - 1),
  });
  t.is(await sweepExpired(world.deps), 3);
  t.deepEqual(await world.deps.db('idempotency_keys').where({ organization_id: organizationId }).pluck('key'), [
    'fresh',
  ]);
  clock.advance(1_000);
  t.is(await sweepExpired(world.deps), 1);
  t.is(await sweepExpired(world.deps), 0);
});

test.serial(
  'of OAuth: tokens go a day after they end, codes later, and self-registered clients without a grant',
  async (t) => {
    const tenant = await world.tenant();
    const start = clock.now();
    const { client } = await createAccessToken(world, tenant);
    const unused = await createPublicClient(world.deps);
    const owned = await createApplication(world.deps, tenant.organizationId);
    const left = async (days: number) => {
      clock.set(new Date(start.getTime() + days * 86_400_000));
      await sweepExpired(world.deps);
      const kinds = await world.deps.db('oauth_tokens').orderBy('kind').pluck('kind');
      const clients = await world.deps
        .db('oauth_applications')
        .whereIn('id', [client.id, unused.id, owned.id])
        .orderBy('id')
        .pluck('id');
      return { kinds, codes: (await world.deps.db('oauth_codes')).length, clients };
    };
    const all = [client.id, unused.id, owned.id].sort();
    t.deepEqual(await left(1), { kinds: ['access', 'refresh'], codes: 1, clients: all });
    t.deepEqual(await left(29.9), { kinds: ['refresh'], codes: 1, clients: all });
    t.deepEqual(await left(30), { kinds: ['refresh'], codes: 1, clients: [client.id, owned.id].sort() });
    t.deepEqual(await left(90), { kinds: ['refresh'], codes: 1, clients: [client.id, owned.id].sort() });
    t.deepEqual(await left(91), { kinds: [], codes: 0, clients: [client.id, owned.id].sort() });
    clock.set(start);
  },
);

test.serial('single requests of API keys are kept for 30 days, their counts for 100', async (t) => {
  const { apiKeyId } = await world.tenant();
  const usage = createUsageLog(world.deps);
  const start = clock.now();
  const day = (days: number) => new Date(start.getTime() + days * 86_400_000);
  for (const days of [0, 1]) {
    clock.set(day(days));
    usage.record({
      apiKeyId,
      endpoint: '/v1/contacts',
      method: 'GET',
      ipAddress: '192.0.2.1',
      userAgent: 'test',
      status: 200,
      durationMs: 1,
      requestId: newId(),
    });
  }
  await usage.flush();
  const left = async () => {
    await sweepExpired(world.deps);
    return Promise.all(
      ['api_key_usage_logs', 'api_key_usage_minutes'].map(
        async (table) => (await world.deps.db(table).where({ api_key_id: apiKeyId })).length,
      ),
    );
  };
  clock.set(new Date(day(30).getTime() - 1));
  t.deepEqual(await left(), [2, 2]);
  clock.set(day(30));
  t.deepEqual(await left(), [1, 2]);
  clock.set(day(100));
  t.deepEqual(await left(), [0, 1]);
  clock.set(start);
});

test.serial('approvals are kept for APPROVAL_RETENTION_DAYS, with whom they were mailed to', async (t) => {
  const tenant = await world.tenant();
  const [pending, denied] = [
    await createApproval(world.system(tenant.organizationId), tenant),
    await createApproval(world.system(tenant.organizationId), tenant),
  ];
  await mailApprovers(world.system(tenant.organizationId), denied.id);
  await world.deps.db('approvals').where({ id: denied.id }).update({ status: 'denied' });
  const before = clock.now();
  const left = async (days: number) => {
    // Ids contain the time of the machine's clock, so the test's clock is set relative to it.
    clock.set(new Date(Date.now() + days * 86_400_000));
    await sweepExpired(world.deps);
    return {
      approvals: await world.deps.db('approvals').orderBy('id').pluck('id'),
      mails: await world.deps.db('approval_mails').pluck('approval_id'),
    };
  };
  t.deepEqual(await left(364.9), { approvals: [pending.id, denied.id], mails: [denied.id] });
  t.deepEqual(await left(365.1), { approvals: [pending.id], mails: [] });
  clock.set(before);
});

test.serial(
  'an approval that nothing will carry out any more ends, with its event; one that a run waits for is left alone',
  async (t) => {
    const { db } = world.deps;
    const runs = await openRunDesk(world);
    const approved = async () => {
      const run = await runs.step(await runs.create());
      await runs.decide(run.id, 'approved');
      return run.approval_id!;
    };
    // Changes the rows directly, as in a manual repair.
    const cancelled = await approved();
    await db('runs').where({ approval_id: cancelled }).update({ state: 'cancelled' });
    const lone = await createApproval(world.system(runs.tenant.organizationId), runs.tenant);
    await db('approvals').where({ id: lone.id }).update({ status: 'approved', decided_at: clock.now() });
    const healthy = await approved();
    const statusOf = async (id: string) => (await db('approvals').where({ id }).first()).status;

    t.is(await endOrphanedApprovals(world.deps), 2);
    t.deepEqual([await statusOf(cancelled), await statusOf(lone.id)], ['expired', 'expired']);
    t.is(await statusOf(healthy), 'approved');
    const told = await db('domain_events').where({ type: 'approval.expired' }).select('data');
    t.deepEqual(told.map(({ data }) => data.approval_id).sort(), [cancelled, lone.id].sort());
    t.is(await endOrphanedApprovals(world.deps), 0);
    const launching = await db('runs').where({ approval_id: healthy }).first();
    t.is((await runs.step(launching)).state, 'active', 'it is still carried out');
  },
);
