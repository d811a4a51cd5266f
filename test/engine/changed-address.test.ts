import test from 'ava';
import { advanceEnrollment } from '../../domain/engine/enrollment/advance.ts';
import { deliverSend } from '../../domain/engine/sending/deliver.ts';
import { addSuppressions } from '../../domain/suppressions/entries.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../harness/factories.ts';
import { createFakeSmtp } from '../harness/fake-smtp.ts';
import { createWorld, type World } from '../harness/world.ts';

const MONDAY = new Date('2026-03-02T08:00:00Z');
const clock = new ManualClock(MONDAY);
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.beforeEach(() => clock.set(MONDAY));
test.after.always(() => world?.close());

/** One contact at its first email. */
async function given() {
  const { organizationId } = await world.tenant();
  await createMailbox(world.deps, organizationId, 'm@s.example.com', { smtp: { host: '127.0.0.1', port: 1 } });
  const { campaignId } = await createCampaign(world.deps, organizationId, [{ subject: 'S', body_plain: 'b' }]);
  const contactId = await createContact(world.deps.db, clock.now(), organizationId);
  const [enrollmentId] = (await enroll(world.deps, organizationId, campaignId, [contactId])) as [string];
  const smtp = createFakeSmtp();
  const ctx = world.system(organizationId);
  return {
    organizationId,
    contactId,
    smtp,
    ctx,
    /** Moves on to the email and returns its send. */
    async reserve(): Promise<string> {
      const decision = await advanceEnrollment(ctx, enrollmentId);
      if (decision.kind !== 'send' && decision.kind !== 'slot') throw new Error(`no slot: ${JSON.stringify(decision)}`);
      if (decision.kind === 'slot') clock.set(new Date(decision.at));
      return decision.sendId;
    },
    deliver: (sendId: string) => deliverSend(ctx, { smtp }, sendId),
    send: (id: string) => world.deps.db('sends').where({ id }).first(),
  };
}

test.serial(
  'an address changed after the slot was reserved is mailed, recorded, and what the event names',
  async (t) => {
    const g = await given();
    const sendId = await g.reserve();
    await world.deps.db('contacts').where({ id: g.contactId }).update({ email: 'new@lead.test' });
    await g.deliver(sendId);
    t.deepEqual(
      g.smtp.taken.map(({ to }) => to),
      [['new@lead.test']],
    );
    t.is((await g.send(sendId)).recipient, 'new@lead.test');
    const event = await world.deps
      .db('domain_events')
      .where({ organization_id: g.organizationId, type: 'campaign.email_sent' })
      .first();
    t.is(event.data.contact_email, 'new@lead.test');
  },
);

test.serial('the claim looks for suppression at the address of now', async (t) => {
  const g = await given();
  const sendId = await g.reserve();
  await world.deps.db('contacts').where({ id: g.contactId }).update({ email: 'left@lead.test' });
  await addSuppressions(g.ctx, [{ value: 'left@lead.test' }], 'asked');
  t.deepEqual(await g.deliver(sendId), { outcome: 'unsubscribed' });
  t.is(g.smtp.taken.length, 0);
});
