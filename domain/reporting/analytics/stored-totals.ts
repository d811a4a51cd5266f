import type { OrgScope } from '../../../db/tenancy.ts';
import type { MOMENT_OF } from '../aggregates/metrics.ts';
import { sumAll, sumBy } from '../aggregates/read.ts';
import type { VisitPart } from '../aggregates/visits.ts';
import type { FigurePart } from './figure-part.ts';

/** A range that contains every count. */
const ALL_TIME = { from: new Date(0), to: new Date('9999-01-01T00:00:00Z') };

/**
 * Returns the number of emails of a metric from stored counts. Undefined if no counts are stored for the requested
 * part: for a step in a range, or for a campaign and a mailbox together.
 * @param of `from` and `to` are whole hours
 */
export async function storedTotal(
  org: OrgScope,
  metric: keyof typeof MOMENT_OF,
  of: FigurePart,
): Promise<number | undefined> {
  const { campaignId, stepId, mailboxId, provider } = of;
  const range = { from: of.from ?? ALL_TIME.from, to: of.to ?? ALL_TIME.to };
  const add = (rows: readonly { [name in typeof metric]: number }[]) => rows.reduce((sum, row) => sum + row[metric], 0);
  if (stepId !== undefined) {
    if (of.from || of.to || mailboxId !== undefined || provider !== undefined) return undefined;
    const [row] = await org.sql<{ count: number }>(
      `select coalesce(sum(${metric}), 0)::int as count from fact_steps
       where organization_id = :org and step_id = :step ${campaignId ? 'and campaign_id = :campaign' : ''}`,
      { step: stepId, ...(campaignId ? { campaign: campaignId } : {}) },
    );
    return row!.count;
  }
  if ([campaignId, mailboxId, provider].filter((part) => part !== undefined).length > 1) return undefined;
  if (campaignId !== undefined) return add(await sumBy(org, 'campaign', range, [campaignId]));
  if (mailboxId !== undefined) return add(await sumBy(org, 'mailbox', range, [mailboxId]));
  if (provider === undefined) return (await sumAll(org, range))[metric];
  const mailboxes: { id: string; provider: string }[] = await org.table('mailboxes').select('id', 'provider');
  const providers = new Map(mailboxes.map((row) => [row.id, row.provider]));
  return add((await sumBy(org, 'mailbox', range)).filter(({ id }) => (providers.get(id) ?? 'removed') === provider));
}

/** Returns the number of visitors of a campaign from a country, with a mail program or on a kind of device. */
export async function storedVisitors(org: OrgScope, campaignId: string, part: VisitPart, key: string): Promise<number> {
  const [row] = await org.sql<{ visitors: number }>(
    'select visitors from fact_visits where organization_id = :org and campaign_id = :campaign and part = :part and key = :key',
    { campaign: campaignId, part, key },
  );
  return row?.visitors ?? 0;
}
