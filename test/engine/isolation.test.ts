import test from 'ava';
import { createAppConnection } from '../../domain/connect/app-connections/connections.ts';
import { newId } from '../../lib/ids.ts';
import { createCampaign, createContact, createMailbox, enroll, type StepSpec } from '../harness/factories.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { startReceiver, type Receiver } from '../harness/receiver.ts';
import { startScriptedSmtp, type ScriptedSmtp } from '../harness/smtp-script.ts';
import { createWorld, type World } from '../harness/world.ts';

/**
 * Few slots, and calls that hang longer than the test. Work that had to wait for a hanging call would fail the test.
 */
const ENV = {
  WORKER_ROLES: 'temporal,relay',
  WORKER_ACTIVITIES: '8',
  WORKER_MAIL_SLOTS: '8',
  WORKER_APPS_SLOTS: '8',
  APP_ACTION_TIMEOUT_MS: '120000',
  SEND_CLAIM_MS: '120000',
};
const PATIENCE_MS = 60_000;
const HANGING_LEADS = 20;

let world: World;
let engine: Engine;
let mail: MailWorld;
let hanging: Receiver;
let good: Receiver;
let deafSmtp: ScriptedSmtp;
test.before(async () => {
  world = await createWorld({ env: ENV });
  engine = await startEngine(world);
  mail = await startMailWorld();
  hanging = await startReceiver({ respond: 'hang' });
  good = await startReceiver({ respond: { status: 200, body: {} } });
  deafSmtp = await startScriptedSmtp({ move: (moment) => (moment === 'greeting' ? 'hush' : 'ok') });
});
test.after.always(async () => {
  await Promise.all([hanging?.stop(), good?.stop(), mail?.stop(), deafSmtp?.stop()]);
  await engine?.stop();
  await world?.close();
});

const EMAIL: StepSpec = { subject: 'Hello', body_plain: 'Hello' };
const callOf = (connectionId: string): StepSpec => ({
  kind: 'action',
  action: { type: 'app_action', app_connection_id: connectionId, path: '/score', inputs: {}, output_key: 'score' },
});

/** Creates a running campaign of a new tenant. */
async function campaign(
  leads: number,
  parts: { app?: Receiver; smtp?: { host: string; port: number } } = {},
): Promise<{ campaignId: string }> {
  const { organizationId } = await world.tenant();
  const email = `sam-${newId()}@sender.example.com`;
  const { smtp } = await mail.addMailbox({ email, password: 'secret' });
  await createMailbox(world.deps, organizationId, email, { smtp: parts.smtp ?? smtp });
  const app =
    parts.app && (await createAppConnection(world.system(organizationId), { name: 'App', baseUrl: parts.app.url }));
  const steps = app ? [callOf(app.connection.id), EMAIL] : [EMAIL];
  const { campaignId } = await createCampaign(world.deps, organizationId, steps);
  const contactIds: string[] = [];
  for (let n = 0; n < leads; n += 1)
    contactIds.push(await createContact(world.deps.db, world.deps.clock.now(), organizationId));
  await enroll(world.deps, organizationId, campaignId, contactIds);
  await engine.launch(organizationId, campaignId);
  return { campaignId };
}

const finished = (campaignId: string, leads: number) =>
  eventually(
    async () =>
      (await world.deps.db('enrollments').where({ campaign_id: campaignId, state: 'completed' })).length === leads,
    PATIENCE_MS,
  );

test.serial("an app that hangs holds up neither another tenant's calls nor its emails", async (t) => {
  t.timeout(PATIENCE_MS * 2);
  await campaign(HANGING_LEADS, { app: hanging });
  await eventually(async () => hanging.open > 0, PATIENCE_MS);
  const other = await campaign(5, { app: good });
  await finished(other.campaignId, 5);
  t.true(hanging.open > 0, 'it still hangs');
  t.true(hanging.open <= 4);
});

test.serial("a mail host that hangs does not hold up another tenant's emails", async (t) => {
  t.timeout(PATIENCE_MS * 2);
  await campaign(HANGING_LEADS, { smtp: deafSmtp });
  await eventually(async () => deafSmtp.connections() > 0, PATIENCE_MS);
  const other = await campaign(5);
  await finished(other.campaignId, 5);
  t.pass();
});
