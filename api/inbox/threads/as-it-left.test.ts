import test from 'ava';
import { createLead, createMondayWorld, type Lead } from '../../../test/harness/lead.ts';
import { createContact, createSession, enroll } from '../../../test/harness/factories.ts';
import { createSend, replyTo, storeSentContent } from '../../../test/harness/inbound.ts';
import { assertStatus, call } from '../../../test/harness/world.ts';
import { expireSentContents } from '../../../domain/inbox/threads/retention.ts';
import { deleteUnusedCopies } from '../../../domain/sending/control/sent-content.ts';
import { recordInbound } from '../../../domain/sending/outcomes/record-inbound.ts';
import { DAY_MS } from '../../../lib/clock.ts';

const stage = await createMondayWorld(test);
const { world, clock } = stage;

const LINK = 'https://acme.example/offer';
const STEP = {
  subject: 'A question, {{.FirstName}}',
  body_plain: `Hi {{.FirstName}}, {I saw|we saw} {{.Company}}.\n\nSee ${LINK}`,
  body_html: `<p>Hi {{.FirstName}}, {I saw|we saw} {{.Company}}.</p><p><a href="${LINK}">See</a></p>`,
};
const TRACKED = { open_tracking: true, link_tracking: true, unsubscribe_mode: 'link' };

async function request({ tenant, organizationId }: Lead, method: string, path: string, body?: unknown) {
  const token = await createSession(world.deps, tenant.userId, organizationId);
  return call(world, method, `/v1${path}`, { token, ...(body === undefined ? {} : { body }) });
}

async function sendOne() {
  const contact = { first_name: 'Lea', company: 'Steel & Sons' };
  const lead = await createLead(stage, [STEP], { campaign: TRACKED, contact });
  const sendId = await lead.reserve();
  await lead.deliver(sendId);
  const { message_id: threadId } = await lead.readSend(sendId);
  const thread = async () =>
    (await request(lead, 'GET', `/unibox/thread?thread_id=${encodeURIComponent(threadId)}`)).body.data[0];
  return { lead, sendId, thread };
}

test.serial(
  'a sent email shows as it left, without tracking, whatever its step, contact and mailbox say by now',
  async (t) => {
    const { lead, sendId, thread } = await sendOne();
    const raw = lead.smtp.taken[0]!.raw.replaceAll('=\r\n', '');
    t.false(raw.includes(`href="${LINK}"`), 'it left with a tracked link');
    const { email, name } = await world.deps.db('mailboxes').where({ id: lead.mailboxId }).first();
    await world.deps
      .db('campaign_steps')
      .where({ campaign_id: lead.campaignId })
      .update({ subject: 'X', body_plain: 'Y', body_html: 'Z' });
    await world.deps.db('contacts').where({ id: lead.contactId }).update({ first_name: 'Tom' });
    await world.deps
      .db('mailboxes')
      .where({ id: lead.mailboxId })
      .update({ name: 'Other', send_as_email: 'other@ours.test' });

    const message = await thread();
    t.like(message, { direction: 'sent', content_kept: true, subject: 'A question, Lea', from_addr: [email] });
    t.true(message.body_html.includes(`href="${LINK}"`));
    t.regex(message.body_html, /Hi Lea, (I|we) saw Steel &amp; Sons/);
    t.regex(message.body_plain, /Hi Lea, (I|we) saw Steel & Sons/);
    t.false(/<img/.test(message.body_html), 'no pixel');
    const tracking = world.deps.config.TRACKING_DOMAIN;
    t.false(`${message.body_html} ${message.body_plain}`.includes(tracking), 'no link that opts the recipient out');

    const { body } = await request(lead, 'GET', `/unibox/${sendId}`);
    t.like(body, {
      direction: 'sent',
      subject: message.subject,
      body_html: message.body_html,
      from: [email],
      from_name: name,
    });
  },
);

test.serial(
  'erasing the person erases what was sent to them; a workspace may keep it for some days only',
  async (t) => {
    const erased = await sendOne();
    const kept = (id: string) => world.deps.db('sent_contents').where({ send_id: id }).first();
    t.truthy(await kept(erased.sendId));
    assertStatus(t, await request(erased.lead, 'DELETE', `/contacts/${erased.lead.contactId}`), 204);
    t.is(await kept(erased.sendId), undefined);

    const [short, long] = [await sendOne(), await sendOne()];
    assertStatus(
      t,
      await request(short.lead, 'PATCH', '/outreach/settings', { settings: { inbox: { keep_sent_days: 30 } } }),
      204,
    );
    t.is(await expireSentContents(world.deps), 0);
    clock.advance(31 * DAY_MS);
    t.is(await expireSentContents(world.deps), 2, 'its content, and the text that only this one was made from');
    t.is(await kept(short.sendId), undefined);
    t.truthy(await kept(long.sendId), 'as long as its conversation');
  },
);

test.serial(
  'the content of an email costs less than 1 KB in the median, as its step version is stored once',
  async (t) => {
    const words =
      'We help teams that ship heavy parts to plan their routes, and cut the empty miles between two orders. ';
    const text = `Hi {{.FirstName}},\n\n${words.repeat(12)}\n\nWould {{.Company}} like to see it?`;
    const html = `<p>Hi {{.FirstName}},</p>${`<p style="margin:0 0 12px">${words}</p>`.repeat(12)}<p>Would {{.Company}} like it?</p>`;
    const sizes: number[] = [];
    for (let n = 0; n < 7; n += 1) {
      const contact = { first_name: `Name${n}`, company: `Company ${n} and Partners` };
      const lead = await createLead(stage, [{ ...STEP, body_plain: text, body_html: html }], {
        campaign: TRACKED,
        contact,
      });
      const sendId = await lead.reserve();
      await lead.deliver(sendId);
      const { rows } = await world.deps.db.raw(
        'select pg_column_size(e.*) as bytes from sent_contents e where send_id = ?',
        [sendId],
      );
      sizes.push(rows[0].bytes);
      clock.set(new Date('2026-03-02T08:00:00Z'));
    }
    const median = sizes.sort((a, b) => a - b)[3]!;
    t.log(`${median} bytes in the median, of ${text.length + html.length} characters`);
    t.true(median < 1024);
  },
);

