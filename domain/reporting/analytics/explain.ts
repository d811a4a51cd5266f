import {
  decodeCursor,
  decodeIdCursor,
  encodeCursor,
  isTimestampText,
  type Page,
  type PageRequest,
} from '../../../lib/cursor.ts';
import { refuseProblems } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { message, type Message } from '../../../messages/index.ts';
import { readCountedRows } from '../aggregates/counted-rows.ts';
import { MOMENT_OF } from '../aggregates/metrics.ts';
import { wholeHours } from '../aggregates/read.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { assertMailboxAllowed } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import type { VisitPart } from '../aggregates/visits.ts';
import type { FigurePart } from './figure-part.ts';
import { storedTotal, storedVisitors } from './stored-totals.ts';

/** Parameters of a request that select a part of a report's records. */
const PARTS = ['from', 'to', 'campaignId', 'stepId', 'mailboxId', 'provider', 'key'] as const;
type Part = (typeof PARTS)[number];
/** Names in the API of the parameters that select a part of a report's records. */
const NAMED: Record<Part, string> = {
  from: 'from',
  to: 'to',
  campaignId: 'campaign_id',
  stepId: 'step_id',
  mailboxId: 'email_account_id',
  provider: 'provider',
  key: 'key',
};

/** Kinds of records that a number of a report can count. */
export const COUNTED_KINDS = [
  'email',
  'event',
  'reported_event',
  'message',
  'contact',
  'visitor',
  'warmup_email',
  'suppression',
  'dead_letter',
] as const;
type CountedKind = (typeof COUNTED_KINDS)[number];

/** A record that is counted in a number of a report. */
export interface CountedRecord {
  /** Id of the email, event, received message or other record; `kind` names its type. */
  id: string;
  kind: CountedKind;
  contact_id: string | null;
  contact_email: string | null;
  campaign_id: string | null;
  mailbox_id: string | null;
  at: Date;
}

interface Source {
  /** Parameters that the figure supports. */
  parts: readonly Part[];
  needs?: Part;
  /**
   * Returns SQL that selects kind, id, contact, address (if not the contact's), campaign, mailbox and time. If it
   * returns several queries, their rows form one list.
   */
  sql: (of: FigurePart) => string | readonly string[];
  /** Returns the stored count of the listed records. Undefined if no count is stored; the rows are then counted. */
  total?: (org: OrgScope, of: FigurePart) => Promise<number | undefined>;
  /** True if the list is in order of id, because there is no index on the time. */
  byId?: true;
}

const RANGE = ['from', 'to'] as const;
const EMAIL_PARTS = [...RANGE, 'campaignId', 'stepId', 'mailboxId', 'provider'] as const;

/** Returns the source of campaign emails, each with the time at which the metric counts it. */
const emails = (metric: keyof typeof MOMENT_OF): Source => ({
  parts: EMAIL_PARTS,
  total: (org, of) => storedTotal(org, metric, of),
  sql: (of) => {
    const provider =
      of.provider === 'removed'
        ? 'and not exists (select 1 from mailboxes m where m.id = f.mailbox_id)'
        : of.provider !== undefined
          ? 'and f.mailbox_id in (select id from mailboxes where organization_id = :org and provider = :provider)'
          : '';
    const counted = (at: string, condition = '') =>
      `select 'email' as kind, f.send_id as id, f.contact_id, null as address, f.campaign_id, f.mailbox_id, ${at} as at from send_facts f
       where f.organization_id = :org ${condition} and ${at} is not null ${inRange(at, of)} ${of.campaignId ? 'and f.campaign_id = :campaign' : ''}
         ${of.stepId ? 'and f.step_id = :step' : ''} ${of.mailboxId ? 'and f.mailbox_id = :mailbox' : ''} ${provider}`;
    // Emails without a sending time were refused in the SMTP session. They get a separate query, because each of the
    // two times has its own index.
    return metric === 'sent'
      ? [counted('f.sent_at'), counted('f.bounced_at', 'and f.sent_at is null')]
      : counted(MOMENT_OF[metric]);
  },
});

/** Returns the source of campaign emails and of reports without an email, as the deliverability report counts them. */
const emailsAndReports = (metric: 'bounced' | 'complained' | 'unsubscribed', type: string): Source => ({
  parts: RANGE,
  sql: (of) => [
    ...[emails(metric).sql(of)].flat(),
    `select 'event' as kind, e.id, e.contact_id, null as address, e.campaign_id, e.mailbox_id, e.at from engagement_events e
       where e.organization_id = :org and e.send_id is null and e.type = '${type}' ${inRange('e.at', of)}`,
  ],
});

/**
 * Returns the source of received replies with an intent. Away messages and automatic replies are selected by their
 * kind.
 */
const messages = (intent: string): Source => ({
  parts: RANGE,
  sql: (
    of,
  ) => `select 'message' as kind, m.id, m.contact_id, null as address, m.campaign_id, m.mailbox_id, m.created_at as at from inbound_messages m
       where m.organization_id = :org and m.kind in ('reply', 'out_of_office', 'automated') and coalesce(m.intent, m.kind) = '${intent}' ${inRange('m.created_at', of)}`,
});

