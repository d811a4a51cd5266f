import test from 'ava';
import { createAppConnection } from '../../domain/connect/app-connections/connections.ts';
import { DAY_MS, MINUTE_MS } from '../../lib/clock.ts';
import { eventually } from '../harness/eventually.ts';
import { startReceiver } from '../harness/receiver.ts';
import { skippingTests } from '../harness/skipped-time.ts';
import { assertStatus, call } from '../harness/world.ts';
import { startCampaign } from './campaign.ts';
import { timedMailWorld } from './timed-mail.ts';

const skipping = await skippingTests(test, timedMailWorld);

const SILENT_DAYS = 15;
/** Waits (s) between the five attempts of a call: 2 s, then doubled. */
const WAITS = [2, 4, 8, 16];

skipping(
  'a lead whose app is silent for 15 days is blocked after five attempts, waits, and goes on when it is retried',
  async (t, stage) => {
    const { world, clock, parts } = stage;
    const { db } = world.deps;
    let silent = true;
    const asked: { at: number; key: string }[] = [];
    const app = await startReceiver({
      respond({ headers }) {
        asked.push({ at: clock.now().getTime(), key: String(headers['x-service-event-id']) });
        return silent ? 'reset' : { status: 200, body: { discount: '20 %' } };
      },
    });
    t.teardown(() => app.stop());
    const action = { type: 'app_action', app_connection_id: '', path: '/offer', inputs: {}, output_key: 'offer' };
    const lead = await startCampaign(
      stage,
      [
        { kind: 'action', action },
        { subject: 'An offer', body_plain: 'We offer you {{.App.offer.discount}}.' },
      ],
      {
        link: async ([step]) => {
          const { organization_id: organizationId } = await db('campaign_steps').where({ id: step }).first();
          const { connection } = await createAppConnection(world.system(organizationId), {
            name: 'App',
            baseUrl: app.url,
          });
          await db('campaign_steps')
            .where({ id: step })
            .update({ action: JSON.stringify({ ...action, app_connection_id: connection.id }) });
        },
      },
    );
    const stepRun = () => db('step_runs').where({ step_id: lead.stepIds[0] }).first();
    await eventually(async () => asked.length > 0);
    const silentSince = clock.now().getTime();
    await stage.passUntil(silentSince + MINUTE_MS);
    const blocked = await eventually(async () => {
      const row = await stepRun();
      return row.state === 'blocked' && row;
    });
    t.like(blocked, { attempts: 5, error: { code: 'app_action_failed' } });
    t.true((await lead.enrollment()).blocked);
    t.is(asked.length, 5);
    for (const [index, seconds] of WAITS.entries())
      t.true(asked[index + 1]!.at - asked[index]!.at >= seconds * 1_000 - 500, `before attempt ${index + 2}`);

    await stage.passUntil(silentSince + SILENT_DAYS * DAY_MS);
    t.is(asked.length, 5, 'nobody asks an app again that was given up');
    t.deepEqual(parts.emailsTo(lead.email), []);
    t.like(await lead.enrollment(), { state: 'active', blocked: true });

    silent = false;
    const token = await lead.signIn();
    const retried = await call(world, 'POST', `/v1/campaigns/${lead.campaignId}/step-runs/${blocked.id}/retry`, {
      token,
    });
    assertStatus(t, retried, 200);
    await eventually(async () => (await lead.enrollment()).state === 'completed');
    t.like(await stepRun(), { state: 'completed', outcome: 'success', output: { discount: '20 %' } });
    t.is(asked.length, 6);
    t.is(new Set(asked.map(({ key }) => key)).size, 1, 'the app can tell a repetition');
    const [email, ...more] = parts.emailsTo(lead.email);
    t.deepEqual(more, []);
    t.true(email!.at.getTime() >= silentSince + SILENT_DAYS * DAY_MS);
    t.regex(String(email!.message.raw), /We offer you 20 %|We offer you 20 =25/);
  },
);
