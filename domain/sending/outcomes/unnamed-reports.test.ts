import test from 'ava';
import { createCampaign, createMailbox } from '../../../test/harness/factories.ts';
import { bounceOf } from '../../../test/harness/inbound.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createSentLead } from '../../../test/harness/standing-leads.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { recordInbound } from './record-inbound.ts';

const NOW = new Date('2026-11-20T08:00:00Z');
const DAY_MS = 86_400_000;
let world: World;

test.before(async () => {
  world = await createWorld({ clock: new ManualClock(NOW) });
});
test.after.always(() => world.close());

async function createScene() {
  const { organizationId: org } = await world.tenant();
  const { deps } = world;
  const hosts = { smtp: { host: '127.0.0.1', port: 25 }, imap: { host: '127.0.0.1', port: 143 } };
  const [first, second] = await Promise.all(
    ['sam@ours.test', 'ann@ours.test'].map(async (email) => ({
      id: await createMailbox(deps, org, email, hosts),
      email,
    })),
  );
  const { campaignId, stepIds } = await createCampaign(deps, org, [{ subject: 'Hello' }]);
  const lead = await createSentLead(deps, org, { campaignId, stepId: stepIds[0]!, mailbox: first! });

  /** Returns the effects of a report: recorded bounces, the state of the lead, and warnings of the mailbox. */
  const after = async (raw: Buffer | string, receivedAt = NOW, mailbox = first!) => {
    const place = { folder: 'INBOX', uidValidity: 1, uid: 1, receivedAt };
    await recordInbound(world.system(org), mailbox, Buffer.from(raw), place);
    const bounces = await deps.db('engagement_events').where({ send_id: lead.sendId, type: 'bounce' });
    const { state } = await deps.db('enrollments').where({ id: lead.enrollmentId }).first();
    const warnings = await deps.db('mailbox_errors').where({ mailbox_id: mailbox.id });
    return {
      bounces: bounces.map(({ detail }) => detail.bounce_type as string),
      state: state as string,
      warnings: warnings.map(({ error_code: code }) => code as string),
    };
  };
  return { ...lead, org, second: second!, after };
}

/** Builds a report about an invalid address that contains nothing of the original email. */
const unnamed = (email: string) =>
  bounceOf({ messageId: '<other@elsewhere.test>', from: 'sam@ours.test', to: email }, '5.1.1').toString();

const NOTHING = { bounces: [], state: 'active', warnings: [] };

test('a report without our Message-ID about an address of this week counts as soft and is shown with the mailbox', async (t) => {
  const s = await createScene();
  t.deepEqual(await s.after(unnamed(s.email)), {
    bounces: ['soft'],
    state: 'active',
    warnings: ['report_without_email'],
  });
});

test('it counts for nothing after a week, in another mailbox, about another address, or from a person', async (t) => {
  const late = await createScene();
  t.deepEqual(await late.after(unnamed(late.email), new Date(NOW.getTime() + 8 * DAY_MS)), NOTHING);
  const elsewhere = await createScene();
  t.deepEqual(await elsewhere.after(unnamed(elsewhere.email), NOW, elsewhere.second), NOTHING);
  const other = await createScene();
  t.deepEqual(await other.after(unnamed('nobody@lead.test')), NOTHING);
  const person = await createScene();
  const written = unnamed(person.email)
    .replace('Return-Path: <>', 'Return-Path: <kim@lead.test>')
    .replace(/^From: .*$/m, 'From: Kim Lee <kim@lead.test>');
  t.deepEqual(await person.after(written), NOTHING);
});

test('a forwarding system that names our address in prose alone is about it', async (t) => {
  const s = await createScene();
  const prose = [
    'Return-Path: <>',
    'From: Mail Delivery System <MAILER-DAEMON@mx.lead.test>',
    'To: sam@ours.test',
    'Subject: Mail delivery failed: returning message to sender',
    '',
    'This message was created automatically by mail delivery software.',
    'A message that you sent could not be delivered. The following address failed:',
    '',
    '  gone@other.test',
    `    (generated from ${s.email})`,
    '    550 5.1.1 User unknown',
  ];
  t.like(await s.after(prose.join('\r\n')), { bounces: ['soft'], state: 'active' });
});

test('a notice of SES finds its email by the id that SES gave', async (t) => {
  const s = await createScene();
  await world.deps.db('sends').where({ id: s.sendId }).update({ assigned_id: '<0102-abc@eu-west-1.amazonses.com>' });
  const notice = JSON.stringify({
    notificationType: 'Bounce',
    bounce: {
      bounceType: 'Permanent',
      bounceSubType: 'General',
      bouncedRecipients: [{ emailAddress: `Lea <${s.email}>` }],
    },
    mail: { messageId: '0102-abc', sourceArn: 'arn:aws:ses:eu-west-1:1:identity/ours.test' },
  });
  const raw = `From: no-reply@sns.amazonaws.com\r\nSubject: AWS Notification Message\r\n\r\n${notice}`;
  t.deepEqual(await s.after(raw), { bounces: ['hard'], state: 'bounced', warnings: [] });
});

test('a complaint that SES reports by mail suppresses the address', async (t) => {
  const s = await createScene();
  const notice = JSON.stringify({
    Type: 'Notification',
    Message: JSON.stringify({
      notificationType: 'Complaint',
      complaint: { complainedRecipients: [{ emailAddress: s.email }], complaintFeedbackType: 'abuse' },
      mail: { messageId: '0102-def', commonHeaders: { messageId: s.original.messageId } },
    }),
  });
  const raw = `From: no-reply@sns.amazonaws.com\r\nSubject: AWS Notification Message\r\n\r\n${notice}`;
  t.like(await s.after(raw), { state: 'unsubscribed' });
  const [listed] = await world.deps.db('suppressions').where({ organization_id: s.org });
  t.like(listed, { email: s.email, source: 'complaint' });
});
