/**
 * Counted metrics. Those before `opens` count each email once, at the first occurrence. `opens` and the metrics after
 * it count every open and click. An email that the server refused in the SMTP session is counted as sent and as
 * bounced.
 */
export const METRICS = [
  'sent',
  'bounced',
  'bounced_softly',
  'opened',
  'opened_by_person',
  'opened_by_machine',
  'clicked',
  'clicked_by_machine',
  'replied',
  'replied_positively',
  'replied_negatively',
  'replied_with_question',
  'replied_neutrally',
  'complained',
  'unsubscribed',
  'opens',
  'machine_opens',
  'clicks',
  'machine_clicks',
] as const;

type Metric = (typeof METRICS)[number];

/** Counts by metric. */
export type Counts = Record<Metric, number>;

/** Returns the sums of several counts, by metric. */
export function sumCounts(rows: readonly Counts[]): Counts {
  return Object.fromEntries(
    METRICS.map((metric) => [metric, rows.reduce((sum, row) => sum + row[metric], 0)]),
  ) as Counts;
}

/** SQL for the sums of all counts as a list of columns. */
export const SUMMED = METRICS.map((metric) => `coalesce(sum(${metric}), 0)::int as ${metric}`).join(', ');

/**
 * SQL for the time at which an email is counted in each metric, or null; `f` is its row of `send_facts`. `opened` is
 * the time of the first open by a person or a machine. `opened_by_machine` and `clicked_by_machine` are set only while
 * no person has opened or clicked, so the difference is the number of opens by people. `bounced_softly` is set only
 * without a hard bounce. An email with replies of several intents is counted once for each.
 */
export const MOMENT_OF = {
  sent: 'coalesce(f.sent_at, f.bounced_at)',
  bounced: 'f.bounced_at',
  bounced_softly: 'case when f.bounced_at is null then f.soft_bounced_at end',
  opened: 'least(f.opened_at, f.machine_opened_at)',
  opened_by_person: 'f.opened_at',
  opened_by_machine: 'case when f.opened_at is null then f.machine_opened_at end',
  clicked: 'f.clicked_at',
  clicked_by_machine: 'case when f.clicked_at is null then f.machine_clicked_at end',
  replied: 'f.replied_at',
  replied_positively: 'f.positive_at',
  replied_negatively: 'f.negative_at',
  replied_with_question: 'f.question_at',
  replied_neutrally: 'f.neutral_at',
  complained: 'f.complained_at',
  unsubscribed: 'f.unsubscribed_at',
} as const satisfies Partial<Record<Metric, string>>;

/** SQL that selects rows of metric, hour (UTC) and count for an email `f`. */
export const MOMENTS = `select v.metric, date_trunc('hour', v.at, 'UTC') as hour, 1 as count
     from (values ${Object.entries(MOMENT_OF)
       .map(([metric, at]) => `('${metric}', ${at})`)
       .join(', ')}
     ) as v(metric, at) where v.at is not null
     union all
     select h.metric, h.hour, h.count from jsonb_to_recordset(f.hits) as h(metric text, hour timestamptz, count int)`;

/**
 * Columns of `send_facts` that are read from the email again at each update. The other columns are fixed at the time of
 * sending.
 */
export const MEASURES = [
  'sent_at',
  'bounced_at',
  'soft_bounced_at',
  'opened_at',
  'machine_opened_at',
  'clicked_at',
  'machine_clicked_at',
  'replied_at',
  'positive_at',
  'negative_at',
  'question_at',
  'neutral_at',
  'complained_at',
  'unsubscribed_at',
  'hits',
] as const;

/**
 * Columns of `send_facts` with the email's attributes at the time of sending. Copied from its row, which may be deleted
 * later, and never changed.
 */
