import test from 'ava';
import type { UpdateCampaign } from '../../domain/campaigns/input.ts';
import { updateCampaign } from '../../domain/campaigns/update.ts';
import { launchDueLeads } from '../../domain/sending/enrollment/launch.ts';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import { addCampaignLeads } from '../../domain/audience/leads/add.ts';
import { DAY_MS } from '../../lib/clock.ts';
import { createContact, enroll } from '../harness/factories.ts';
import { createLead, createMondayWorld } from '../harness/lead.ts';

const stage = await createMondayWorld(test);
const { world, clock } = stage;

/** Runs launcher iterations until the launcher waits. */
async function launchAll(ctx: Ctx, campaignId: string): Promise<void> {
  for (let turns = 0; turns < 50; turns += 1) if ('report' in (await launchDueLeads(ctx, campaignId))) return;
  throw new Error('the launcher never waits');
}

test.serial('leads are launched in the order that their campaign asks for, those without a value last', async (t) => {
  const { ctx, organizationId, campaignId } = await createLead(stage, undefined, {
    campaign: { max_new_leads_per_day: 2 },
  });
  const { db } = world.deps;
  const people = [
    { last_name: '', custom_fields: { rank: 'c' } },
    { last_name: 'Delta', custom_fields: {} },
    { last_name: 'Beta', custom_fields: { rank: 'b' } },
    { last_name: 'Alpha', custom_fields: { rank: 'a' } },
    { last_name: 'Gamma', custom_fields: { rank: 'd' } },
  ];
  const contacts = await Promise.all(people.map((person) => createContact(db, clock.now(), organizationId, person)));
  const [early, late] = [contacts.slice(0, 3), contacts.slice(3)];
  await db('enrollments').where({ campaign_id: campaignId }).delete();
  await enroll(world.deps, organizationId, campaignId, early);
  const order = async (edit: UpdateCampaign): Promise<string[]> => {
    await updateCampaign(ctx, campaignId, edit);
    const found: string[] = [];
    for (let days = 0; days < 3; days += 1) {
      await launchAll(ctx, campaignId);
      const active = db('enrollments')
        .where({ campaign_id: campaignId, state: 'active' })
        .whereNotIn('contact_id', found);
      const launched = (await active.orderBy('mailbox_id').pluck('contact_id')) as string[];
      found.push(...launched.sort());
      clock.advance(DAY_MS);
    }
    // Resets the leads to their state before the launch.
    await db('sends').where({ campaign_id: campaignId }).delete();
    await db('step_runs').where({ campaign_id: campaignId }).delete();
    await db('enrollments')
      .where({ campaign_id: campaignId })
      .update({ state: 'pending', launch_after: 'epoch', mailbox_id: null, current_step_id: null });
    return found.map((id) => String(contacts.indexOf(id)));
  };
  t.deepEqual(pairs(await order({ contact_order_by: 'last_name' })), ['12', '0'], 'without a name last');
  await addCampaignLeads(ctx, campaignId, { contactIds: late, segmentIds: [] });
  t.deepEqual(pairs(await order({ contact_order_dir: 'desc' })), ['14', '23', '0'], 'who is added later has a place');
  await db('contacts').where({ id: contacts[4] }).update({ last_name: 'Aaron' });
  t.deepEqual(
    pairs(await order({ contact_order_dir: 'asc' })),
    ['34', '12', '0'],
    'an edited contact has another place',
  );
  const byRank = { contact_order_by: 'custom_field', contact_order_field: 'rank' } as const;
  t.deepEqual(pairs(await order(byRank)), ['23', '04', '1'], 'another order gives all of them another place');
});

/** Groups the leads launched on a day, whose mutual order is undefined. */
function pairs(found: readonly string[]): string[] {
  return Array.from({ length: Math.ceil(found.length / 2) }, (_, day) =>
    found
      .slice(2 * day, 2 * day + 2)
      .sort()
      .join(''),
  );
}

test.serial('a lead that was refused comes in its place of the order when its moment has come', async (t) => {
  const { ctx, organizationId, campaignId } = await createLead(stage, undefined, {
    campaign: {
      max_new_leads_per_day: 1,
      contact_order_by: 'company',
    },
  });
  const { db } = world.deps;
  const contacts = await Promise.all(
    ['Beta', 'Alpha'].map((company) => createContact(db, clock.now(), organizationId, { company })),
  );
  const [beta, alpha] = await enroll(world.deps, organizationId, campaignId, contacts);
  await db('enrollments')
    .where({ id: alpha })
    .update({ launch_after: new Date(clock.now().getTime() - 1_000) });
  await launchAll(ctx, campaignId);
  t.deepEqual(await db('enrollments').whereIn('id', [beta!, alpha!]).where({ state: 'active' }).pluck('id'), [alpha]);
});

test.serial('however many moments come at once, those who are first in the order are launched first', async (t) => {
  const { ctx, organizationId, campaignId } = await createLead(stage, undefined, {
    campaign: { max_new_leads_per_day: 2, contact_order_by: 'company' },
  });
  const { db } = world.deps;
  // Requeuing so many leads takes more than two iterations. The leads that come first in the order were requested last.
  await db.raw(
    `with people as (
       insert into contacts (id, organization_id, email, company, created_at, updated_at)
       select gen_random_uuid(), :org, 'many' || n || '@example.com', to_char(n, 'FM0000'), :now, :now from generate_series(1, 2500) n returning id, company
     )
     insert into enrollments (id, organization_id, campaign_id, contact_id, launch_after, entered_at, last_activity_at)
     select gen_random_uuid(), :org, :campaign, id, :now::timestamptz - company::int * interval '1 second', :now, :now from people`,
    { org: organizationId, campaign: campaignId, now: clock.now() },
  );
  const launched = async (): Promise<string[]> =>
    (await db('enrollments')
      .join('contacts', 'contacts.id', 'enrollments.contact_id')
      .where({ campaign_id: campaignId, state: 'active' })
      .orderBy('company')
      .pluck('company')) as string[];
  await launchAll(ctx, campaignId);
  t.deepEqual(await launched(), ['0001', '0002']);
  clock.advance(DAY_MS);
  await launchAll(ctx, campaignId);
  t.deepEqual(await launched(), ['0001', '0002', '0003', '0004']);
});
