import test from 'ava';
import { connectRaw } from '../../../db/connection.ts';
import { grantTrackingRole } from '../../../db/tracking-role.ts';
import { trackingToken } from '../../../domain/mail/messages/tracking-token.ts';
import { unsubscribeUrl } from '../../../domain/mail/messages/tracking-urls.ts';
import { newId } from '../../../lib/ids.ts';
import { listenHttp } from '../../../lib/listen.ts';
import { createMetrics } from '../../../lib/metrics.ts';
import { createCampaign, createMailbox } from '../../../test/harness/factories.ts';
import { createSentLead, createWaitingLead } from '../../../test/harness/standing-leads.ts';
import { createTrackingLogin, createTrackingProcess } from '../../../test/harness/tracking-login.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { createClickRecorder } from '../../../domain/campaigns/tracking/clicks.ts';
import { createOpenRecorder } from '../../../domain/campaigns/tracking/opens.ts';
import { createTrackingApp } from './app.ts';

/** Tables with columns that the login of the tracking process may read. */
const READABLE = [
  'campaign_advanced',
  'campaigns',
  'contacts',
  'daily_counters',
  'direct_sends',
  'domain_events',
  'engagement_events',
  'enrollments',
  'heron_migrations',
  'installation',
  'mailboxes',
  'organizations',
  'outbox',
  'outreach_settings',
  'sends',
  'step_runs',
  'suppressions',
  'test_run_steps',
  'tracked_links',
  'tracking_domains',
  'waits',
];

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test.serial(
  'an opt-out in the middle of two campaigns has all its effects under the login of the tracking process',
  async (t) => {
    const { db } = world.deps;
    const visited = await createTrackingProcess(world);
    const tracking = await listenHttp(
      createTrackingApp(visited.deps, createMetrics(), {
        instance: newId(),
        opens: createOpenRecorder(visited.deps),
        clicks: createClickRecorder(visited.deps),
      }).callback(),
      '127.0.0.1',
      0,
    );
    t.teardown(async () => {
      await tracking.close();
      await visited.close();
    });
    const { organizationId } = await world.tenant();
    const email = `sender-${newId()}@ours.test`;
    const mailbox = { id: await createMailbox(world.deps, organizationId, email), email };
    const { campaignId, stepIds } = await createCampaign(world.deps, organizationId, [
      { subject: 'Hi', body_plain: 'Hello' },
      { subject: 'Again', body_plain: 'Hello' },
      { subject: 'Last', body_plain: 'Hello' },
    ]);
    const lead = await createSentLead(world.deps, organizationId, { campaignId, stepId: stepIds[0]!, mailbox });
    const waiting = await createWaitingLead(world.deps, organizationId, lead.contactId, {
      openedAt: world.deps.clock.now(),
    });
    const slot = new Date(world.deps.clock.now().getTime() + 3_600_000);
    const day = slot.toISOString().slice(0, 10);
    const next = [false, true].map((again, index) => ({
      id: newId(),
      organization_id: organizationId,
      campaign_id: campaignId,
      enrollment_id: lead.enrollmentId,
      step_id: stepIds[index + 1],
      contact_id: lead.contactId,
      mailbox_id: mailbox.id,
      state: 'reserved',
      recipient: lead.email,
      slot_at: slot,
      slot_day: day,
      again,
      created_at: slot,
      updated_at: slot,
    }));
    await db('sends').insert(next);
    await db('daily_counters').insert({
      organization_id: organizationId,
      scope: 'campaign',
      scope_id: campaignId,
      day,
      count: 2,
    });

    const { current } = world.deps.keyring.tracking;
    const url = unsubscribeUrl(tracking.url, trackingToken(current, 'unsubscribe', lead.sendId));
    const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
    t.is((await fetch(url, { method: 'POST', body })).status, 200);

    t.like(await db('contacts').where({ id: lead.contactId }).first(), { subscribed: false });
    t.like(await db('contact_outreach').where({ contact_id: lead.contactId }).first(), { subscribed: false });
    t.is((await db('suppressions').where({ organization_id: organizationId, email: lead.email })).length, 1);
    const enrollments = await db('enrollments').where({ contact_id: lead.contactId });
    t.deepEqual(
      enrollments.map(({ state }) => state),
      ['unsubscribed', 'unsubscribed'],
    );
    t.like(await db('waits').where({ id: waiting.waitId }).first(), { state: 'cancelled' });
    t.like(await db('step_runs').where({ id: waiting.runId }).first(), { state: 'skipped' });
    t.deepEqual(
      (
        await db('sends').whereIn(
          'id',
          next.map(({ id }) => id),
        )
      ).map(({ id, state }) => [id, state]),
      [[next[1]!.id, 'uncertain']],
      'the slot is free, and an email that may have left is kept',
    );
    t.like(await db('daily_counters').where({ scope: 'campaign', scope_id: campaignId, day }).first(), { count: 0 });
    const signals = await db('outbox').where('workflow_id', 'like', `%/${lead.contactId}`);
    t.is(signals.length, 2);
    const events = await db('domain_events').where({ organization_id: organizationId }).pluck('type');
    t.true(events.includes('campaign.unsubscribed'));
  },
);