const warmupEmails = (at: string, condition: string): Source => ({
  parts: [...RANGE, 'mailboxId'],
  sql: (
    of,
  ) => `select 'warmup_email' as kind, w.id, null::uuid as contact_id, null as address, null::uuid as campaign_id, w.mailbox_id, ${at} as at from warmup_mails w
       where w.organization_id = :org and ${at} is not null and ${condition} ${inRange(at, of)} ${of.mailboxId ? 'and w.mailbox_id = :mailbox' : ''}`,
});

/**
 * Returns the source of a campaign's contacts who opened or clicked from an origin, each with the first time. Includes
 * deleted contacts.
 */
const visitors = (part: VisitPart): Source => ({
  parts: ['campaignId', 'key'],
  needs: 'campaignId',
  total: async (org, { campaignId, key }) =>
    key === undefined ? undefined : storedVisitors(org, campaignId!, part, key),
  sql: ({
    key,
  }) => `select 'visitor' as kind, v.id, f.contact_id, null as address, :campaign::uuid as campaign_id, null::uuid as mailbox_id, v.at
       from (
         ${
           key === undefined
             ? `select visitor as id, min(first_at) as at from visit_facts where organization_id = :org and campaign_id = :campaign and part = '${part}' group by 1`
             : `select visitor as id, first_at as at from visit_facts where organization_id = :org and campaign_id = :campaign and part = '${part}' and key = :key`
         }
       ) v left join lateral (select s.contact_id from send_facts s where s.organization_id = :org and s.visitor = v.id order by s.contact_id limit 1) f on true`,
});

/** Sources of the figures in reports, by metric. */
const SOURCES = {
  sent: emails('sent'),
  bounces: emails('bounced'),
  soft_bounces: emails('bounced_softly'),
  opens: emails('opened'),
  human_opens: emails('opened_by_person'),
  machine_opens: emails('opened_by_machine'),
  clicks: emails('clicked'),
  machine_clicks: emails('clicked_by_machine'),
  replies: emails('replied'),
  positive_replies: emails('replied_positively'),
  negative_replies: emails('replied_negatively'),
  question_replies: emails('replied_with_question'),
  neutral_replies: emails('replied_neutrally'),
  complaints: emails('complained'),
  unsubscribes: emails('unsubscribed'),
  bounce_count: emailsAndReports('bounced', 'bounce'),
  complaint_count: emailsAndReports('complained', 'complaint'),
  unsubscribe_count: emailsAndReports('unsubscribed', 'unsubscribe'),
  reply_count: {
    parts: RANGE,
    sql: (
      of,
    ) => `select 'reported_event' as kind, d.id, d.contact_id, d.recipient_email as address, d.campaign_id, null::uuid as mailbox_id, d.created_at as at
       from deliverability_events d where d.organization_id = :org and d.event_type = 'reply' ${inRange('d.created_at', of)}`,
  },
  intent_positive: messages('positive'),
  intent_negative: messages('negative'),
  intent_out_of_office: messages('out_of_office'),
  intent_question: messages('question'),
  intent_neutral: messages('neutral'),
  intent_automated: messages('automated'),
  inbox_placements: warmupEmails('w.landed_at', `w.landed = 'inbox'`),
  spam_placements: warmupEmails('w.landed_at', `w.landed = 'spam'`),
  warmup_sent: warmupEmails('w.sent_at', 'true'),
  warmup_replied: {
    parts: [...RANGE, 'mailboxId'],
    sql: (
      of,
    ) => `select 'warmup_email' as kind, w.id, null::uuid as contact_id, null as address, null::uuid as campaign_id, w.mailbox_id, w.sent_at as at
       from warmup_mails w join warmup_mails a on a.id = w.answers
       where w.organization_id = :org and w.sent_at is not null ${inRange('w.sent_at', of)} ${of.mailboxId ? 'and a.mailbox_id = :mailbox' : ''}`,
  },
  suppressed_recipients: {
    byId: true,
    parts: [],
    sql: () => `select 'suppression' as kind, x.id, null::uuid as contact_id, x.email as address, null::uuid as campaign_id, null::uuid as mailbox_id, x.created_at as at
       from suppressions x where x.organization_id = :org and x.kind = 'email' and (x.expires_at is null or x.expires_at > :now)`,
  },
  dlq_pending: {
    byId: true,
    parts: [],
    // The contact of a dead letter is the email's recipient, or for a lead's workflow the lead.
    sql: () => `select 'dead_letter' as kind, d.id, coalesce(s.contact_id, e.contact_id) as contact_id, s.recipient as address,
         coalesce(s.campaign_id, e.campaign_id) as campaign_id, s.mailbox_id, d.created_at as at
       from dead_letters d
         left join sends s on s.organization_id = :org and s.id = d.task_id and d.task_type in ('uncertain_email', 'campaign_email', 'direct_email')
         left join enrollments e on e.organization_id = :org and e.id = d.task_id and d.task_type = 'enrollment_run'
       where d.organization_id = :org and d.status = 'pending'`,
  },
  total_contacts: {
    byId: true,
    parts: ['campaignId'],
    needs: 'campaignId',
    sql: () => `select 'contact' as kind, e.contact_id as id, e.contact_id, null as address, e.campaign_id, null::uuid as mailbox_id, e.entered_at as at
       from enrollments e where e.organization_id = :org and e.campaign_id = :campaign`,
  },
  emails_pending: {
    byId: true,
    parts: ['campaignId'],
    needs: 'campaignId',
    sql: () => `select 'email' as kind, s.id, s.contact_id, null as address, s.campaign_id, s.mailbox_id, s.created_at as at
       from sends s where s.organization_id = :org and s.campaign_id = :campaign and s.state in ('reserved', 'sending')`,
  },
  countries: visitors('countries'),
  clients: visitors('clients'),
  devices: visitors('devices'),
} as const satisfies Record<string, Source>;