const copiesOf = ({ organizationId, db }: Lead) =>
  db('sent_copies').where({ organization_id: organizationId }).pluck('name');
const another = async (lead: Lead) => {
  const contactId = await createContact(world.deps.db, clock.now(), lead.organizationId, { first_name: 'Bea' });
  const [enrollmentId] = await enroll(world.deps, lead.organizationId, lead.campaignId, [contactId]);
  const fields = { campaignId: lead.campaignId, stepId: lead.stepIds[0]!, contactId, mailboxId: lead.mailboxId };
  const { id } = await createSend(
    world.deps,
    lead.organizationId,
    { ...fields, enrollmentId: enrollmentId!, recipient: 'bea@lead.test' },
    { state: 'reserved', message_id: null, sent_at: null },
  );
  await world.deps.db('enrollments').where({ id: enrollmentId }).update({ state: 'active' });
  return { id, contactId };
};

test.serial(
  'a text that emails share is deleted once no kept email is made from it, and stored again for the next',
  async (t) => {
    const { lead, sendId } = await sendOne();
    const [name] = await copiesOf(lead);
    t.truthy(name);
    t.is(await deleteUnusedCopies(world.deps), 0, 'its email is kept');
    await world.deps.db('sent_contents').where({ send_id: sendId }).delete();
    t.is(await deleteUnusedCopies(world.deps), 1);
    t.deepEqual(await copiesOf(lead), []);
    // The process remembers that it has stored this text. It must store the text again for the next email.
    const next = await another(lead);
    t.deepEqual(await lead.deliver(next.id), { outcome: 'sent' });
    t.deepEqual(await copiesOf(lead), [name]);
    t.is((await request(lead, 'GET', `/unibox/${next.id}`)).body.subject, 'A question, Bea');
    t.is((await lead.readSend(next.id)).attempts, 1);
  },
);

test.serial('a text with which an email is being claimed is not deleted', async (t) => {
  const { lead, sendId } = await sendOne();
  await world.deps.db('sent_contents').where({ send_id: sendId }).delete();
  const next = await another(lead);
  const claim = await world.deps.db.transaction();
  t.teardown(() => claim.rollback());
  const [name] = await copiesOf(lead);
  await claim('sent_copies').where({ organization_id: lead.organizationId, name }).forKeyShare().first();
  t.is(await deleteUnusedCopies(world.deps), 0, 'skipped, and not waited for');
  t.deepEqual(await lead.deliver(next.id), { outcome: 'sent' });
  await claim.rollback();
  t.is(await deleteUnusedCopies(world.deps), 0, 'the claim has used it');
  t.is((await request(lead, 'GET', `/unibox/${next.id}`)).body.subject, 'A question, Bea');
});

test.serial('erasing a person deletes the text that was for them alone, and keeps one that others got', async (t) => {
  const { lead } = await sendOne();
  const next = await another(lead);
  await lead.deliver(next.id);
  t.is((await copiesOf(lead)).length, 1);
  assertStatus(t, await request(lead, 'DELETE', `/contacts/${lead.contactId}`), 204);
  t.is((await copiesOf(lead)).length, 1, 'the other one got it too');
  assertStatus(t, await request(lead, 'DELETE', `/contacts/${next.contactId}`), 204);
  t.deepEqual(await copiesOf(lead), []);
});

test.serial('an email whose content is not kept any more shows without text, and says so', async (t) => {
  const { sendId, thread } = await sendOne();
  await world.deps.db('sent_contents').where({ send_id: sendId }).delete();
  t.like(await thread(), { content_kept: false, body_plain: '', subject: 'A question, Lea' });
});

test.serial('a reply is compared with the email as it left, after its step was edited', async (t) => {
  const { lead, sendId } = await sendOne();
  const { message_id: messageId, recipient } = await lead.readSend(sendId);
  const quoted = 'Hi Lea, I saw Steel & Sons.\n\nIf you would rather not hear from me again, please unsubscribe.';
  const written = { subject: 'A question, Lea', text: quoted };
  await world.deps.db('sent_contents').where({ send_id: sendId }).delete();
  await storeSentContent(
    world.deps,
    lead.organizationId,
    { id: sendId, from: 'm@s.example.com', to: recipient },
    written,
  );
  await world.deps.db('campaign_steps').where({ campaign_id: lead.campaignId }).update({ body_plain: 'Other words' });
  const raw = replyTo({ from: 'm@s.example.com', to: recipient, messageId }, `Yes, call me.\n\n${quoted}`);
  const place = { folder: 'INBOX', uidValidity: 1, uid: 1, receivedAt: clock.now() };
  t.is(await recordInbound(lead.ctx, { id: lead.mailboxId, email: 'm@s.example.com' }, raw, place), 'reply');
  t.like(await world.deps.db('inbound_messages').where({ mailbox_id: lead.mailboxId }).first(), { intent: 'positive' });
  t.like(await world.deps.db('contacts').where({ id: lead.contactId }).first(), { subscribed: true });
});
