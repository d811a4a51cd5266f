import fc from 'fast-check';
import { json } from '../../db/connection.ts';
import { correctAttribution, restoreAttribution } from '../../domain/reporting/acquisition/corrections.ts';
import type { Dimension } from '../../domain/reporting/acquisition/dimensions.ts';
import { changeAttributionSettings } from '../../domain/reporting/acquisition/settings.ts';
import { setCampaignSpend } from '../../domain/reporting/acquisition/spend.ts';
import { deleteCampaign } from '../../domain/campaigns/remove.ts';
import { recordReply } from '../../domain/sending/outcomes/reply.ts';
import { lockSubject } from '../../domain/sending/outcomes/subject.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { updateFacts } from '../../domain/reporting/aggregates/update-facts.ts';
import { recordOpens } from '../../domain/campaigns/tracking/opens.ts';
import { newId } from '../../lib/ids.ts';
import { announcePeople, announceSend, createEvent, createGoal, createPerson, type GoalKind } from './acquisition.ts';
import { createCampaign, createContact, createLabel, createMailbox, enroll } from './factories.ts';
import { createSend } from './inbound.ts';
import type { ManualClock } from './manual-clock.ts';
import { react } from './reactions.ts';
import type { World } from './world.ts';

/**
 * Subscribers whose facts the randomized tests check, after sends, replies, events, conversions, deletions, merges,
 * corrections and spend.
 */

export const SUBSCRIBERS = [updateFacts];
const HOUR_MS = 3600_000;
const HUMAN = { method: 'GET', userAgent: 'Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 Mail', purpose: '' };
const ADDRESSES = ['ann@acme.test', 'bo@acme.test', 'cy@gmail.com', 'di@beta.test', 'ed@acme.test', 'fo@gmail.com'];
const STRANGERS = ['gus@acme.test', 'hal@gmail.com', undefined];
const KINDS: GoalKind[] = ['signup', 'activation', 'paid', 'revenue', 'custom'];
const CURRENCIES = ['EUR', 'USD', 'JPY'];

const late = fc.constantFrom(0, 0, 0, 1, 24, 30 * 24);
const contact = fc.nat(ADDRESSES.length - 1);
const someone = fc.nat(ADDRESSES.length + STRANGERS.length - 1);
const email = fc.nat(14);
export const act = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      contact,
      campaign: fc.nat(2),
      step: fc.nat(1),
      mailbox: fc.nat(1),
      look: fc.nat(5),
      late,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reply' as const), email, positive: fc.boolean() }) },
  fc.record({ kind: fc.constant('open' as const), email }),
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('event' as const),
      someone,
      goals: fc.subarray([0, 1, 2, 3, 4]),
      worth: fc.option(fc.record({ value: fc.integer({ min: 1, max: 9999 }), currency: fc.nat(2) })),
      late,
      namedBy: fc.constantFrom('contact', 'email', 'user_id', 'anonymous_id', null),
      asStranger: fc.boolean(),
    }),
  },
  fc.record({ kind: fc.constant('unconvert' as const), pick: fc.nat(20) }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('prune' as const), pick: fc.nat(5) }) },
  fc.record({ kind: fc.constant('merge' as const), someone, stranger: fc.nat(STRANGERS.length - 1) }),
  fc.record({ kind: fc.constant('forget' as const), contact }),
  fc.record({ kind: fc.constant('deleteCampaign' as const), campaign: fc.nat(2) }),
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('correct' as const), someone, email: fc.option(email) }),
  },
  fc.record({ kind: fc.constant('restore' as const), someone }),
  fc.record({ kind: fc.constant('spend' as const), campaign: fc.nat(2), amount: fc.nat(100_000) }),
  fc.record({ kind: fc.constant('settings' as const), days: fc.constantFrom(1, 30, 45), estimates: fc.boolean() }),
  fc.record({ kind: fc.constant('archive' as const), goal: fc.nat(4) }),
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), hours: fc.constantFrom(0, 1, 23, 24, 240, 720) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('react' as const) }) },
);
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

/** Data of a sent email, without its outcomes. */
export interface Sent {
  id: string;
  contact: number;
  contactId: string;
  campaignId: string;
  sentAt: Date;
  keys: Record<Dimension, (string | null)[]>;
}

