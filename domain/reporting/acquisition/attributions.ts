import type { OrgScope } from '../../../db/tenancy.ts';
import {
  decodeCursor,
  encodeCursor,
  isTimestampText,
  pageOf,
  type Page,
  type PageRequest,
} from '../../../lib/cursor.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { lastSend } from '../aggregates/acquisitions.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { countPending, readAcquisitionGoal, type AcquisitionGoal } from './attribution.ts';
import { ofKnownCampaign } from './cohort.ts';
import type { CorrectionRow } from './corrections.ts';
import {
  creditBindings,
  creditedCustomers,
  customers,
  STATUS,
  VISITED,
  type CustomerFilter,
  type MatchMethod,
  type Status,
} from './credits.ts';
import { primaryGoals, revenueGoal } from './primary-goals.ts';
import { attributionSettings } from './settings.ts';

/** A customer in a list. */
export interface CustomerRow {
  person_id: string;
  contact_id: string | null;
  contact_email: string | null;
  goal_id: string;
  acquired_at: Date;
  status: Status;
  match_method: MatchMethod;
  corrected: boolean;
  /** Id of the credited send. For an estimated customer, the id of the send to the colleague. */
  send_id: string | null;
  sent_at: Date | null;
  campaign_id: string | null;
}

/** An email with its attributes at the time of sending and the reactions until the acquisition. */
export interface CreditedSend {
  send_id: string;
  sent_at: Date;
  /** False if the email's campaign was deleted. Only the fields of this object are then available. */
  send_available: boolean;
  contact_id: string | null;
  campaign_id: string;
  campaign_name: string | null;
  step_id: string | null;
  variant_id: string | null;
  mailbox_id: string | null;
  offer: string | null;
  angle: string | null;
  cta: string | null;
  copy_hash: string | null;
  audience_source: string | null;
  segment_id: string | null;
  category_ids: string[];
  replied_at: Date | null;
  opened_at: Date | null;
  clicked_at: Date | null;
  visited_at: Date | null;
}

/** An event before an acquisition. */
interface Touch {
  kind: 'send' | 'open' | 'click' | 'reply' | 'visit';
  at: Date;
  send_id: string | null;
  campaign_id: string | null;
  event_id: string | null;
  event_name: string | null;
}

/** Explanation of the email to which a person's acquisition is credited. */
export interface Explanation {
  personId: string | null;
  contactId: string | null;
  goal: AcquisitionGoal | null;
  acquisition: {
    goal_id: string;
    conversion_id: string;
    event_id: string;
    acquired_at: Date;
    match_method: MatchMethod;
    status: Status;
    corrected: boolean;
  } | null;
  credit: CreditedSend | null;
  companyEstimate: CreditedSend | null;
  lifetimeRevenue: { currency: string; amount: number; conversions: number }[];
  pending: boolean;
  touches: Touch[];
  corrections: CorrectionRow[];
  candidates: (Pick<CreditedSend, 'send_id' | 'sent_at' | 'campaign_id' | 'step_id' | 'variant_id' | 'mailbox_id'> & {
    in_window: boolean;
  })[];
}

const MAX_TOUCHES = 100;
const MAX_CORRECTIONS = 50;
const MAX_CANDIDATES = 20;
const LIST = 'acquisition.attributions';

/**
 * Lists customers with their credits, latest first (GET /acquisition/attributions).
 * @throws AppError not_found for an unknown campaign; bad_request for a bad cursor
 */
