import { createMetrics } from '../../lib/metrics.ts';
import { startSync } from '../../workers/sync.ts';
import { startTracking } from '../../api/servers/tracking.ts';
import { eventually } from '../harness/eventually.ts';
import { createCampaign, createContact, createMailbox, enroll, type Tenant } from '../harness/factories.ts';
import { replyTo } from '../harness/inbound.ts';
import type { MailWorldMailbox } from '../harness/mail.ts';
import { startReceiver } from '../harness/receiver.ts';
import { openRunDesk } from '../harness/run-desk.ts';
import { createEndpoint } from '../harness/webhooks.ts';
import type { Answer } from '../harness/world.ts';
import { measure, type PlayCost } from './measure.ts';
import type { Stage } from './stage.ts';

const HOUR_MS = 3_600_000;
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
const ONCE = { 'idempotency-key': 'costs' };
const SENDER = 'anna@sender.example.com';
const LEADS = ['Ada', 'Bea', 'Cem'];

/** Campaign in which every lead received the first email, and one lead the second. */
interface Campaign {
  tenant: Tenant;
  box: MailWorldMailbox;
}

/** Runs every scenario with a row in bench/costs.json, in order. */
export async function playAll(stage: Stage): Promise<Record<string, PlayCost>> {
  const { campaign, cost } = await playCampaign(stage);
  return {
    campaign: cost,
    open: await playOpen(stage),
    reply: await playReply(stage, campaign),
    webhook: await playWebhook(stage),
    run: await playRun(stage),
    import: await playImport(stage),
  };
}

/**
 * Runs a campaign: three leads receive an email. An event ends the wait of one lead, which then receives the second
 * email and finishes.
 */
async function playCampaign(stage: Stage): Promise<{ campaign: Campaign; cost: PlayCost }> {
  const { world, mail, clock } = stage;
  const tenant = await world.tenant();
  const { organizationId, sessionToken: token } = tenant;
  const box = await mail.addMailbox({ email: SENDER, password: 'secret' });
  await createMailbox(world.deps, organizationId, SENDER, { smtp: box.smtp, imap: box.imap });
  const contacts: string[] = [];
  for (const name of LEADS)
    contacts.push(
      await createContact(world.deps.db, clock.now(), organizationId, {
        email: `${name.toLowerCase()}@lead.example.org`,
        first_name: name,
      }),
    );
  const { campaignId } = await createCampaign(
    world.deps,
    organizationId,
    [
      { name: 'Opening', subject: 'Hello {{.FirstName}}', body_plain: 'Hi {{.FirstName}}, see https://example.com/a' },
      {
        kind: 'wait',
        action: {
          type: 'wait_for_event',
          wait_event_name: 'order.paid',
          timeout_minutes: null,
          on_timeout: 'continue',
        },
      },
      { name: 'Thanks', body_plain: 'Thank you, {{.FirstName}}.' },
    ],
    { status: 'paused', open_tracking: true },
  );
  await enroll(world.deps, organizationId, campaignId, contacts);
  const cost = await measure(stage, async (player) => {
    await player.ask('campaigns.start', () => stage.call('POST', `/v1/campaigns/${campaignId}/start`, { token }));
    await player.settle();
    const event = { token, body: { name: 'order.paid', contact_id: contacts[0] }, headers: ONCE };
    await player.ask('events.publish', () => stage.call('POST', '/v1/events', event));
    await player.settle();
    await player.ask('campaigns.get', () => stage.call('GET', `/v1/campaigns/${campaignId}`, { token }));
    await player.ask('campaigns.listLeads', () => stage.call('GET', `/v1/campaigns/${campaignId}/leads`, { token }));
  });
  expectMessages(stage, LEADS.length + 1);
  return { campaign: { tenant, box }, cost };
}

