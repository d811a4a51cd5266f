import test from 'ava';
import { launchDueLeads } from '../../domain/sending/enrollment/launch.ts';
import { advanceEnrollment } from '../../domain/sending/enrollment/advance.ts';
import { clearHold, holdMailbox } from '../../domain/sending/control/mailbox-hold.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { removeMailbox, updateMailbox } from '../../domain/mailboxes/update.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { createCampaign, createContact, createLabel, createMailbox, enroll } from '../harness/factories.ts';
import { createWorld, type World } from '../harness/world.ts';
import { externalText } from '../../domain/platform/external-text.ts';

const clock = new ManualClock(new Date('2026-03-02T08:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

/** Creates a campaign with an explicit pool of one mailbox and one lead in progress. */
async function given() {
  const { organizationId } = await world.tenant();
  const { db } = world.deps;
  const mailboxId = await createMailbox(world.deps, organizationId, 'a@s.example.com');
  const { campaignId } = await createCampaign(world.deps, organizationId, [{ subject: 'S', body_plain: 'b' }], {
    sender_strategy: 'explicit',
  });
  await db('campaign_senders').insert({
    organization_id: organizationId,
    campaign_id: campaignId,
    mailbox_id: mailboxId,
  });
  const contactId = await createContact(db, clock.now(), organizationId);
  await enroll(world.deps, organizationId, campaignId, [contactId]);
  const ctx = world.system(organizationId);
  await launchDueLeads(ctx, campaignId);
  await db('outbox').delete();
  const signalled = async (workflow: string) => (await db('outbox').where({ workflow_id: workflow })).length > 0;
  return { ctx, db, mailboxId, campaignId, contactId, signalled };
}

for (const [name, empty] of [
  ['removal', (g: Given) => removeMailbox(g.ctx, g.mailboxId)],
  ['switching it off', (g: Given) => updateMailbox(g.ctx, g.mailboxId, { status: 'inactive' })],
] as [string, (g: Given) => Promise<unknown>][]) {
  test.serial(
    `an explicit pool that ${name} of its mailbox empties pauses the campaign, with no lead waiting`,
    async (t) => {
      const g = await given();
      await empty(g);
      t.true(await g.signalled(`campaign/${g.campaignId}`), 'the launcher is woken');
      await launchDueLeads(g.ctx, g.campaignId);
      t.is((await g.db('campaigns').where({ id: g.campaignId }).first()).status, 'paused_no_accounts');
    },
  );
}

test.serial(
  'a hold is logged in the campaigns of the mailbox, and its end wakes the leads that wait for it',
  async (t) => {
    const g = await given();
    const { ctx, mailboxId, campaignId, contactId, db } = g;
    await transact(ctx, (tx) =>
      holdMailbox(tx, mailboxId, {
        code: 'auth_failed',
        reason: externalText('no'),
        until: new Date(clock.now().getTime() + 3600_000),
      }),
    );
    t.regex((await advanceEnrollment(ctx, { campaignId, contactId })).kind, /^(wait|hold)$/);
    const logs = async () =>
      (await db('campaign_logs').where({ campaign_id: campaignId }).orderBy('id').select('event_type')).map(
        (row) => row.event_type as string,
      );
    t.deepEqual(await logs(), ['sender_held']);
    await db('outbox').delete();
    await transact(ctx, (tx) => clearHold(tx, mailboxId));
    t.true(await g.signalled(`campaign/${campaignId}`));
    t.true(await g.signalled(`enrollment/${campaignId}/${contactId}`), 'the contact does not sleep on');
    t.deepEqual(await logs(), ['sender_held', 'sender_back']);
  },
);

for (const [name, worse, better] of [
  ['a higher limit', { campaign_limit: 1 }, { campaign_limit: 2 }],
  ['a shorter gap', { min_wait_time: 36_000 }, { min_wait_time: 18_000 }],
] as const) {
  test.serial(`${name} of a mailbox wakes those who wait for it`, async (t) => {
    const { ctx, mailboxId, campaignId, db, signalled } = await given();
    await updateMailbox(ctx, mailboxId, worse);
    t.false(await signalled(`campaign/${campaignId}`), 'the other way round nobody gains');
    const organizationId = ctx.actor.organizationId!;
    await enroll(world.deps, organizationId, campaignId, [await createContact(db, clock.now(), organizationId)]);
    const turn = await launchDueLeads(ctx, campaignId);
    t.like(turn, { report: { kind: 'wait', launched: 0 } });
    await updateMailbox(ctx, mailboxId, better);
    t.true(await signalled(`campaign/${campaignId}`));
  });
}

test.serial('a mailbox that loses the tag of a pool sends nothing more for it', async (t) => {
  const { ctx, mailboxId, campaignId, db } = await given();
  const tag = await createLabel(world.deps, ctx.actor.organizationId!, 'tag');
  await updateMailbox(ctx, mailboxId, { tags: [tag] });
  await db('campaign_senders').where({ campaign_id: campaignId }).delete();
  await db('campaigns')
    .where({ id: campaignId })
    .update({ email_tags: [tag] });
  const slots = () => db('sends').where({ campaign_id: campaignId, state: 'reserved' }).pluck('mailbox_id');
  t.deepEqual(await slots(), [mailboxId]);
  await updateMailbox(ctx, mailboxId, { tags: [tag] });
  t.deepEqual(await slots(), [mailboxId], 'it loses none');
  await updateMailbox(ctx, mailboxId, { tags: [] });
  t.deepEqual(await slots(), []);
});

type Given = Awaited<ReturnType<typeof given>>;
