import { json } from '../../db/connection.ts';
import { recordPeople } from '../../domain/reporting/aggregates/record-people.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { newId } from '../../lib/ids.ts';
import type { World } from './world.ts';

/**
 * Kinds of goals. The functions below write goals, people and events directly to the database, and emit the domain
 * event for subscribers.
 */

export type GoalKind = 'signup' | 'activation' | 'paid' | 'revenue' | 'retention' | 'custom';

/** Creates a goal; primary by default. */
export async function createGoal(
  { deps }: World,
  organizationId: string,
  kind: GoalKind,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const id = newId();
  const now = deps.clock.now();
  const shared = { organization_id: organizationId, created_at: now };
  await deps.db('goals').insert({
    ...shared,
    id,
    name: `Goal of ${kind}`,
    kind,
    is_primary: true,
    revision: 1,
    updated_at: now,
    ...fields,
  });
  await deps
    .db('goal_revisions')
    .insert({ ...shared, goal_id: id, revision: 1, definition: json({ event_name: kind, predicates: [] }) });
  return id;
}

/** Creates a person: for a contact, with an email address, or anonymous. */
export async function createPerson(
  { deps }: World,
  organizationId: string,
  { contactId = null, email }: { contactId?: string | null; email?: string } = {},
): Promise<string> {
  const id = newId();
  const now = deps.clock.now();
  await deps.db('people').insert({ id, organization_id: organizationId, contact_id: contactId, created_at: now });
  if (email)
    await deps
      .db('person_identifiers')
      .insert({ organization_id: organizationId, kind: 'email', value: email, person_id: id, first_seen_at: now });
  return id;
}

interface EventSpec {
  personId: string;
  contactId?: string | null;
  name?: string;
  at?: Date;
  data?: Record<string, unknown>;
  namedBy?: string | null;
  /** Ids of the goals that the event reaches. */
  goalIds?: readonly string[];
  valueMinor?: number | null;
  currency?: string | null;
}

/** Creates a product event with its conversions and its domain event. */
export async function createEvent(world: World, organizationId: string, spec: EventSpec): Promise<string> {
  const { deps } = world;
  const now = deps.clock.now();
  const at = spec.at ?? now;
  const id = newId();
  await deps.db('product_events').insert({
    id,
    organization_id: organizationId,
    contact_id: spec.contactId ?? null,
    person_id: spec.personId,
    name: spec.name ?? 'app.opened',
    data: json(spec.data ?? {}),
    occurred_at: at,
    received_at: now,
    named_by: spec.namedBy ?? null,
  });
  for (const goalId of spec.goalIds ?? [])
    await deps.db('conversions').insert({
      id: newId(),
      organization_id: organizationId,
      goal_id: goalId,
      goal_revision: 1,
      event_id: id,
      person_id: spec.personId,
      occurred_at: at,
      value_minor: spec.valueMinor ?? null,
      currency: spec.valueMinor == null ? null : (spec.currency ?? 'EUR'),
      created_at: now,
    });
  if ((spec.goalIds ?? []).length > 0) await announcePeople(world, organizationId, [spec.personId]);
  return id;
}

/** Emits the event `person.changed` for these people. */
export async function announcePeople(world: World, organizationId: string, personIds: string[]): Promise<void> {
  await transact(world.system(organizationId), async (tx) => tx.emit('person.changed', { person_ids: personIds }));
}

/** Emits the event of a sent email. */
export async function announceSend(
  world: World,
  organizationId: string,
  send: {
    id: string;
    campaignId: string;
    stepId: string;
    contactId: string;
    email: string;
    mailboxId: string;
    at: Date;
  },
): Promise<void> {
  await transact(world.system(organizationId), async (tx) =>
    tx.emit('campaign.email_sent', {
      campaign_id: send.campaignId,
      step_id: send.stepId,
      contact_id: send.contactId,
      contact_email: send.email,
      email_account_id: send.mailboxId,
      task_id: send.id,
      message_id: null,
      sent_at: send.at.toISOString(),
    }),
  );
}

/** Creates a person who reached the workspace's primary signup goal. */
export async function createCustomer(world: World, organizationId: string): Promise<string> {
  const standing = await world.deps
    .db('goals')
    .where({ organization_id: organizationId, kind: 'signup', is_primary: true })
    .first('id');
  const goalId = standing?.id ?? (await createGoal(world, organizationId, 'signup'));
  const personId = await createPerson(world, organizationId, { email: `${newId()}@example.com` });
  await createEvent(world, organizationId, { personId, goalIds: [goalId] });
  await transact(world.system(organizationId), (tx) => recordPeople(tx, { personIds: [personId] }));
  return personId;
}
