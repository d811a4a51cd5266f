import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { recountCampaignFlow } from './campaign-flow.ts';
import { rebuildGroups } from './groups.ts';
import { recountLeadCompanies } from '../../directory/lead-companies.ts';
import { FACT_TABLES, METRICS, MOMENTS } from './metrics.ts';
import { recordPeople } from './record-people.ts';
import { recordFacts } from './record.ts';
import { organizations, pages, peoplePages, SUMS_OF_MOMENTS } from './verify.ts';
import { recordVisits, recountVisits } from './visits.ts';

/**
 * Repairs the facts of one or all organizations while writes continue. Repairs the facts of emails page by page, then
 * the counts of one campaign or mailbox at a time. During each of these steps the subscriber waits for the
 * organization's lock.
 * @returns the number of changed emails per organization
 */
export async function rebuildFacts(
  deps: Deps,
  organizationId?: string,
): Promise<{ organization_id: string; changed: number }[]> {
  const done: { organization_id: string; changed: number }[] = [];
  for (const id of await organizations(deps, organizationId)) {
    const ctx = systemCtx(deps, id, 'facts/rebuild');
    let changed = 0;
    for await (const ids of pages(deps, id))
      changed += await transact(ctx, async (tx) => {
        const { emails } = await recordFacts(
          tx,
          ids.map((sendId) => ({ sendId, campaignId: null })),
        );
        await recordVisits(tx, ids);
        await recordPeople(tx, { sendIds: ids });
        return emails;
      });
    for await (const personIds of peoplePages(deps, id)) await transact(ctx, (tx) => recordPeople(tx, { personIds }));
    for (const part of ['campaign_id', 'mailbox_id'] as const)
      for (const value of await partsOf(deps, id, part)) await transact(ctx, (tx) => recount(tx, part, value));
    await rebuildGroups(deps, id);
    await transact(ctx, recountLeadCompanies);
    await transact(ctx, recountCampaignFlow);
    done.push({ organization_id: id, changed });
  }
  return done;
}

async function partsOf(deps: Deps, organizationId: string, part: 'campaign_id' | 'mailbox_id'): Promise<string[]> {
  const table = part === 'campaign_id' ? 'fact_steps' : 'fact_mailbox_days';
  const rows = await reader(systemCtx(deps, organizationId, 'facts/read')).sql<{ id: string }>(
    `select distinct ${part} as id from (
       select ${part} from send_facts where organization_id = :org union all select ${part} from ${table} where organization_id = :org
       ${part === 'campaign_id' ? 'union all select campaign_id from fact_visits where organization_id = :org' : ''}
     ) known where ${part} is not null order by 1`,
  );
  return rows.map(({ id }) => id);
}

/** Recounts a campaign or a mailbox from the facts of its emails. */
async function recount(tx: Tx, part: 'campaign_id' | 'mailbox_id', value: string): Promise<void> {
  await tx.org.lock(`facts/${tx.org.organizationId}`);
  for (const { name, key } of FACT_TABLES) {
    if (!key.some(([column]) => column === part)) continue;
    const columns = key.map(([column]) => column).join(', ');
    await tx.org.sql(`delete from ${name} where organization_id = :org and ${part} = :value`, { value });
    await tx.org.sql(
      `insert into ${name} (organization_id, ${columns}, ${METRICS.join(', ')})
       select :org, ${key.map(([, from]) => from).join(', ')}, ${SUMS_OF_MOMENTS.replaceAll('::int', '')}
       from send_facts f cross join lateral (${MOMENTS}) m where f.organization_id = :org and f.${part} = :value
       group by ${key.map(([, from]) => from).join(', ')}`,
      { value },
    );
  }
  if (part === 'campaign_id') await recountVisits(tx, value);
}