/** Records that a recipient opens the first email. */
async function playOpen(stage: Stage): Promise<PlayCost> {
  const { world, mail, clock } = stage;
  const html = (await mail.messages[1]!.parsed()).html;
  const path = /"https?:\/\/[^"/]+(\/o\/[^"]+)"/.exec(String(html))?.[1];
  if (!path) throw new Error('the email has no pixel');
  const tracking = await startTracking(world.deps, createMetrics(), { port: 0 });
  clock.advance(HOUR_MS);
  try {
    return await measure(stage, async (player) => {
      await player.ask('tracking.open', () => fetched(`${tracking.url}${path}`));
      await player.settle();
    });
  } finally {
    await tracking.close();
  }
}

async function fetched(url: string): Promise<Answer> {
  const response = await fetch(url, { headers: { 'user-agent': BROWSER } });
  return { status: response.status, headers: response.headers, body: undefined, text: await response.text() };
}

/** Runs a reply: the message arrives by IMAP, and the sequence ends. */
async function playReply(stage: Stage, { box }: Campaign): Promise<PlayCost> {
  const { world, mail, clock, deps } = stage;
  clock.advance(HOUR_MS);
  const [, second] = mail.messages;
  const { messageId } = await second!.parsed();
  const original = { from: SENDER, to: second!.envelope.to[0]!, messageId: messageId! };
  return measure(stage, async (player) => {
    box.deliver(
      replyTo(original as Parameters<typeof replyTo>[0], 'Yes, please call me.', { messageId: '<1@lead.test>' }),
    );
    const known = box.commands.length;
    // Only the new message is counted. The connection itself depends on the clock and is not counted.
    const sync = await startSync(deps);
    await eventually(async () => box.commands.includes('IDLE'));
    await sync.stop();
    const commands = box.commands.slice(known);
    for (const command of commands) player.wire(`IMAP ${command}`, 1);
    const read = await world.deps.db('inbound_messages').count().first();
    if (Number(read!.count) !== 1) throw new Error('the reply was not read');
    await player.settle();
  });
}

/** Delivers an event of the API to a webhook endpoint. */
async function playWebhook(stage: Stage): Promise<PlayCost> {
  const { world } = stage;
  const { organizationId, sessionToken: token } = await world.tenant();
  const receiver = await startReceiver();
  await createEndpoint(world.deps, organizationId, `${receiver.url}/hook`);
  try {
    return await measure(stage, async (player) => {
      const body = [{ email: 'dora@lead.example.org', first_name: 'Dora' }];
      await player.ask('contacts.create', () => stage.call('POST', '/v1/contacts', { token, body }));
      await player.settle();
      if (receiver.requests.length !== 1) throw new Error(`${receiver.requests.length} requests came`);
      player.received('webhook', receiver.requests);
    });
  } finally {
    await receiver.stop();
  }
}

/** Runs a campaign that an agent requests with a key whose policy allows it. Its two leads get their first email. */
async function playRun(stage: Stage): Promise<PlayCost> {
  const { mail } = stage;
  const email = 'sam@sender.example.com';
  const box = await mail.addMailbox({ email, password: 'secret' });
  const desk = await openRunDesk(stage.world, { email, servers: { smtp: box.smtp } });
  await desk.policy(desk.tenant.apiKeyId);
  const known = mail.messages.length;
  const cost = await measure(stage, async (player) => {
    const token = desk.tenant.apiKey;
    const schedule = { mode: 'auto', timezone: 'UTC' };
    const asked = { token, body: desk.body({ schedule }), headers: ONCE };
    const { body } = await player.ask('runs.create', () => stage.call('POST', '/v1/runs', asked));
    await player.settle();
    await player.ask('runs.get', () => stage.call('GET', `/v1/runs/${body.id}`, { token }));
    const { state } = await desk.row(body.id);
    if (state !== 'active') throw new Error(`the run is ${state}: ${(await desk.story(body.id)).join('; ')}`);
  });
  expectMessages(stage, known + 2);
  return cost;
}

/** Imports a file of three contacts, one of which already exists. */
async function playImport(stage: Stage): Promise<PlayCost> {
  const { world, clock } = stage;
  const { organizationId, sessionToken: token } = await world.tenant();
  await createContact(world.deps.db, clock.now(), organizationId, { email: 'ada@import.test' });
  const file = 'email,first_name\nada@import.test,Ada\nbea@import.test,Bea\ncem@import.test,Cem\n';
  return measure(stage, async (player) => {
    const body = new FormData();
    body.append('file', new Blob([file], { type: 'text/csv' }), 'people.csv');
    const { body: job } = await player.ask('contactImports.start', () =>
      stage.call('POST', '/v1/contacts/import', { token, body }),
    );
    await player.settle();
    const { body: done } = await player.ask('contactImports.get', () =>
      stage.call('GET', `/v1/contacts/imports/${job.id}`, { token }),
    );
    if (done.status !== 'completed') throw new Error(`the import is ${done.status}`);
  });
}

function expectMessages({ mail }: Stage, count: number): void {
  if (mail.messages.length !== count) throw new Error(`${mail.messages.length} of ${count} emails came`);
}
