import test from 'ava';
import { replyTo } from '../../../test/harness/inbound.ts';
import { openInbox } from '../../../test/harness/inbox-desk.ts';
import { createLead, createMondayWorld, type Lead } from '../../../test/harness/lead.ts';
import { assertStatus, call } from '../../../test/harness/world.ts';

const monday = await createMondayWorld(test);
const { world, clock } = monday;
const ADDRESS = 'lea@lead.test';
const STEPS = [
  { subject: 'S', body_plain: 'b' },
  { body_plain: 'c', wait_after: 2 },
];

/** Creates a lead who received the first of two emails and replied "not now" while waiting for the second. */
async function scene() {
  const lead = await createLead(monday, STEPS, { contact: { email: ADDRESS } });
  const sendId = await lead.reserve();
  await lead.deliver(sendId);
  await lead.advance();
  const inbox = await openInbox(world, lead.tenant);
  const { message_id: messageId } = await lead.readSend(sendId);
  const original = { messageId, from: inbox.email, to: ADDRESS };
  const replyId = await inbox.receive(replyTo(original, 'Not now, please ask me again in two weeks.'));
  const { until } = (await inbox.get(`/${replyId}`)).body.answer as { until: string };
  return { lead, until };
}

const pause = (lead: Lead, until: string | null, token = lead.tenant.sessionToken) =>
  call(world, 'POST', `/v1/campaigns/${lead.campaignId}/leads/${lead.contactId}/pause`, {
    token,
    body: { until, reason: 'asked later' },
  });

test.serial('a lead that said "not now" is paused until the day it named, and goes on then', async (t) => {
  const { lead, until } = await scene();
  t.is((await lead.readEnrollment()).state, 'replied');
  assertStatus(t, await pause(lead, until), 200);
  t.like(await lead.readEnrollment(), { state: 'active', hold_until: new Date(until), finished_at: null });
  t.like(await lead.advance(), { kind: 'hold', until: Date.parse(until) });
  clock.set(new Date(until));
  await lead.deliver(await lead.reserve());
  t.is(lead.smtp.taken.length, 2, 'the second email, and none twice');
});

test.serial('a completed campaign starts again for such a lead', async (t) => {
  const { lead, until } = await scene();
  await lead.db('campaigns').where({ id: lead.campaignId }).update({ status: 'completed' });
  assertStatus(t, await pause(lead, until), 200);
  t.is((await lead.db('campaigns').where({ id: lead.campaignId }).first()).status, 'active');
});

test.serial('only a person takes up an ended sequence, only after a reply, and only until a day', async (t) => {
  const { lead, until } = await scene();
  assertStatus(t, await pause(lead, until, lead.tenant.apiKey), 400);
  assertStatus(t, await pause(lead, null), 400);
  await lead.db('enrollments').where({ id: lead.enrollmentId }).update({ state: 'unsubscribed' });
  assertStatus(t, await pause(lead, until), 400);
});
