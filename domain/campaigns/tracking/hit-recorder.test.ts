import test from 'ava';
import { newId } from '../../../lib/ids.ts';
import { createCampaign, createMailbox } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createSentLead } from '../../../test/harness/standing-leads.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { createClickRecorder, createTicketLookup } from './clicks.ts';
import type { Hit } from './machine.ts';
import { createOpenRecorder } from './opens.ts';

const BROWSER: Hit = {
  method: 'GET',
  userAgent:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  purpose: '',
};
const GMAIL: Hit = {
  ...BROWSER,
  userAgent: 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
};
const MACHINE: Hit = { ...BROWSER, userAgent: 'Mozilla/5.0' };

const clock = new ManualClock(new Date('2026-03-02T12:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

/** Creates an email that was sent an hour ago, with two tracked links. */
async function sentEmail({ sentAt = new Date(clock.now().getTime() - 3_600_000) } = {}) {
  const { deps } = world;
  const { organizationId } = await world.tenant();
  const { campaignId, stepIds } = await createCampaign(deps, organizationId, [{ subject: 'Hi', body_plain: 'Hello' }]);
  const email = `${newId()}@ours.test`;
  const mailbox = { id: await createMailbox(deps, organizationId, email), email };
  const { sendId, contactId } = await createSentLead(deps, organizationId, {
    campaignId,
    stepId: stepIds[0]!,
    mailbox,
  });
  await deps.db('sends').where({ id: sendId }).update({ sent_at: sentAt });
  const links = [newId(), newId()] as const;
  await deps.db('tracked_links').insert(
    links.map((id, at) => ({
      id,
      organization_id: organizationId,
      send_id: sendId,
      campaign_id: campaignId,
      step_id: stepIds[0],
      url: `https://shop.example.com/${at}`,
      label: 'Shop',
      position: at + 1,
      created_at: sentAt,
    })),
  );
  return { organizationId, sendId, contactId, links };
}

type Sent = Awaited<ReturnType<typeof sentEmail>>;

const hits = ({ sendId }: Sent) => world.deps.db('engagement_events').where({ send_id: sendId }).orderBy('id');
const openEvents = ({ organizationId }: Sent) =>
  world.deps.db('domain_events').where({ organization_id: organizationId, type: 'campaign.email_opened' });

/** Returns a function that clicks a link, and one that writes the collected clicks. */
function clicker() {
  const find = createTicketLookup(world.deps);
  const clicks = createClickRecorder(world.deps);
  return {
    click: async (link: string, hit = BROWSER) => clicks.record((await find(link))!, hit),
    close: () => clicks.close(),
  };
}

test.serial('repeated opens by one program within a minute are one row that counts them', async (t) => {
  const email = await sentEmail();
  const opens = createOpenRecorder(world.deps);
  const fetches = (n: number, hit = BROWSER) =>
    Promise.all(Array.from({ length: n }, () => opens.record(email.sendId, hit)));
  await fetches(5);
  t.is((await hits(email)).length, 1, 'an open is stored before its fetch is answered');
  await fetches(2, GMAIL);
  clock.advance(60_000);
  await fetches(3);
  await opens.close();
  t.deepEqual(
    (await hits(email)).map((row) => [row.client, row.times]),
    [
      ['Chrome', 5],
      ['Gmail', 2],
      ['Chrome', 3],
    ],
  );
  t.is((await openEvents(email)).length, 3);
});

test.serial('a person who opens in the minute in which a machine did is no repetition of it', async (t) => {
  const email = await sentEmail({ sentAt: clock.now() });
  const opens = createOpenRecorder(world.deps);
  for (const seconds of [0, 30]) {
    clock.advance(seconds * 1_000);
    await opens.record(email.sendId, BROWSER);
  }
  await opens.close();
  t.deepEqual(
    (await hits(email)).map((row) => [row.machine_reason, row.times]),
    [
      ['instant', 1],
      [null, 1],
    ],
  );
  t.truthy((await world.deps.db('sends').where({ id: email.sendId }).first()).opened_at);
});

test.serial('opens of several workspaces that are written together are stored by workspace', async (t) => {
  const emails = [await sentEmail(), await sentEmail()];
  const opens = createOpenRecorder(world.deps);
  await Promise.all([...emails.map(({ sendId }) => sendId), newId()].map((sendId) => opens.record(sendId, BROWSER)));
  await opens.close();
  for (const email of emails) {
    t.deepEqual(
      (await hits(email)).map((row) => row.organization_id),
      [email.organizationId],
    );
    t.is((await openEvents(email)).length, 1);
  }
});

test.serial('repeated clicks by a machine are one row that counts them, and those of a person are rows', async (t) => {
  const email = await sentEmail();
  const { click, close } = clicker();
  for (const hit of [MACHINE, BROWSER]) for (let n = 0; n < 3; n += 1) await click(email.links[0], hit);
  await close();
  t.deepEqual(
    (await hits(email)).map((row) => [row.machine_reason, row.times]),
    [
      ['prefetch', 3],
      [null, 1],
      [null, 1],
      [null, 1],
    ],
  );
});

test.serial('links of one email that are clicked at the same moment are a burst', async (t) => {
  const [email, other] = [await sentEmail(), await sentEmail()];
  const { click, close } = clicker();
  await Promise.all([...email.links, other.links[0]].map((link) => click(link)));
  await close();
  const reasons = async (of: Sent) => (await hits(of)).map((row) => row.machine_reason);
  t.deepEqual([await reasons(email), await reasons(other)], [['burst', 'burst'], [null]]);
});

test.serial('a contact who is erased after a click is not named by the next one', async (t) => {
  const email = await sentEmail();
  const { click, close } = clicker();
  await click(email.links[0]);
  await world.deps.db('sends').where({ id: email.sendId }).update({ contact_id: null });
  await click(email.links[0]);
  await close();
  t.deepEqual(
    (await hits(email)).map((row) => row.contact_id),
    [email.contactId, null],
  );
});
