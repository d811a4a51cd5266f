import test from 'ava';
import { readFileSync } from 'node:fs';
import { createCampaign, createMailbox } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createSentLead } from '../../../test/harness/standing-leads.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { replyText } from '../../mail/inbound/reply-text.ts';
import { parseInbound } from '../../mail/inbound/parse.ts';
import { recordInbound } from './record-inbound.ts';

const NOW = new Date('2026-11-23T09:10:00Z');
const CASES = new URL('../../mail/inbound/fixtures/cases/', import.meta.url);
const FROM = 'sam@sender.example';
const MESSAGE_ID = '<019a0000-1111-7222-8333-444455556666@sender.example>';
let world: World;

test.before(async () => {
  world = await createWorld({ clock: new ManualClock(NOW) });
});
test.after.always(() => world.close());

const [, ...rows] = readFileSync(new URL('expected.tsv', CASES), 'utf8').trimEnd().split('\n');

for (const row of rows) {
  const [file = '', shows = '', kind = '', intent = '', lead = '', suppressed = '', readable = '', sent = ''] =
    row.split('\t');

  test(`${file}: ${shows}`, async (t) => {
    const raw = readFileSync(new URL(`${file}.eml`, CASES));
    const to = sent.includes('@') ? sent : 'dana@client.example';
    const subject = sent !== '' && !sent.includes('@') ? sent : 'A question about Client';
    const scene = await createScene(to, subject);
    t.is(await recordInbound(world.system(scene.org), scene.mailbox, raw, scene.place), kind as 'reply');
    const stored = await world.deps.db('inbound_messages').where({ mailbox_id: scene.mailbox.id }).first();
    t.is(stored.intent ?? '', intent);
    const enrollment = await world.deps.db('enrollments').where({ id: scene.enrollmentId }).first();
    t.is(enrollment.hold_source ?? enrollment.state, lead);
    const listed = await world.deps.db('suppressions').where({ organization_id: scene.org }).orderBy('email');
    t.is(listed.map(({ email }) => email as string).join(' '), suppressed);
    const bounces = await world.deps.db('engagement_events').where({ send_id: scene.sendId, type: 'bounce' });
    t.is(bounces.length, kind === 'bounce' ? 1 : 0);
    const message = await parseInbound(raw);
    const files = message.files.map(({ filename }) => filename);
    const shown = [stored.from_name, stored.subject, replyText(message), ...files].join('\n');
    t.true(shown.includes(readable.replaceAll('\\n', '\n')), shown);
    t.false(`${shown}${stored.body_plain}`.includes('\ufffd'));
    t.notRegex(stored.body_plain, /^Content-(?:Type|Transfer-Encoding):/m);
  });
}

/** Creates a workspace in which Dana has been sent the first email of a campaign. */
async function createScene(to: string, subject: string) {
  const { organizationId: org } = await world.tenant();
  const id = await createMailbox(world.deps, org, FROM, {
    smtp: { host: '127.0.0.1', port: 25 },
    imap: { host: '127.0.0.1', port: 143 },
  });
  await world.deps.db('mailbox_sync').where({ mailbox_id: id }).update({ uid_validity: 1 });
  const { campaignId, stepIds } = await createCampaign(world.deps, org, [{ subject }, { subject: 'Again' }]);
  const mailbox = { id, email: FROM };
  const contact = { first_name: 'Dana', last_name: 'Field' };
  const lead = await createSentLead(world.deps, org, { campaignId, stepId: stepIds[0]!, mailbox, email: to, contact });
  await world.deps.db('sends').where({ id: lead.sendId }).update({ message_id: MESSAGE_ID, subject });
  return { ...lead, org, mailbox, place: { folder: 'INBOX', uidValidity: 1, uid: 1, receivedAt: NOW } };
}
