import test from 'ava';
import { createCampaign, createContact, createMailbox, enroll } from '../../../test/harness/factories.ts';
import { replyTo } from '../../../test/harness/inbound.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createSentLead } from '../../../test/harness/standing-leads.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { recordInbound } from './record-inbound.ts';

const NOW = new Date('2026-11-20T08:00:00Z');
const DANA = 'dana@client.test';
const KIM = 'kim@client.test';
let world: World;

test.before(async () => {
  world = await createWorld({ clock: new ManualClock(NOW) });
});
test.after.always(() => world.close());

/** Creates a campaign in which Dana was sent an email. Kim, a colleague, is a contact of another campaign. */
async function createScene(contact: object = { first_name: 'Dana', last_name: 'Field' }, email = DANA) {
  const { organizationId: org } = await world.tenant();
  const { deps } = world;
  const hosts = { smtp: { host: '127.0.0.1', port: 25 }, imap: { host: '127.0.0.1', port: 143 } };
  const mailbox = { id: await createMailbox(deps, org, 'sam@ours.test', hosts), email: 'sam@ours.test' };
  await deps.db('mailbox_sync').where({ mailbox_id: mailbox.id }).update({ uid_validity: 1 });
  const { campaignId, stepIds } = await createCampaign(deps, org, [{ subject: 'Hello' }, { subject: 'Again' }]);
  const lead = await createSentLead(deps, org, {
    campaignId,
    stepId: stepIds[0]!,
    mailbox,
    email,
    contact: contact as Record<string, unknown>,
  });
  const kim = await createContact(deps.db, NOW, org, { email: KIM });
  const other = await createCampaign(deps, org, [{ subject: 'Other' }]);
  const [elsewhere] = await enroll(deps, org, other.campaignId, [kim]);

  /** Returns the effects of a message: suppressed addresses, and the states of Dana's and Kim's leads. */
  const after = async (raw: Buffer) => {
    await recordInbound(world.system(org), mailbox, raw, { folder: 'INBOX', uidValidity: 1, uid: 1, receivedAt: NOW });
    const listed = await deps.db('suppressions').where({ organization_id: org }).orderBy('email');
    const states = await deps.db('enrollments').whereIn('id', [lead.enrollmentId, elsewhere!]);
    const logged = await deps.db('campaign_logs').where({ campaign_id: campaignId, event_type: 'opt_out_doubtful' });
    return {
      suppressed: listed.map((row) => row.email as string),
      dana: states.find(({ id }) => id === lead.enrollmentId).state as string,
      kim: states.find(({ id }) => id === elsewhere).state as string,
      asked: logged.length,
    };
  };
  return { original: lead.original, after };
}

const KIM_ALONE = { suppressed: [KIM], dana: 'replied', kim: 'unsubscribed', asked: 1 };

test('a colleague who asks to be left out is suppressed; the recipient stops, and a person is asked', async (t) => {
  const { original, after } = await createScene();
  const raw = replyTo(original, 'Please remove me from your list.\n\nKim Lee', { from: KIM });
  t.deepEqual(await after(withName(raw, 'Kim Lee')), KIM_ALONE);
});

test('a stranger whom the email was passed on to is suppressed', async (t) => {
  const { original, after } = await createScene();
  const raw = withName(replyTo(original, 'Unsubscribe me please.', { from: 'x@other.test' }), 'X Other');
  t.like(await after(raw), { suppressed: ['x@other.test'], dana: 'replied', kim: 'pending', asked: 1 });
});

test('the recipient, writing as such, is suppressed alone', async (t) => {
  const { original, after } = await createScene();
  t.like(await after(replyTo(original, 'Please remove me from your list.')), {
    suppressed: [DANA],
    dana: 'unsubscribed',
    asked: 0,
  });
});

/** Messages from an address other than the recipient's, with signs that the recipient wrote them. */
const SAME: Readonly<Record<string, { from: string; name: string; words: string }>> = {
  'the name in From': { from: 'df@home.test', name: 'Dana Field', words: 'Please remove me from your list.' },
  'the name in the other order': {
    from: 'df@home.test',
    name: 'Field, Dana',
    words: 'Please remove me from your list.',
  },
  'the name below the words': { from: 'sales@client.test', name: 'Sales', words: 'Please unsubscribe me.\n\nDana' },
  'the address in the words': { from: KIM, name: 'Kim Lee', words: `Please remove ${DANA} from your list.` },
  'a tag in the address': { from: 'dana+news@client.test', name: 'D', words: 'Please unsubscribe me.' },
  'a subdomain of the company': { from: 'dana@mail.client.test', name: 'D', words: 'Please unsubscribe me.' },
};

for (const [what, { from, name, words }] of Object.entries(SAME))
  test(`both addresses of one person are suppressed: ${what}`, async (t) => {
    const { original, after } = await createScene();
    const found = await after(withName(replyTo(original, words, { from }), name));
    t.deepEqual(found.suppressed, [DANA, from].sort());
    t.like(found, { dana: 'unsubscribed', asked: 0 });
  });

test('an address made of the name stands for a contact without one', async (t) => {
  const { original, after } = await createScene({}, 'dfield@client.test');
  const raw = withName(replyTo(original, 'Please unsubscribe me.', { from: 'me@home.test' }), 'Dana Field');
  t.deepEqual((await after(raw)).suppressed, ['dfield@client.test', 'me@home.test']);
});

test('addresses of a desk are no person, also under the same name at another domain', async (t) => {
  const { original, after } = await createScene({}, 'info@client.test');
  const raw = withName(replyTo(original, 'Please unsubscribe me.', { from: 'info@mail.client.test' }), 'Info');
  t.like(await after(raw), { suppressed: ['info@mail.client.test'], dana: 'replied', asked: 1 });
});

test('of several authors all are suppressed', async (t) => {
  const { original, after } = await createScene();
  const raw = replyTo(original, 'Please remove us.\n\nPlease unsubscribe me.').toString();
  const both = raw.replace(/^From: .*$/m, `From: Kim Lee <${KIM}>, Dana Field <${DANA}>`);
  t.like(await after(Buffer.from(both)), { suppressed: [DANA, KIM], dana: 'unsubscribed', kim: 'unsubscribed' });
});

test('opt-out words count whatever the headers say of the message', async (t) => {
  for (const header of [
    'Precedence: junk',
    'X-Auto-Response-Suppress: All',
    'Auto-Submitted: auto-generated',
    'Auto-Submitted: auto-replied',
    'Return-Path: <>',
    'List-Id: <all.client.test>',
  ]) {
    const { original, after } = await createScene();
    const raw = `${header}\r\n${replyTo(original, 'Please unsubscribe me.').toString()}`;
    t.like(await after(Buffer.from(raw)), { suppressed: [DANA], dana: 'unsubscribed' }, header);
  }
});

function withName(raw: Buffer, name: string): Buffer {
  return Buffer.from(raw.toString().replace('From: Lea Lead <', `From: "${name}" <`));
}