export type AnalyticsFigure = keyof typeof SOURCES;
export const ANALYTICS_FIGURES = Object.keys(SOURCES) as [AnalyticsFigure, ...AnalyticsFigure[]];

const LIST = 'analytics.explain';

/**
 * Returns problems of a request: parameters that the figure does not support, and missing ones. Each problem names its
 * parameter as in the API.
 */
export function figureProblems(
  asked: { figure?: unknown } & Record<string, unknown>,
): [name: string, fault: Message][] {
  const figure = ANALYTICS_FIGURES.find((each) => each === asked.figure);
  if (!figure) return [];
  const { parts, needs }: Source = SOURCES[figure];
  return [
    ...PARTS.filter((part) => asked[NAMED[part]] !== undefined && !parts.includes(part)).map(
      (part): [string, Message] => [NAMED[part], message('reporting.figure_not_by', { figure })],
    ),
    ...(needs && asked[NAMED[needs]] === undefined
      ? ([[NAMED[needs], message('reporting.figure_needs', { figure })]] as [string, Message][])
      : []),
  ];
}

/**
 * Lists the records that a figure of the reports counts; `total` equals the figure (GET /analytics/explain). Ranges are
 * whole hours, as in the reports. Records of deleted campaigns, steps and mailboxes are included; an unknown id gives
 * an empty list.
 * @throws AppError bad_request naming unsupported parameters, or a bad cursor; forbidden for a mailbox that the
 * caller's key may not use
 */
export async function explainAnalytics(
  ctx: Ctx,
  figure: AnalyticsFigure,
  asked: FigurePart,
  page: PageRequest,
): Promise<Page<CountedRecord>> {
  const org = reader(ctx);
  const given = Object.fromEntries(PARTS.map((part) => [NAMED[part], asked[part]]));
  refuseProblems(
    figureProblems({ figure, ...given }).map(([name, fault]) => ({ path: `query.${name}`, message: fault })),
  );
  if (asked.mailboxId !== undefined) assertMailboxAllowed(ctx.actor, asked.mailboxId.toLowerCase());
  const named = [figure, ...PARTS.map((part) => asked[part] ?? null)];
  const source: Source = SOURCES[figure];
  const after = source.byId
    ? decodeIdCursor(LIST, named, page.cursor)
    : decodeCursor<[string, string]>(LIST, named, page.cursor, [isTimestampText, isUuid]);
  const ids = [asked.campaignId, asked.stepId, asked.mailboxId].filter((id) => id !== undefined);
  if (!ids.every(isUuid)) return { rows: [], nextCursor: null, total: 0 };
  const now = ctx.clock.now();
  const hours = wholeHours({ from: asked.from ?? now, to: asked.to ?? now });
  // Binds no values of parameters that the figure does not use, because its SQL does not contain them.
  const bindings = {
    ...hours,
    now,
    campaign: asked.campaignId ?? null,
    step: asked.stepId ?? null,
    mailbox: asked.mailboxId ?? null,
    provider: asked.provider ?? null,
    key: asked.key ?? null,
  };
  return readCountedRows<CountedRecord>(
    org,
    source.sql(asked),
    'b.kind, b.id, b.contact_id, coalesce(k.email, b.address) as contact_email, b.campaign_id, b.mailbox_id, b.at',
    bindings,
    {
      after: typeof after === 'string' ? { id: after } : after && { at: after[0], id: after[1] },
      limit: page.limit,
      newestFirst: !source.byId,
      total: await source.total?.(org, {
        ...asked,
        ...(asked.from ? { from: hours.from } : {}),
        ...(asked.to ? { to: hours.to } : {}),
      }),
      cursorFor: ({ place, id }) => encodeCursor(LIST, named, source.byId ? [id] : [place, id]),
    },
  );
}

function inRange(at: string, { from, to }: FigurePart): string {
  return `${from ? `and ${at} >= :from` : ''} ${to ? `and ${at} < :to` : ''}`;
}
