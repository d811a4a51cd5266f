import {
  decodeCursor,
  encodeCursor,
  isTimestampText,
  pageOf,
  type Page,
  type PageRequest,
} from '../../../lib/cursor.ts';
import { isUuid } from '../../../lib/ids.ts';
import { foldCase } from '../../../lib/fold-case.ts';
import { ALL_CAMPAIGNS, MILESTONES } from '../aggregates/prospects.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { likeLiteral } from '../../platform/conditions.ts';
import { cleanText } from '../../directory/contact-fields.ts';
import { ofKnownCampaign } from './cohort.ts';
import { primaryGoals } from './primary-goals.ts';

export const PROSPECT_FILTERS = ['interested', 'signed_up', 'activated', 'paid', 'silent'] as const;
export const DROP_OFFS = [
  'sent_no_reply',
  'interested_no_signup',
  'signup_no_activation',
  'activation_no_paid',
  'signup_no_paid',
] as const;

interface ProspectSearch {
  campaignId?: string | undefined;
  filter?: (typeof PROSPECT_FILTERS)[number] | undefined;
  dropoff?: (typeof DROP_OFFS)[number] | undefined;
  /** Part of the address, the name or the company. */
  q?: string | undefined;
}

/**
 * A contact who got an email, with the outcomes of its emails. If the search has a campaign, only emails of that
 * campaign are included.
 */
export interface ProspectRow {
  contact_id: string;
  email: string;
  first_name: string;
  last_name: string;
  company: string;
  sends: number;
  first_sent_at: Date;
  last_sent_at: Date;
  /**
   * Times at which each outcome first occurred in any of these emails. Only opens and clicks by people and only hard
   * bounces are included.
   */
  opened_at: Date | null;
  clicked_at: Date | null;
  replied_at: Date | null;
  positive_at: Date | null;
  bounced_at: Date | null;
  complained_at: Date | null;
  unsubscribed_at: Date | null;
  signed_up_at: Date | null;
  activated_at: Date | null;
  paid_at: Date | null;
  activity_at: Date;
}

const LIST = 'acquisition.prospects';

/** SQL condition: the person has reached the primary goal of a stage. False if no goal of that stage is primary. */
const reached = (goal: 'signup' | 'activation' | 'paid') =>
  `(:${goal}::uuid is not null and pf.goal_ids <> '{}' and :${goal}::uuid = any(pf.goal_ids))`;
const missed = (goal: 'signup' | 'activation' | 'paid') => `not ${reached(goal)}`;

const FILTERS: Record<NonNullable<ProspectSearch['filter']>, string> = {
  interested: 'pf.positive_at is not null',
  signed_up: `pf.goal_ids <> '{}' and ${reached('signup')}`,
  activated: `pf.goal_ids <> '{}' and ${reached('activation')}`,
  paid: `pf.goal_ids <> '{}' and ${reached('paid')}`,
  silent: `pf.replied_at is null and ${missed('signup')} and ${missed('activation')} and ${missed('paid')}`,
};
const DROPPED: Record<NonNullable<ProspectSearch['dropoff']>, string> = {
  sent_no_reply: 'pf.replied_at is null',
  interested_no_signup: `pf.positive_at is not null and ${missed('signup')}`,
  signup_no_activation: `pf.goal_ids <> '{}' and ${reached('signup')} and ${missed('activation')}`,
  activation_no_paid: `pf.goal_ids <> '{}' and ${reached('activation')} and ${missed('paid')}`,
  signup_no_paid: `pf.goal_ids <> '{}' and ${reached('signup')} and ${missed('paid')}`,
};

/**
 * Lists contacts with confirmed sends, newest activity first (GET /acquisition/prospects). The stages show if the
 * person has reached a goal at any time.
 * @throws AppError not_found for an unknown campaign; bad_request for a bad cursor
 */
export async function listProspects(ctx: Ctx, asked: ProspectSearch, page: PageRequest): Promise<Page<ProspectRow>> {
  const org = reader(ctx);
  const named = [asked.campaignId, asked.filter, asked.dropoff, asked.q];
  const after = decodeCursor<[string, string]>(LIST, named, page.cursor, [isTimestampText, isUuid]);
  const search = await ofKnownCampaign(org, asked);
  const goals = await primaryGoals(org);
  const text = cleanText(search.q ?? '');
  const first = (goal: string) =>
    `(select min(v.occurred_at) from people p join conversions v on v.person_id = p.id where p.contact_id = pf.contact_id and v.goal_id = :${goal}::uuid)`;
  const conditions = [
    'pf.organization_id = :org and pf.campaign_id = :campaign',
    ...(search.filter ? [FILTERS[search.filter]] : []),
    ...(search.dropoff ? [DROPPED[search.dropoff]] : []),
    ...(text
      ? [`heron_fold(k.email || ' ' || k.first_name || ' ' || k.last_name || ' ' || k.company) like :pattern`]
      : []),
    ...(after ? ['(pf.activity_at, pf.contact_id) < (:afterAt::timestamptz, :afterId::uuid)'] : []),
  ];
  const rows = await org.sql<ProspectRow & { position: string }>(
    `select pf.contact_id, k.email, k.first_name, k.last_name, k.company, pf.sends, pf.first_sent_at, pf.last_sent_at,
       ${MILESTONES.map((column) => `pf.${column}`).join(', ')},
       ${first('signup')} as signed_up_at, ${first('activation')} as activated_at, ${first('paid')} as paid_at, pf.activity_at,
       pf.activity_at::text as position
     from prospect_facts pf join contacts k on k.id = pf.contact_id
     where ${conditions.join(' and ')} and :org::uuid is not null
     order by pf.activity_at desc, pf.contact_id desc limit :limit`,
    {
      campaign: search.campaignId ?? ALL_CAMPAIGNS,
      signup: goals.signup ?? null,
      activation: goals.activation ?? null,
      paid: goals.paid ?? null,
      limit: page.limit + 1,
      ...(text ? { pattern: `%${likeLiteral(foldCase(text))}%` } : {}),
      ...(after ? { afterAt: after[0], afterId: after[1] } : {}),
    },
  );
  return pageOf(rows, page.limit, (last) => encodeCursor(LIST, named, [last.position, last.contact_id]));
}