/** Creates a workspace with campaigns, mailboxes, contacts, people and goals, without any activity. */
export async function openOffice(world: World, clock: ManualClock) {
  const { organizationId: org } = await world.tenant();
  const { deps } = world;
  const campaigns: { id: string; stepIds: string[]; deleted: boolean }[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { campaignId, stepIds } = await createCampaign(deps, org, [{ subject: 'One' }, { subject: 'Two' }]);
    campaigns.push({ id: campaignId, stepIds, deleted: false });
  }
  const mailboxes: string[] = [];
  for (const name of ['ada', 'bo']) mailboxes.push(await createMailbox(deps, org, `${name}-${newId()}@ours.test`));
  const contacts: { id: string; email: string; gone: boolean }[] = [];
  for (const address of ADDRESSES)
    contacts.push({
      id: await createContact(deps.db, clock.now(), org, { email: address }),
      email: address,
      gone: false,
    });
  const people: (string | null)[] = [];
  for (const { id } of contacts) people.push(await createPerson(world, org, { contactId: id }));
  for (const address of STRANGERS) people.push(await createPerson(world, org, address ? { email: address } : {}));
  const goals: string[] = [];
  for (const kind of KINDS) goals.push(await createGoal(world, org, kind));
  const labels = [await createLabel(deps, org, 'category', 'A'), await createLabel(deps, org, 'category', 'B')];
  return {
    world,
    clock,
    org,
    start: clock.now(),
    campaigns,
    mailboxes,
    contacts,
    people,
    goals,
    labels,
    sent: [] as Sent[],
    /** Cost by campaign id. */
    spent: new Map<string, number>(),
    variants: [newId(), newId()],
    segments: [newId(), newId()],
    enrollments: new Map<string, string>(),
    /** Attribution of people to contacts by events that were pruned since, by person and goal. */
    kept: new Map<string, { eventId: string; contactId: string | null; method: string }>(),
  };
}
export type Office = Awaited<ReturnType<typeof openOffice>>;

/** Applies all events. Forgets the attribution by a pruned event once no fact is based on it. */
export async function settle({ world: { deps }, org, kept }: Office): Promise<void> {
  await react(deps, SUBSCRIBERS);
  const facts = await deps.db('acquisition_facts').where({ organization_id: org });
  for (const [key, { eventId, contactId }] of kept)
    if (
      !facts.some(
        (fact) =>
          `${fact.person_id}/${fact.goal_id}` === key && fact.event_id === eventId && fact.contact_id === contactId,
      )
    )
      kept.delete(key);
}

/** Performs a random action. */
export async function perform(office: Office, one: Act): Promise<void> {
  const { world, clock, org, campaigns, contacts, people, goals } = office;
  const { deps } = world;
  const ctx = world.system(org);
  switch (one.kind) {
    case 'wait':
      return clock.advance(one.hours * HOUR_MS);
    case 'react':
      return settle(office);
    case 'send':
      return send(office, one);
    case 'reply':
    case 'open': {
      const target = office.sent[one.email];
      if (!target || campaigns.find(({ id }) => id === target.campaignId)!.deleted) return;
      if (contacts[target.contact]!.gone) return;
      if (one.kind === 'open') {
        await recordOpens(deps, [{ subject: target.id, hit: HUMAN }], 'test');
        return;
      }
      return transact(ctx, async (tx) =>
        recordReply(tx, (await lockSubject(tx, target.id))!, {
          intent: one.positive ? 'positive' : 'question',
          confidence: 1,
          unsubscribeRequest: false,
          source: 'reported',
          message: null,
        }),
      );
    }
    case 'event': {
      const personId = people[one.someone];
      if (!personId) return;
      const known = contacts[one.someone];
      await createEvent(world, org, {
        personId,
        contactId: known && !one.asStranger ? known.id : null,
        at: new Date(clock.now().getTime() - one.late * HOUR_MS),
        goalIds: one.goals.map((index) => goals[index]!),
        namedBy: one.namedBy,
        name: one.late === 1 ? 'app.closed' : 'app.opened',
        data: { plan: one.goals.length > 2 ? 'pro' : 'free' },
        ...(one.worth ? { valueMinor: one.worth.value, currency: CURRENCIES[one.worth.currency]! } : {}),
      });
      return;
    }
    case 'unconvert': {
      const rows = await deps.db('conversions').where({ organization_id: org }).orderBy('id');
      const row = rows[one.pick];
      if (!row) return;
      await deps.db('conversions').where({ id: row.id }).delete();
      return announcePeople(world, org, [row.person_id]);
    }
    case 'prune': {
      await settle(office);
      const facts = await deps.db('acquisition_facts').where({ organization_id: org }).orderBy('conversion_id');
      const eventId = facts[one.pick]?.event_id as string | undefined;
      if (!eventId) return;
      for (const fact of facts.filter((each) => each.event_id === eventId))
        office.kept.set(`${fact.person_id}/${fact.goal_id}`, {
          eventId,
          contactId: fact.contact_id,
          method: fact.match_method,
        });
      // Deletes the event without notification, as the sweep does.
      await deps.db('product_events').where({ id: eventId }).delete();
      return;
    }
    case 'merge': {
      const at = ADDRESSES.length + one.stranger;
      const [personId, otherId] = [people[one.someone], people[at]];
      if (!personId || !otherId || personId === otherId) return;
      await deps.db('product_events').where({ person_id: otherId }).update({ person_id: personId });
      await deps.db('conversions').where({ person_id: otherId }).update({ person_id: personId });
      await deps.db('people').where({ id: otherId }).delete();
      people[at] = null;
      return announcePeople(world, org, [personId]);
    }
    case 'forget': {
      const gone = contacts[one.contact]!;
      if (gone.gone) return;
      gone.gone = true;
      people[one.contact] = null;
      await deps.db('contacts').where({ id: gone.id }).delete();
      await transact(ctx, async (tx) =>
        tx.emit('contact.deleted', { entity_id: gone.id, contact_id: gone.id, contact_email: gone.email }),
      );
      return;
    }
    case 'deleteCampaign': {
      const campaign = campaigns[one.campaign]!;
      if (campaign.deleted) return;
      campaign.deleted = true;
      return deleteCampaign(ctx, campaign.id);
    }
    case 'correct': {
      const personId = people[one.someone];
      await settle(office);
      const sendId = one.email === null ? null : (office.sent[one.email]?.id ?? null);
      if (personId) await correctAttribution(ctx, personId, { sendId, reason: 'We know better' }).catch(refused);
      return;
    }
    case 'restore': {
      const personId = people[one.someone];
      if (personId) await restoreAttribution(ctx, personId, '').catch(refused);
      return;
    }
    case 'spend': {
      const campaign = campaigns[one.campaign]!;
      if (campaign.deleted) return;
      office.spent.set(campaign.id, one.amount);
      await setCampaignSpend(ctx, campaign.id, { amountMinor: one.amount, currency: 'EUR' });
      return;
    }
    case 'settings':
      await changeAttributionSettings(ctx, { windowDays: one.days, companyEstimates: one.estimates });
      return;
    case 'archive':
      await deps.db('goals').where({ id: goals[one.goal]! }).update({ archived_at: clock.now() });
  }
}

