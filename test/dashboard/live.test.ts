import test from 'ava';
import type { Page } from 'playwright-core';
import { startRealtime } from '../../api/servers/realtime.ts';
import { startTracking } from '../../api/servers/tracking.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { freePort } from '../../local/servers.ts';
import { startSync, type Sync } from '../../workers/sync.ts';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createDashboardWorld, createSendingTenant, type DashboardWorld } from '../harness/dashboard.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createContact, type Tenant } from '../harness/factories.ts';
import { replyTo } from '../harness/inbound.ts';
import { startMailWorld, type MailWorld, type MailWorldMailbox, type ReceivedMessage } from '../harness/mail.ts';
import { startRelay, type Relay } from '../harness/relay.ts';

/**
 * All tests of this file share one stack: dashboard, event stream over a connection that can be cut, tracking,
 * workflows, IMAP watch and mail servers.
 */
const browserTest = browserTests(test);
const OURS = 'sam@ours.test';
const MAIL_MS = 60_000;
/** Interval (ms) of the page's refetches without a stream, plus a second. */
const POLL_MS = 21_000;
const ALL_DAY = Array.from({ length: 7 }, () => [{ start: 0, end: 1440 }]);
let world: DashboardWorld;
let gateway: Awaited<ReturnType<typeof startRealtime>>;
let tracking: Awaited<ReturnType<typeof startTracking>>;
let relay: Relay;
let mail: MailWorld;
let engine: Engine;
let sync: Sync;
let tenant: Tenant;
let box: MailWorldMailbox;
let api: Awaited<ReturnType<typeof createSendingTenant>>['api'];

test.before(async () => {
  if (!findChromium()) return;
  const [streamPort, trackingPort] = [await freePort(), await freePort()];
  [relay, mail] = await Promise.all([startRelay(streamPort), startMailWorld()]);
  world = await createDashboardWorld({
    env: {
      IMAP_POLL_MS: '300',
      REALTIME_PUBLIC_URL: `http://127.0.0.1:${relay.port}`,
      TRACKING_DOMAIN: `http://127.0.0.1:${trackingPort}`,
    },
  });
  gateway = await startRealtime(world.deps, createMetrics(), { port: streamPort });
  tracking = await startTracking(world.deps, createMetrics(), { port: trackingPort });
  engine = await startEngine(world);
  ({ tenant, box, api } = await createSendingTenant(world, mail, OURS));
  sync = await startSync(world.deps, { leaseMs: 5_000, sweepMs: 100, retryMs: 100 });
});
test.after.always(async () => {
  await sync?.stop();
  await engine?.stop();
  await tracking?.close();
  await gateway?.close();
  await relay?.close();
  await mail?.stop();
  await world?.close();
});

/** Adds a lead to the campaign and waits for the email to it. */
async function emailTo(campaignId: string, email: string): Promise<ReceivedMessage> {
  const contact = await createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId, { email });
  await api('POST', `/campaigns/${campaignId}/leads`, { contact_ids: [contact] });
  return mail.waitFor(({ envelope }) => envelope.to.includes(email), MAIL_MS);
}
async function answer(message: ReceivedMessage): Promise<void> {
  const { messageId } = await message.parsed();
  box.deliver(replyTo({ messageId: messageId!, from: OURS, to: message.envelope.to[0]! }, 'Tell me more.'));
}
/** Waits until a figure of the campaign has a value. */
const shows = (page: Page, figure: string, value: number) =>
  page
    .getByRole('main')
    .getByText(figure, { exact: true })
    .locator('xpath=..')
    .getByText(String(value), { exact: true })
    .waitFor();

browserTest(
  'a campaign is watched live: sends, opens and replies come as they happen, also after the line was cut',
  async (t) => {
    const campaign = await api('POST', '/campaigns', {
      name: 'Lights',
      continuous: true,
      open_tracking: true,
      schedule_windows: ALL_DAY,
      steps: [{ subject: 'Hello', body_html: '<p>Hello there</p>' }],
    });
    await api('POST', `/campaigns/${campaign.id}/start`, {});
    const { page, context, faults } = await world.open(tenant, `/campaigns/${campaign.id}?tab=leads`, {
      locale: 'en-GB',
    });
    // The test advances the clock, so that it does not wait for the page's refetch.
    await page.clock.install();
    await page.reload();
    const [said, heard] = [[] as string[], [] as string[]];
    page.on('websocket', (socket) => {
      socket.on('framesent', ({ payload }) => said.push(String(payload)));
      socket.on('framereceived', ({ payload }) => heard.push(String(payload)));
    });
    let loads = 0;
    page.on('load', () => (loads += 1));
    await page.getByText('Live', { exact: true }).waitFor();
    await shows(page, 'Sent', 0);

    const first = await emailTo(campaign.id, 'ada@lead.test');
    await shows(page, 'Sent', 1);
    await page.getByRole('link', { name: 'ada@lead.test' }).waitFor();
    const pixel = /src="?([^"\s>]+\/t\/[^"\s>]+|http:\/\/127[^"\s>]+)"/.exec((await first.parsed()).html || '')![1]!;
    t.is(
      (await fetch(pixel, { headers: { 'user-agent': 'Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15' } })).status,
      200,
    );
    await shows(page, 'Opens', 1);
    await answer(first);
    await shows(page, 'Replies', 1);
    // The lead was finished after its only email; now it shows the reply.
    await page.getByRole('row').filter({ hasText: 'ada@lead.test' }).getByText('Replied', { exact: true }).waitFor();

    // The connection is cut; in the meantime the page polls every twenty seconds.
    relay.cut();
    await page.getByText('Updates every 20 s', { exact: true }).waitFor();
    await emailTo(campaign.id, 'eve@lead.test');
    await page.clock.fastForward(POLL_MS);
    await shows(page, 'Sent', 2);
    await page.getByRole('link', { name: 'eve@lead.test' }).waitFor();

    // The connection is back. The stream resumes after the last received event, so no event in between is lost.
    const second = await emailTo(campaign.id, 'kim@lead.test');
    said.length = heard.length = 0;
    relay.mend();
    await page.clock.fastForward(POLL_MS);
    await page.getByText('Live', { exact: true }).waitFor();
    const [subscribed] = said.map((one) => JSON.parse(one) as { type: string; after?: string });
    t.is(subscribed!.type, 'subscribe');
    t.regex(subscribed!.after ?? '', /^[0-9a-f-]{36}$/);
    await eventually(async () => heard.some((one) => one.includes('campaign.email_sent')));
    await shows(page, 'Sent', 3);
    await answer(second);
    await shows(page, 'Replies', 2);
    t.is(loads, 0, 'nothing was reloaded');
    t.deepEqual(faults, []);
    await context.close();
  },
);