test.serial(
  'the login of the tracking process reads no other table, no sealed column and no other column of a person',
  async (t) => {
    const login = await createTrackingLogin(world.deps.db, world.databaseUrl);
    const db = connectRaw({ url: login.url, max: 2 });
    t.teardown(async () => {
      await db.destroy();
      await login.drop();
    });
    const tables = (await world.deps
      .db('pg_class')
      .whereRaw(`relkind in ('r', 'p', 'v', 'm') and relnamespace = 'public'::regnamespace`)
      .pluck('relname')) as string[];
    const refused = (statement: string) =>
      db.raw(statement).then(
        () => false,
        (error: { code?: string }) => error.code === '42501',
      );
    const readable = [];
    for (const table of tables) if (!(await refused(`select count(*) from "${table}"`))) readable.push(table);
    t.deepEqual(readable.sort(), READABLE);
    for (const statement of [
      'select credentials from mailboxes',
      'select smtp from mailboxes',
      'select first_name from contacts',
      'select subject from sends',
      'select app_values from enrollments',
      'select output from step_runs',
      'select body_plain from direct_sends',
      'select data from domain_events',
      'select payload from outbox',
      'select name from campaigns',
      'delete from contacts',
      'delete from suppressions',
      'delete from engagement_events',
      "update contacts set email = 'x'",
      "update mailboxes set reply_to = 'x'",
      "update campaigns set tracking_domain = 'x'",
      "update tracked_links set url = 'x'",
      'set role heron_tenant',
    ])
      t.true(await refused(statement), statement);
    const sealed = await world.deps
      .db('information_schema.column_privileges')
      .where({ grantee: 'heron_tracking', data_type: 'bytea' })
      .join('information_schema.columns', function () {
        this.using(['table_schema', 'table_name', 'column_name']);
      });
    t.deepEqual(sealed, []);
  },
);

test.serial('a right that was given by hand is gone after the next migration', async (t) => {
  const login = await createTrackingLogin(world.deps.db, world.databaseUrl);
  t.teardown(() => login.drop());
  const may = async () => {
    const { rows } = await world.deps.db.raw(
      `select has_table_privilege('heron_tracking', 'audit_logs', 'select') or has_column_privilege('heron_tracking', 'mailboxes', 'credentials', 'select') as may`,
    );
    return rows[0].may as boolean;
  };
  await world.deps.db.raw('grant select on audit_logs to heron_tracking');
  await world.deps.db.raw('grant select (credentials) on mailboxes to heron_tracking');
  t.true(await may());
  await grantTrackingRole(world.deps.db);
  t.false(await may());
});
