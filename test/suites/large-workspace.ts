import { json } from '../../db/connection.ts';
import { newId } from '../../lib/ids.ts';
import { createEvent, createPerson } from '../harness/acquisition.ts';
import { createCampaign, createContact, createMailbox, enroll, type Tenant } from '../harness/factories.ts';
import { createSend } from '../harness/inbound.ts';
import type { World } from '../harness/world.ts';
import { insert, stage, type Place } from './foreign-ids.ts';
import { LISTS } from './list-rows.ts';

/** Number of rows in each table that requests select from. */
const MANY = 3_000;
/** Number of labels, campaigns and mailboxes: the maximum number of ids in one request. */
const FEW = 100;
/** Number of segments that one request may name. Each has about as many characters as a segment may have. */
const SEGMENTS = { count: 20, conditions: 20, values: 500 };

/** Workspace with thousands of rows. */
export interface LargeWorkspace {
  tenant: Tenant;
  /** Existing ids by the kind of row. */
  ids: Readonly<Record<string, readonly string[]>>;
}

/** Creates a workspace with thousands of contacts, leads, emails, messages, deals, tasks and product events. */
export async function createLargeWorkspace(world: World): Promise<LargeWorkspace> {
  const { deps } = world;
  const { db, clock } = deps;
  const tenant = await world.tenant('Large');
  const { organizationId } = tenant;
  const place: Place = { world, tenant, parents: {} };
  const copies = (table: string, id: string, count: number, fields?: string) =>
    copyRow(world, table, id, count, fields);

  const contactId = await createContact(db, clock.now(), organizationId, {
    email: 'first@large.test',
    first_name: 'Ada',
    company: 'Company of the first',
    custom_fields: { plan: 'pro' },
  });
  const contacts = await copies('contacts', contactId, MANY, `'email', 'contact' || n || '@large.test'`);
  const labels: Record<string, string[]> = {};
  for (const registry of ['category', 'folder', 'tag']) {
    const first = await insert(place, 'labels', { registry, title: newId(), color: '#94a3b8', position: 1 });
    labels[registry] = await copies('labels', first, FEW, `'title', 'label ' || n, 'position', n + 1`);
  }
  const mailboxId = await createMailbox(deps, organizationId, 'first@ours.test');
  const mailboxes = await copies('mailboxes', mailboxId, FEW, `'email', 'mailbox' || n || '@ours.test'`);
  const campaigns: string[] = [];
  for (let n = 0; n < FEW; n += 1)
    campaigns.push((await createCampaign(deps, organizationId, [{ subject: 'Hi' }], { status: 'draft' })).campaignId);
  for (const campaignId of campaigns.slice(0, 3)) await enroll(deps, organizationId, campaignId, contacts);
  await db.raw(
    `insert into contact_categories (organization_id, contact_id, label_id)
     select :org, contact, label from unnest(cast(:contacts as uuid[])) contact, unnest(cast(:labels as uuid[])) label`,
    { org: organizationId, contacts, labels: labels.category!.slice(0, 5) },
  );
  const { id: enrollmentId } = await db('enrollments').where({ campaign_id: campaigns[0] }).first('id');
  const lead = { campaignId: campaigns[0]!, enrollmentId, contactId, mailboxId, recipient: 'first@large.test' };
  const send = await createSend(deps, organizationId, lead);
  await copies('sends', send.id, MANY, `'step_id', gen_random_uuid(), 'message_id', '<' || n || '@ours.test>'`);
  const at = await stage(place);
  const deal = await insert(place, 'crm_deals', { ...at, contact_id: contactId, name: 'Deal', currency: 'USD' });
  const task = await insert(place, 'crm_tasks', { title: 'Call', priority: 'low', type: 'Call', status: 'pending' });
  await LISTS['unibox.list']!(place);
  const message = await db('inbound_messages').where({ organization_id: organizationId }).first('id');
  const personId = await createPerson(world, organizationId, { contactId });
  const eventId = await createEvent(world, organizationId, { personId, contactId, name: 'order.paid' });
  const segment = await insert(place, 'segments', { name: newId(), conditions: json(largestConditions()) });
  const ids = {
    ...labels,
    contact: contacts,
    campaign: campaigns,
    mailbox: mailboxes,
    pipeline: [at.pipeline_id],
    stage: [at.stage_id],
    deal: await copies('crm_deals', deal, MANY),
    task: await copies('crm_tasks', task, MANY),
    message: await copies(
      'inbound_messages',
      message.id,
      MANY,
      `'uid', n + 1, 'message_id', '<copy' || n || '@lead.test>', 'thread_id', '<copy' || n || '@lead.test>'`,
    ),
    event: await copies('product_events', eventId, MANY),
    member: [tenant.userId],
    segment: await copies('segments', segment, SEGMENTS.count, `'name', 'Segment ' || n`),
  };
  await db.raw('analyze');
  return { tenant, ids };
}

/** Returns the conditions that compare the most values. */
function largestConditions(): { field: string; operator: string; values: string[] }[] {
  return Array.from({ length: SEGMENTS.conditions }, (_, n) => ({
    field: 'company',
    operator: 'contains',
    values: Array.from({ length: SEGMENTS.values }, (_value, m) => `${n} inc ${m}`),
  }));
}

/**
 * Copies a row with new ids.
 * @param fields arguments of `jsonb_build_object` for columns that differ; `n` is the number of the copy
 * @returns the ids of the copies
 */
async function copyRow(world: World, table: string, id: string, count: number, fields = ''): Promise<string[]> {
  const { db } = world.deps;
  const generated = await db('information_schema.columns')
    .where({ table_name: table, table_schema: 'public', is_generated: 'ALWAYS' })
    .pluck('column_name');
  const row = await db(table).where({ id }).first();
  const columns = Object.keys(row).filter((column) => !generated.includes(column));
  const changed = [
    `'id', overlay(overlay(md5(r.id::text || n) placing '7' from 13) placing '8' from 17)::uuid`,
    ...('number' in row ? [`'number', r.number + n`] : []),
    fields,
  ];
  const { rows } = (await db.raw(
    `insert into ${table} (${columns.join()}) select ${columns.map((column) => `copy.${column}`).join()}
     from ${table} r, generate_series(1, :count) n,
       jsonb_populate_record(r, jsonb_build_object(${changed.filter(Boolean).join()})) copy where r.id = :id returning id`,
    { id, count },
  )) as { rows: { id: string }[] };
  return rows.map((one) => one.id);
}
