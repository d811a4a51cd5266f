import type { Tx } from '../../platform/kernel/transact.ts';
import { recordGroups } from './groups.ts';
import { MILESTONES } from './prospects.ts';
import { DIMENSIONS, FACT_TABLES, MEASURED, MEASURES, METRICS, MOMENTS, type FactTable } from './metrics.ts';

/**
 * An email with the ids from its event. These ids are used if the email's row was deleted or has null in their place.
 */
interface NamedEmail {
  sendId: string;
  campaignId: string | null;
  stepId?: string | null;
  mailboxId?: string | null;
}

/** Result of {@link recordFacts}. */
interface ChangedFacts {
  /** Number of changed emails. */
  emails: number;
  /** Contacts whose milestones may have changed. A repeated open of an email changes no milestone. */
  prospectIds: string[];
}

/**
 * Updates the facts of emails and adds the differences to the counts. Emails without campaign and unsent emails have no
 * facts. Repeated calls change nothing. A lock allows only one call per organization at a time.
 */
export async function recordFacts(tx: Tx, emails: readonly NamedEmail[]): Promise<ChangedFacts> {
  const named = [...new Map(emails.map((email) => [email.sendId, email])).values()];
  if (named.length === 0) return { emails: 0, prospectIds: [] };
  await tx.org.lock(`facts/${tx.org.organizationId}`);
  const [row] = await tx.org.sql<{ emails: number; prospect_ids: string[]; left_ids: string[] }>(
    `with wanted as materialized (
       select * from unnest(:ids::uuid[], :campaigns::uuid[], :steps::uuid[], :mailboxes::uuid[])
         as w(id, campaign_id, step_id, mailbox_id)
     ), measured as materialized (${MEASURED}
     ), before as materialized (
       select f.* from send_facts f join wanted w on w.id = f.send_id where f.organization_id = :org
     ), after as materialized (
       select m.send_id, coalesce(b.campaign_id, m.campaign_id, w.campaign_id) as campaign_id,
         case when b.send_id is null then coalesce(m.step_id, w.step_id) else b.step_id end as step_id,
         case when b.send_id is null then m.variant_id else b.variant_id end as variant_id,
         case when b.send_id is null then coalesce(m.mailbox_id, w.mailbox_id) else b.mailbox_id end as mailbox_id,
         m.contact_id, ${DIMENSIONS.map(([column, from]) => `${from} as ${column}`).join(', ')}, ${list(MEASURES, 'm.')},
         (${list(OF_PROSPECTS, 'b.')}) is distinct from (${list(OF_PROSPECTS, 'm.')}) as has_moved,
         b.sent_at is distinct from m.sent_at as has_left
       from measured m join wanted w on w.id = m.send_id left join before b on b.send_id = m.send_id
       where coalesce(b.campaign_id, m.campaign_id, w.campaign_id) is not null
         and (b.send_id is null or (${list(MEASURES, 'b.')}) is distinct from (${list(MEASURES, 'm.')}))
     ), stored as (
       insert into send_facts (send_id, organization_id, contact_id, campaign_id, step_id, variant_id, mailbox_id, ${FROZEN}, ${list(MEASURES)})
       select send_id, :org, contact_id, campaign_id, step_id, variant_id, mailbox_id, ${FROZEN}, ${list(MEASURES)} from after
       on conflict (send_id) do update set ${MEASURES.map((column) => `${column} = excluded.${column}`).join(', ')}
     ), delta as materialized (
       select campaign_id, step_id, variant_id, mailbox_id, hour, metric, sum(count)::int as count from (
         select f.campaign_id, f.step_id, f.variant_id, f.mailbox_id, m.hour, m.metric, m.count from after f cross join lateral (${MOMENTS}) m
         union all
         select f.campaign_id, f.step_id, f.variant_id, f.mailbox_id, m.hour, m.metric, -m.count
         from before f join after a using (send_id) cross join lateral (${MOMENTS}) m
       ) moments
       group by 1, 2, 3, 4, 5, 6 having sum(count) <> 0
     ), ${FACT_TABLES.map(added).join(', ')}
     select (select count(*) from after)::int as emails,
       array(select distinct contact_id from after where has_moved and contact_id is not null) as prospect_ids,
       array(select send_id from after where has_left) as left_ids`,
    {
      ids: named.map(({ sendId }) => sendId),
      campaigns: named.map(({ campaignId }) => campaignId),
      steps: named.map(({ stepId }) => stepId ?? null),
      mailboxes: named.map(({ mailboxId }) => mailboxId ?? null),
    },
  );
  await recordGroups(tx, row!.left_ids);
  return { emails: row!.emails, prospectIds: row!.prospect_ids };
}

/** Measures that are counted once per prospect. */
const OF_PROSPECTS = ['sent_at', ...MILESTONES];

const FROZEN = DIMENSIONS.map(([column]) => column).join(', ');

const list = (columns: readonly string[], prefix = '') => columns.map((column) => `${prefix}${column}`).join(', ');

/** Returns a CTE that adds the rows of `delta` to a table of counts. */
const added = ({ name, key }: FactTable): string => `${name}_added as (
       insert into ${name} (organization_id, ${list(key.map(([column]) => column))}, ${list(METRICS)})
       select :org, ${list(key.map(([, from]) => from))}, ${METRICS.map((metric) => `coalesce(sum(count) filter (where metric = '${metric}'), 0)`).join(', ')}
       from delta group by ${list(key.map(([, from]) => from))}
       on conflict (${list(key.map(([column]) => column))}) do update set ${METRICS.map((metric) => `${metric} = ${name}.${metric} + excluded.${metric}`).join(', ')}
     )`;
