import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { badRequest, type Problem } from '../../../lib/errors.ts';
import { existingIds } from '../../platform/references.ts';
import { finishEnrollments } from '../control/finish.ts';
import { signalLauncher } from '../control/signals.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { message, type Message } from '../../../messages/index.ts';

/** Ids of records in a request, with the path of their field. */
interface NamedIds {
  path: string;
  ids: readonly string[];
}

/** Ids of categories and campaigns in a request. */
export interface NamedRecords {
  categories?: readonly NamedIds[];
  campaigns?: readonly NamedIds[];
}

/**
 * Refuses unknown categories and campaigns. Reports every unknown id with its path.
 * @throws AppError bad_request
 */
export async function assertKnown(org: OrgScope, named: NamedRecords): Promise<void> {
  const problems = await unknownProblems(org, named);
  if (problems.length > 0) throw badRequest(message('campaigns.unknown_records'), problems);
}

/** Returns a problem, with its path, for each category and campaign that the organization does not have. */
export async function unknownProblems(org: OrgScope, named: NamedRecords): Promise<Problem[]> {
  const problems: Problem[] = [];
  const check = async (fields: readonly NamedIds[], said: Message, load: (ids: string[]) => Promise<Set<string>>) => {
    const known = await load(fields.flatMap((field) => field.ids));
    for (const field of fields) {
      field.ids.forEach((id, index) => {
        if (!known.has(id.toLowerCase())) problems.push({ path: `${field.path}.${index}`, message: said });
      });
    }
  };
  await check(named.categories ?? [], message('directory.unknown_category'), (ids) =>
    existingIds(org, 'labels', ids, { registry: 'category' }),
  );
  await check(named.campaigns ?? [], message('directory.unknown_campaign'), (ids) =>
    existingIds(org, 'campaigns', ids),
  );
  return problems;
}

/**
 * Removes contacts from campaigns, or from all campaigns if `campaignIds` is null. Leads in progress are ended first,
 * which signals their workflows and releases their slots. Leads not launched yet are only deleted. Each launcher is
 * signalled once.
 */
export async function leaveCampaigns(
  tx: Tx,
  contactIds: readonly string[],
  campaignIds: readonly string[] | null,
  reason: Message,
): Promise<void> {
  const membership = `organization_id = :org and contact_id = any(cast(:contacts as uuid[]))
    and (cast(:campaigns as uuid[]) is null or campaign_id = any(cast(:campaigns as uuid[])))` as const;
  const bindings = { contacts: contactIds, campaigns: campaignIds };
  // Locks all enrollments before the rows that refer to them, as all writers do.
  await tx.org.sql(
    `select count(*) from (select id from enrollments where ${membership} order by id for update) as held`,
    bindings,
  );
  const underWay = await tx.org.sql<Columns<'enrollments', 'id'>>(
    `select id from enrollments e where ${membership} and state in ('pending', 'active')
       and (launched_at is not null or exists (select 1 from sends s where s.enrollment_id = e.id and s.state = 'reserved'))
     order by id`,
    bindings,
  );
  await finishEnrollments(
    tx,
    underWay.map(({ id }) => id),
    'failed',
    { reason },
  );
  const waiting = await tx.org.sql<Columns<'enrollments', 'campaign_id'>>(
    `with gone as (delete from enrollments where ${membership} returning campaign_id, state)
     select distinct campaign_id from gone where state = 'pending'`,
    bindings,
  );
  for (const row of waiting) signalLauncher(tx, row.campaign_id, 'lead_removed');
}