export async function listAttributions(ctx: Ctx, asked: CustomerFilter, page: PageRequest): Promise<Page<CustomerRow>> {
  const org = reader(ctx);
  const { campaignId, status, matchMethod, corrected, withoutEngagement } = asked;
  // Leaves the range out of the cursor, because its default end is the current time and so differs on the next page.
  const named = [campaignId, status, matchMethod, corrected, withoutEngagement];
  const after = decodeCursor<[string, string]>(LIST, named, page.cursor, [isTimestampText, isUuid]);
  const filter = await ofKnownCampaign(org, asked);
  const [settings, goal] = await Promise.all([attributionSettings(org), readAcquisitionGoal(org)]);
  if (!goal) return { rows: [], nextCursor: null };
  const rows = await org.sql<CustomerRow & { position: string }>(
    `select c.person_id, c.contact_id, k.email as contact_email, c.goal_id, c.acquired_at, ${STATUS} as status, c.match_method, c.corrected,
       coalesce(f.send_id, g.send_id) as send_id, coalesce(f.sent_at, g.sent_at) as sent_at, coalesce(f.campaign_id, g.campaign_id) as campaign_id,
       c.acquired_at::text as position
     from ${creditedCustomers(filter, 'left join contacts k on k.id = c.contact_id')}
       and :org::uuid is not null ${after ? 'and (c.acquired_at, c.person_id) < (:afterAt::timestamptz, :afterId::uuid)' : ''}
     order by c.acquired_at desc, c.person_id desc limit :limit`,
    {
      ...creditBindings(settings, goal.id, filter),
      limit: page.limit + 1,
      ...(after ? { afterAt: after[0], afterId: after[1] } : {}),
    },
  );
  return pageOf(rows, page.limit, (last) => encodeCursor(LIST, named, [last.position, last.person_id]));
}

/**
 * Explains the email to which a person's acquisition is credited (GET /acquisition/attributions/:personId).
 * @throws AppError not_found
 */
export async function explainPerson(ctx: Ctx, personId: string): Promise<Explanation> {
  const org = reader(ctx);
  const person = isUuid(personId)
    ? await org.table('people').where({ id: personId }).first('id', 'contact_id')
    : undefined;
  if (!person) throw notFound('person');
  return explain(org, { personId: person.id, contactId: person.contact_id });
}

/**
 * Explains the email to which a contact's acquisition is credited (GET /acquisition/prospects/:contactId/attribution).
 * All lists are empty for a contact without events.
 * @throws AppError not_found
 */
export async function explainContact(ctx: Ctx, contactId: string): Promise<Explanation> {
  const org = reader(ctx);
  const contact = isUuid(contactId) ? await org.table('contacts').where({ id: contactId }).first('id') : undefined;
  if (!contact) throw notFound('contact');
  const person = await org.table('people').where({ contact_id: contact.id }).first('id');
  return explain(org, { personId: person?.id ?? null, contactId: contact.id });
}

async function explain(
  org: OrgScope,
  who: { personId: string | null; contactId: string | null },
): Promise<Explanation> {
  const [settings, goals, goal] = await Promise.all([
    attributionSettings(org),
    primaryGoals(org),
    readAcquisitionGoal(org),
  ]);
  const bindings = { person: who.personId, ...creditBindings(settings, goal?.id ?? '', undefined) };
  const [found] =
    goal && who.personId
      ? await org.sql<NonNullable<Explanation['acquisition']> & { send_id: string | null; estimate_id: string | null }>(
          `select c.*, ${STATUS} as status from (${customers('a.person_id = :person')}) c where :org::uuid is not null`,
          bindings,
        )
      : [];
  const acquiredAt = found?.acquired_at ?? null;
  const [credit, estimate, revenue, pending, touches, corrections, candidates] = await Promise.all([
    found?.send_id ? readSend(org, found.send_id, who.personId!, found) : null,
    found?.estimate_id ? readSend(org, found.estimate_id, null, found) : null,
    readRevenue(org, who.personId, revenueGoal(goals)),
    who.personId ? countPending(org, who.personId) : 0,
    readTouches(org, who, acquiredAt),
    who.personId
      ? org
          .table('attribution_corrections')
          .where({ person_id: who.personId })
          .orderBy('created_at', 'desc')
          .orderBy('id', 'desc')
          .limit(MAX_CORRECTIONS)
      : [],
    acquiredAt && who.contactId ? readCandidates(org, who.contactId, acquiredAt, bindings.window) : [],
  ]);
  return {
    ...who,
    goal,
    acquisition: found ?? null,
    credit,
    companyEstimate: estimate,
    lifetimeRevenue: revenue,
    pending: pending > 0,
    touches,
    corrections,
    candidates,
  };
}

