import test from 'ava';
import { createPolicy } from '../../../test/harness/approvals.ts';
import { createWritingDesk } from '../../../test/harness/direct-sends.ts';
import { createMondayWorld } from '../../../test/harness/lead.ts';
import { assertStatus } from '../../../test/harness/world.ts';
import { newId } from '../../../lib/ids.ts';

const stage = await createMondayWorld(test);

/** Creates a workspace whose mailbox has received a message with Cc recipients and a Reply-To address. */
async function openConversation() {
  const desk = await createWritingDesk(stage);
  const id = `<${newId()}@lead.test>`;
  await desk.receive(
    Buffer.from(
      [
        'From: Lea <lea@lead.test>',
        'Reply-To: Lea Office <office@lead.test>',
        `To: ${desk.email}, Tom <tom@lead.test>`,
        'Cc: ann@lead.test, bob@else.test',
        `Message-ID: ${id}`,
        'Subject: Offer',
        'Date: Mon, 02 Mar 2026 08:00:00 +0000',
        '',
        'Can you send an offer?',
      ].join('\r\n'),
    ),
  );
  return { desk, threadId: id };
}

test.serial('copies and Reply-To of a received message are shown, and an answer to all reaches them', async (t) => {
  const { desk, threadId } = await openConversation();
  const [message] = (await desk.get(`/unibox/thread?thread_id=${encodeURIComponent(threadId)}`)).body.data;
  const named = { cc: ['ann@lead.test', 'bob@else.test'], reply_to: ['office@lead.test'] };
  t.like(message, { ...named, from_addr: ['lea@lead.test'] });
  t.like((await desk.get(`/unibox/${message.id}`)).body, named);

  const one = await desk.post('/unibox/reply', { thread_id: threadId, body_plain: 'Yes' });
  assertStatus(t, one, 200);
  t.like(await desk.read(one.body.task_id), { to_emails: ['office@lead.test'], cc_emails: [] });
  const all = await desk.post('/unibox/reply', { thread_id: threadId, body_plain: 'Yes', reply_all: true });
  t.like(await desk.read(all.body.task_id), {
    to_emails: ['office@lead.test'],
    cc_emails: ['tom@lead.test', 'ann@lead.test', 'bob@else.test'],
  });
});

test.serial(
  'a key that may only reply reaches the people of the conversation, and nobody else without a person',
  async (t) => {
    const { desk, threadId } = await openConversation();
    await createPolicy(stage.world.deps, desk.tenant, { mailbox_ids: [desk.mailboxId], capabilities: ['inbox.reply'] });
    const reply = (body: object) =>
      desk.post('/unibox/reply', { thread_id: threadId, body_plain: 'Yes', ...body }, desk.tenant.apiKey);
    assertStatus(t, await reply({ reply_all: true }), 200);
    assertStatus(t, await reply({ to: ['lea@lead.test'], cc: ['tom@lead.test'] }), 200);
    for (const strangers of [{ to: ['eve@evil.test'] }, { cc: ['eve@evil.test'] }, { bcc: ['eve@evil.test'] }]) {
      const held = await reply({ ...strangers, subject: 'Something else' });
      t.like(held.body, { result: 'awaiting_approval', reasons: [{ code: 'capability_not_granted' }] });
    }
    const waiting = stage.world.deps.db('approvals').where({ organization_id: desk.tenant.organizationId });
    t.deepEqual(await waiting.pluck('action_type'), Array(3).fill('email.compose'));
  },
);
