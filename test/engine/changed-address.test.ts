import test from 'ava';
import { addSuppressions } from '../../domain/audience/suppressions/entries.ts';
import { createLead, createMondayWorld } from '../harness/lead.ts';

const stage = await createMondayWorld(test);
const { db } = stage.world.deps;

test.serial(
  'an address changed after the slot was reserved is mailed, recorded, and what the event names',
  async (t) => {
    const lead = await createLead(stage);
    const sendId = await lead.reserve();
    await db('contacts').where({ id: lead.contactId }).update({ email: 'new@lead.test' });
    await lead.deliver(sendId);
    t.deepEqual(
      lead.smtp.taken.map(({ to }) => to),
      [['new@lead.test']],
    );
    t.is((await lead.readSend(sendId)).recipient, 'new@lead.test');
    const event = await db('domain_events')
      .where({ organization_id: lead.organizationId, type: 'campaign.email_sent' })
      .first();
    t.is(event.data.contact_email, 'new@lead.test');
  },
);

test.serial('the claim looks for suppression at the address of now', async (t) => {
  const lead = await createLead(stage);
  const sendId = await lead.reserve();
  await db('contacts').where({ id: lead.contactId }).update({ email: 'left@lead.test' });
  await addSuppressions(lead.ctx, [{ value: 'left@lead.test' }], 'asked');
  t.deepEqual(await lead.deliver(sendId), { outcome: 'unsubscribed' });
  t.is(lead.smtp.taken.length, 0);
});

test.serial('the claim looks at the verdict about the address of now', async (t) => {
  const lead = await createLead(stage);
  const sendId = await lead.reserve();
  await db('contacts').where({ id: lead.contactId }).update({ verification_status: 'invalid' });
  t.deepEqual(await lead.deliver(sendId), { outcome: 'undeliverable' });
  t.like(await lead.advance(), { kind: 'done', outcome: 'undeliverable' });
  t.is(lead.smtp.taken.length, 0);
});