async function readSend(
  org: OrgScope,
  sendId: string,
  personId: string | null,
  { acquired_at: acquiredAt, event_id: eventId }: { acquired_at: Date; event_id: string },
): Promise<CreditedSend | null> {
  const until = (column: string) => `case when f.${column} <= c.acquired_at then f.${column} end as ${column}`;
  const [row] = await org.sql<CreditedSend>(
    `select f.send_id, f.sent_at, f.contact_id, f.campaign_id, f.step_id, f.variant_id, f.mailbox_id, f.offer, f.angle, f.cta, f.copy_hash,
       f.audience_source, f.segment_id, f.category_ids, k.name as campaign_name,
       exists (select 1 from sends s where s.id = f.send_id and s.campaign_id is not null) as send_available,
       ${until('replied_at')}, ${until('opened_at')}, ${until('clicked_at')}, ${VISITED} as visited_at
     from send_facts f cross join (select :acquired::timestamptz as acquired_at, :person::uuid as person_id, :event::uuid as event_id) c
     left join campaigns k on k.id = f.campaign_id and k.organization_id = :org
     where f.organization_id = :org and f.send_id = :send`,
    { send: sendId, person: personId, acquired: acquiredAt, event: eventId },
  );
  return row ?? null;
}

async function readRevenue(
  org: OrgScope,
  personId: string | null,
  goalId: string | null,
): Promise<Explanation['lifetimeRevenue']> {
  if (!personId || !goalId) return [];
  return org.sql(
    `select currency, sum(value_minor)::float8 as amount, count(*)::int as conversions from conversions
     where organization_id = :org and person_id = :person and goal_id = :goal and value_minor is not null group by currency order by currency`,
    { person: personId, goal: goalId },
  );
}

/** Returns the events until the acquisition, or until now if there is none, latest first. */
function readTouches(
  org: OrgScope,
  who: { personId: string | null; contactId: string | null },
  acquiredAt: Date | null,
): Promise<Touch[]> {
  return org.sql<Touch>(
    `with emails as (
       select * from send_facts where organization_id = :org and contact_id = :contact and sent_at is not null
         and (:acquired::timestamptz is null or sent_at <= :acquired) order by sent_at desc, send_id desc limit ${MAX_TOUCHES}
     ), touches as (
       select t.kind, t.at, f.send_id, f.campaign_id, null::uuid as event_id, null as event_name
       from emails f cross join lateral (values ('send', f.sent_at), ('open', f.opened_at), ('click', f.clicked_at), ('reply', f.replied_at)) t(kind, at)
       where t.at is not null
       union all
       (select 'visit', e.occurred_at, null, null, e.id, e.name from product_events e
        where e.organization_id = :org and e.person_id = :person and (:acquired::timestamptz is null or e.occurred_at <= :acquired)
        order by e.occurred_at desc limit ${MAX_TOUCHES})
     )
     select * from touches where :acquired::timestamptz is null or at <= :acquired
     order by at desc, coalesce(send_id, event_id) desc, kind limit ${MAX_TOUCHES}`,
    { contact: who.contactId, person: who.personId, acquired: acquiredAt },
  );
}

function readCandidates(
  org: OrgScope,
  contactId: string,
  acquiredAt: Date,
  window: number,
): Promise<Explanation['candidates']> {
  return org.sql(
    `select f.send_id, f.sent_at, f.campaign_id, f.step_id, f.variant_id, f.mailbox_id,
       f.sent_at > :acquired::timestamptz - make_interval(secs => :window) as in_window
     from (${lastSend(':contact::uuid', ':acquired::timestamptz').replace('limit 1', `limit ${MAX_CANDIDATES}`)}) s
     join send_facts f on f.send_id = s.send_id where f.organization_id = :org order by f.sent_at desc, f.send_id desc`,
    { contact: contactId, acquired: acquiredAt, window },
  );
}
