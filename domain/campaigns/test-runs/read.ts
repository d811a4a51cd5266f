import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { decodeIdCursor, encodeCursor, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { AppError } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { findCampaign } from '../../sending/campaign/find.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import type { TestRunRow, TestStepRow } from '../../sending/control/test-runs.ts';
import { message } from '../../../messages/index.ts';

/** A test run as API responses contain it. */
export interface TestRunView extends TestRunRow {
  /** Steps in the order in which the prospect reached them. */
  steps: TestStepRow[];
  /** Number of steps in the current campaign. */
  step_count: number;
}

/** Returns the 404 error for a test run that does not exist or belongs to another campaign. */
export function testRunNotFound(): AppError {
  return new AppError('event_run_not_found', message('tests.not_found'), {
    fix: message('tests.not_found.fix'),
  });
}

/** Maximum total size (bytes) of app responses in one page of test runs. One run may have about thirteen megabytes. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

/**
 * Lists the test runs of a campaign, newest first. A page with large app responses has fewer runs.
 * @throws AppError not_found, bad_request for the cursor of another list
 */
export async function listTestRuns(ctx: Ctx, campaignId: string, request: PageRequest): Promise<Page<TestRunView>> {
  const org = reader(ctx);
  const campaign = await findCampaign(org, campaignId);
  const after = decodeIdCursor('test_runs', campaign.id, request.cursor);
  const rows = await org.sql<TestRunRow & { listed: number }>(
    `with listed as (
       select r.id, octet_length(r.app_values::text) + coalesce((select sum(octet_length(t.output::text)) from test_run_steps t where t.test_run_id = r.id), 0) as bytes
       from test_runs r where r.organization_id = :org and r.campaign_id = :campaign and (cast(:after as uuid) is null or r.id < cast(:after as uuid))
       order by r.id desc limit :limit
     ), placed as (
       select id, row_number() over newest as place, sum(bytes) over newest as bytes from listed window newest as (order by id desc)
     )
     select r.*, (select count(*) from listed)::int as listed from placed p join test_runs r on r.id = p.id
     where p.place = 1 or p.bytes <= ${MAX_PAGE_BYTES} order by r.id desc`,
    { campaign: campaign.id, after: after ?? null, limit: request.limit + 1 },
  );
  const page = rows.slice(0, request.limit);
  const isMore = page.length > 0 && rows[0]!.listed > page.length;
  return {
    rows: await withSteps(
      org,
      campaign.id,
      page.map(({ listed: _listed, ...run }) => run),
    ),
    nextCursor: isMore ? encodeCursor('test_runs', campaign.id, [page.at(-1)!.id]) : null,
  };
}

/**
 * Returns one test run of a campaign.
 * @throws AppError event_run_not_found if the run or its campaign does not exist
 */
export function getTestRun(ctx: Ctx, campaignId: string, id: string): Promise<TestRunView> {
  return viewTestRun(reader(ctx), campaignId, id);
}

/** Variant of {@link getTestRun} within a transaction. */
export async function viewTestRun(org: OrgScope, campaignId: string, id: string): Promise<TestRunView> {
  const run =
    isUuid(id) && isUuid(campaignId)
      ? await org.sql<TestRunRow>(
          'select * from test_runs where organization_id = :org and campaign_id = :campaign and id = :id',
          { campaign: campaignId, id },
        )
      : [];
  const [view] = await withSteps(org, campaignId, run);
  if (!view) throw testRunNotFound();
  return view;
}

async function withSteps(org: OrgScope, campaignId: string, runs: readonly TestRunRow[]): Promise<TestRunView[]> {
  if (runs.length === 0) return [];
  const steps = await org.sql<TestStepRow>(
    'select * from test_run_steps where organization_id = :org and test_run_id = any(:ids::uuid[]) order by test_run_id, seq',
    { ids: runs.map(({ id }) => id) },
  );
  const [counted] = await org.sql<{ steps: number }>(
    'select count(*)::int as steps from campaign_steps where organization_id = :org and campaign_id = :campaign',
    { campaign: campaignId },
  );
  return runs.map((run) => ({
    ...run,
    steps: steps.filter(({ test_run_id: of }) => of === run.id),
    step_count: counted!.steps,
  }));
}

/** The contact of a test. */
export type Prospect = Columns<'contacts', 'id' | 'email'>;