export const DIMENSIONS = [
  ['offer', `m.dimensions ->> 'offer'`],
  ['angle', `m.dimensions ->> 'angle'`],
  ['cta', `m.dimensions ->> 'cta'`],
  ['copy_hash', `m.dimensions ->> 'copy_hash'`],
  ['audience_source', `m.dimensions ->> 'audience_source'`],
  ['segment_id', `(m.dimensions ->> 'segment_id')::uuid`],
  ['category_ids', `array(select jsonb_array_elements_text(coalesce(m.dimensions -> 'category_ids', '[]'))::uuid)`],
] as const;

/**
 * SQL for the measures of the emails in `wanted (id)`, from the emails and their engagement events. A click that may
 * still be recognized as a machine's is not counted yet.
 */
export const MEASURED = `select s.id as send_id, s.contact_id, s.campaign_id, s.step_id, s.variant_id, s.mailbox_id, s.dimensions,
       s.sent_at, s.bounced_at, p.soft_bounced_at, s.opened_at, s.machine_opened_at, s.clicked_at, s.machine_clicked_at, s.replied_at,
       p.positive_at, p.negative_at, p.question_at, p.neutral_at, s.complained_at, s.unsubscribed_at, coalesce(h.hits, '[]') as hits
     from wanted w join sends s on s.id = w.id
     left join lateral (
       select min(e.at) filter (where e.detail ->> 'intent' = 'positive') as positive_at,
         min(e.at) filter (where e.detail ->> 'intent' = 'negative') as negative_at,
         min(e.at) filter (where e.detail ->> 'intent' = 'question') as question_at,
         min(e.at) filter (where e.detail ->> 'intent' = 'neutral') as neutral_at,
         min(e.at) filter (where e.detail ->> 'bounce_type' = 'soft') as soft_bounced_at
       from engagement_events e where e.organization_id = :org and e.send_id = s.id and e.type in ('reply', 'bounce')
     ) p on true
     left join lateral (
       select jsonb_agg(jsonb_build_object('metric', metric, 'hour', hour, 'count', count) order by hour, metric) as hits from (
         select case when e.machine then 'machine_' else '' end || e.type || 's' as metric, date_trunc('hour', e.at, 'UTC') as hour, sum(e.times) as count
         from engagement_events e
         where e.organization_id = :org and e.send_id = s.id and e.type in ('open', 'click') and e.announce_at is null
         group by 1, 2
       ) counted
     ) h on true
     where s.organization_id = :org and (s.sent_at is not null or s.bounced_at is not null)`;

/**
 * A table of counts. `key` lists its key columns, each with its SQL from an email's row `f` and the `hour` of an
 * occurrence.
 */
export interface FactTable {
  name: 'fact_campaign_hours' | 'fact_campaign_days' | 'fact_steps' | 'fact_mailbox_hours' | 'fact_mailbox_days';
  key: readonly (readonly [column: string, from: string])[];
}

const DAY = `(hour at time zone 'UTC')::date`;
const NIL = `'00000000-0000-0000-0000-000000000000'::uuid`;

export const FACT_TABLES: readonly FactTable[] = [
  {
    name: 'fact_campaign_hours',
    key: [
      ['campaign_id', 'campaign_id'],
      ['hour', 'hour'],
    ],
  },
  {
    name: 'fact_campaign_days',
    key: [
      ['campaign_id', 'campaign_id'],
      ['day', DAY],
    ],
  },
  {
    name: 'fact_steps',
    key: [
      ['campaign_id', 'campaign_id'],
      ['step_id', `coalesce(step_id, ${NIL})`],
      ['variant_id', `coalesce(variant_id, ${NIL})`],
    ],
  },
  {
    name: 'fact_mailbox_hours',
    key: [
      ['mailbox_id', `coalesce(mailbox_id, ${NIL})`],
      ['hour', 'hour'],
    ],
  },
  {
    name: 'fact_mailbox_days',
    key: [
      ['mailbox_id', `coalesce(mailbox_id, ${NIL})`],
      ['day', DAY],
    ],
  },
];