const refused = (error: { code?: string }) => {
  if (error.code !== 'bad_request' && error.code !== 'not_found') throw error;
};

async function send(office: Office, one: Extract<Act, { kind: 'send' }>): Promise<void> {
  const { world, clock, org, campaigns, contacts, mailboxes, labels, variants, segments, enrollments } = office;
  const campaign = campaigns[one.campaign]!;
  const to = contacts[one.contact]!;
  if (campaign.deleted || to.gone) return;
  const place = `${one.campaign}/${one.contact}`;
  if (enrollments.has(`${place}/${one.step}`)) return;
  const enrollmentId = enrollments.get(place) ?? (await enroll(world.deps, org, campaign.id, [to.id]))[0]!;
  enrollments.set(place, enrollmentId).set(`${place}/${one.step}`, enrollmentId);
  const sentAt = new Date(clock.now().getTime() - one.late * HOUR_MS);
  const stepId = campaign.stepIds[one.step]!;
  const pick = <T>(of: readonly T[], by: number): T | null => of[one.look % by] ?? null;
  const categories = labels.filter((_, index) => (one.look >> index) & 1);
  const dimensions = {
    offer: pick(['trial', 'demo'], 3),
    angle: pick(['pain'], 2),
    cta: pick(['book', 'reply'], 4),
    copy_hash: `hash-${one.look}`,
    audience_source: pick(['import', 'api', 'segment'], 4),
    segment_id: pick(segments, 3),
    category_ids: categories,
  };
  const variantId = pick(variants, 3);
  const { id } = await createSend(
    world.deps,
    org,
    {
      campaignId: campaign.id,
      enrollmentId,
      stepId,
      contactId: to.id,
      mailboxId: mailboxes[one.mailbox]!,
      recipient: to.email,
    },
    { sent_at: sentAt, variant_id: variantId, dimensions: json(dimensions) },
  );
  office.sent.push({
    id,
    contact: one.contact,
    contactId: to.id,
    campaignId: campaign.id,
    sentAt,
    keys: {
      campaign: [campaign.id],
      step: [stepId],
      variant: [variantId],
      offer: [dimensions.offer],
      angle: [dimensions.angle],
      cta: [dimensions.cta],
      copy: [dimensions.copy_hash],
      mailbox: [mailboxes[one.mailbox]!],
      audience_source: [dimensions.audience_source],
      segment: [dimensions.segment_id],
      category: categories.length === 0 ? [null] : categories,
      all: ['all'],
    },
  });
  await announceSend(world, org, {
    id,
    campaignId: campaign.id,
    stepId,
    contactId: to.id,
    email: to.email,
    mailboxId: mailboxes[one.mailbox]!,
    at: sentAt,
  });
}
