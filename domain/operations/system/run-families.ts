import type { Db } from '../../../db/connection.ts';
import { across } from '../../../db/across.ts';
import type { Bindings } from '../../../db/statement.ts';
import { signal, start, type Intent } from '../../../temporal/dispatch.ts';
import { approvalMailWorkflow, type ApprovalMailArgs } from '../../../workflows/approval-mail/contract.ts';
import { automationWorkflow, type AutomationArgs } from '../../../workflows/automation/contract.ts';
import { campaignWorkflow, type CampaignArgs } from '../../../workflows/campaign/contract.ts';
import { contactImportWorkflow, type ContactImportArgs } from '../../../workflows/contact-import/contract.ts';
import type { Signals, WorkflowContract } from '../../../workflows/contract.ts';
import { directSendWorkflow, type DirectSendArgs } from '../../../workflows/direct-send/contract.ts';
import { domainRenewalWorkflow, type DomainRenewalArgs } from '../../../workflows/domain-renewal/contract.ts';
import { enrollmentWorkflow, type EnrollmentArgs } from '../../../workflows/enrollment/contract.ts';
import { goalReplayWorkflow, type GoalReplayArgs } from '../../../workflows/goal-replay/contract.ts';
import {
  integrationDeliveryWorkflow,
  type IntegrationDeliveryArgs,
} from '../../../workflows/integration-delivery/contract.ts';
import { mailboxOrderWorkflow, type MailboxOrderArgs } from '../../../workflows/mailbox-order/contract.ts';
import { mailboxCheckWorkflow } from '../../../workflows/mailbox-check/contract.ts';
import { maintenanceWorkflow } from '../../../workflows/maintenance/contract.ts';
import { orderRefundWorkflow, type OrderRefundArgs } from '../../../workflows/order-refund/contract.ts';
import { runWorkflow, type RunArgs } from '../../../workflows/run/contract.ts';
import { testRunWorkflow, type TestRunArgs } from '../../../workflows/test-run/contract.ts';
import { warmupWorkflow, type WarmupArgs } from '../../../workflows/warmup/contract.ts';
import { weeklyReportWorkflow, type WeeklyReportArgs } from '../../../workflows/weekly-report/contract.ts';
import { webhookBatchWorkflow, type WebhookBatchArgs } from '../../../workflows/webhook-batch/contract.ts';
import { webhookDeliveryWorkflow, type WebhookDeliveryArgs } from '../../../workflows/webhook-delivery/contract.ts';
import { webhookEndpointWorkflow, type WebhookEndpointArgs } from '../../../workflows/webhook-endpoint/contract.ts';
import { webhookVerifyWorkflow, type WebhookVerifyArgs } from '../../../workflows/webhook-verify/contract.ts';

/** A run that must be open: the id of the row that says so, and the intent that opens the run. */
export interface ExpectedRun {
  position: string;
  intent: Intent;
}

/** A family of workflows, and the query for the runs of it that must be open. */
export interface RunFamily {
  name: string;
  contract: Pick<WorkflowContract<never>, 'type' | 'queue'>;
  /** What {@link RunFamily.page} asks, for `explain`; `:after` and `:limit` are bound. */
  pageSql: string;
  /** The next runs after a position, in the order of their rows' ids. */
  page(db: Db, after: string, limit: number): Promise<ExpectedRun[]>;
  /** Those of the given rows that must still have an open run. */
  only(db: Db, positions: readonly string[]): Promise<ExpectedRun[]>;
}

/** Before every id. */
export const FIRST_POSITION = '00000000-0000-0000-0000-000000000000';

/**
 * Declares a family. `rows` is a query for rows that must have an open run, with the row's id as `position` and the
 * arguments of the contract as columns; it ends where `and` with a condition on that id can follow, and then `order by`.
 * `pageSql` is the query of a page, where that is not the same with a limit.
 */
function family<Args>(
  contract: WorkflowContract<Args, Signals>,
  rows: string,
  options: { id?: string; pageSql?: string; open?: (args: Args) => Intent } = {},
): RunFamily {
  const { id = 'id', open = (args) => start(contract, args) } = options;
  const pageSql = options.pageSql ?? `${rows} and ${id} > cast(:after as uuid) order by ${id} limit :limit`;
  const read = async (db: Db, sql: string, bindings: Bindings) => {
    const expected = await across(db, 'maintenance').sql<Args & { position: string }>(sql, bindings);
    return expected.map((row) => ({ position: row.position, intent: open(contract.args(row)) }));
  };
  return {
    name: contract.kind,
    contract,
    pageSql,
    page: (db, after, limit) => read(db, pageSql, { after, limit }),
    only: (db, positions) =>
      read(db, `${rows} and ${id} = any(cast(:positions as uuid[])) order by ${id}`, { positions: [...positions] }),
  };
}

const UNDELIVERED = `status in ('pending', 'in_flight')`;

/**
 * The batches, an endpoint's own among them, with something to deliver behind a position: from each the index leads to the next, past its deliveries. The
 * recursion makes them in the order of their ids, and only as many as the limit takes.
 */
const nextBatches = (args: string, which: string): string => `with recursive batches as (
    (select batch_id, endpoint_id from webhook_deliveries
     where batch_id > cast(:after as uuid) and ${UNDELIVERED} order by batch_id limit 1)
    union all
    select n.batch_id, n.endpoint_id from batches b cross join lateral (
      select batch_id, endpoint_id from webhook_deliveries
      where batch_id > b.batch_id and ${UNDELIVERED} order by batch_id limit 1
    ) n
  )
  select batch_id as position, ${args} from batches where ${which} limit :limit`;

/**
 * Every family whose runs must be open because PostgreSQL says so. A new family adds an entry here, or below with the
 * reason why it needs none; a test checks that.
 */
export const RUN_FAMILIES: readonly RunFamily[] = [
  // A campaign that is idle waits for a lead, which signals its launcher; one that is not active may still have runs to signal.
  family<CampaignArgs>(
    campaignWorkflow,
    `select c.id as position, c.organization_id as "organizationId", c.id as "campaignId"
     from campaigns c
     where (c.status = 'active' and c.idle_since is null
       or exists (
         select 1 from enrollments e
         where e.campaign_id = c.id and e.state = 'active' and e.signalled_epoch < c.control_epoch))`,
    { id: 'c.id' },
  ),
  family<EnrollmentArgs>(
    enrollmentWorkflow,
    `select id as position, organization_id as "organizationId", campaign_id as "campaignId", contact_id as "contactId"
     from enrollments
     where state = 'active'`,
  ),
  family<DirectSendArgs>(
    directSendWorkflow,
    `select id as position, organization_id as "organizationId", id as "directSendId"
     from direct_sends
     where state in ('awaiting_approval', 'queued')`,
  ),
  family<TestRunArgs>(
    testRunWorkflow,
    `select id as position, organization_id as "organizationId", id as "testRunId"
     from test_runs
     where state in ('running', 'waiting_for_event')`,
  ),
  family<ContactImportArgs>(
    contactImportWorkflow,
    `select id as position, organization_id as "organizationId", id as "importId"
     from contact_imports
     where status in ('queued', 'running')`,
  ),
  family<AutomationArgs>(
    automationWorkflow,
    `select id as position, organization_id as "organizationId", id as "runId"
     from automation_runs
     where status = 'running'`,
  ),
  family<GoalReplayArgs>(
    goalReplayWorkflow,
    `select id as position, organization_id as "organizationId", id as "replayId"
     from goal_replays
     where state in ('queued', 'running')`,
  ),
  // What waits for an account that has to be connected again is woken when it is.
  family<IntegrationDeliveryArgs>(
    integrationDeliveryWorkflow,
    `select c.id as position, c.organization_id as "organizationId", c.id as "connectionId"
     from integration_connections c
     where c.status in ('connected', 'degraded') and exists (select from integration_lanes l where l.connection_id = c.id)`,
    { id: 'c.id' },
  ),
  family<DomainRenewalArgs>(
    domainRenewalWorkflow,
    `select id as position, organization_id as "organizationId", id as "domainId"
     from managed_domains d
     where d.state = 'active'
       or d.state = 'lapsed' and exists (select from domain_renewals r where r.domain_id = d.id and r.expires_at = d.expires_at and r.state <> 'ended')`,
  ),
  family<OrderRefundArgs>(
    orderRefundWorkflow,
    `select id as position, organization_id as "organizationId", id as "paymentId"
     from payments
     where state = 'refund_due'`,
  ),
  // A run that is active or paused follows its campaign without a workflow.
  family<RunArgs>(
    runWorkflow,
    `select id as position, organization_id as "organizationId", id as "runId"
     from runs
     where state in ('queued', 'preflighting', 'awaiting_approval', 'launching')`,
  ),
  // One that has failed or was cancelled is under way until what it has made is undone.
  family<MailboxOrderArgs>(
    mailboxOrderWorkflow,
    `select id as position, organization_id as "organizationId", id as "orderId"
     from mailbox_orders
     where under_way`,
  ),
  family<ApprovalMailArgs>(
    approvalMailWorkflow,
    `select approval_id as position, organization_id as "organizationId", approval_id as "approvalId"
     from approval_notices
     where state = 'due'`,
    { id: 'approval_id' },
  ),
  family<WeeklyReportArgs>(
    weeklyReportWorkflow,
    `select id as position, organization_id as "organizationId", id as "reportId"
     from weekly_reports
     where state = 'due'`,
  ),
  // One that was stopped while an email was under way still finds out what became of it.
  family<WarmupArgs>(
    warmupWorkflow,
    `select m.id as position, m.organization_id as "organizationId", m.id as "mailboxId"
     from mailboxes m
     where (m.warmup is not null or exists (select 1 from warmup_mails w where w.mailbox_id = m.id and w.state = 'sending'))`,
    { id: 'm.id' },
  ),
  family<WebhookBatchArgs>(
    webhookBatchWorkflow,
    `select distinct batch_id as position, batch_id as "batchId"
     from webhook_deliveries
     where batch_id is not null and ${UNDELIVERED} and batch_id <> endpoint_id`,
    { id: 'batch_id', pageSql: nextBatches('batch_id as "batchId"', 'batch_id <> endpoint_id') },
  ),
  family<WebhookEndpointArgs>(
    webhookEndpointWorkflow,
    `select distinct batch_id as position, batch_id as "endpointId"
     from webhook_deliveries
     where batch_id is not null and ${UNDELIVERED} and batch_id = endpoint_id`,
    {
      id: 'batch_id',
      pageSql: nextBatches('batch_id as "endpointId"', 'batch_id = endpoint_id'),
      open: (args) => signal(webhookEndpointWorkflow, args, 'more', { cause: 'sweep' }),
    },
  ),
  family<WebhookDeliveryArgs>(
    webhookDeliveryWorkflow,
    `select id as position, organization_id as "organizationId", id as "deliveryId"
     from webhook_deliveries
     where batch_id is null and status in ('pending', 'in_flight', 'failed')`,
  ),
  family<WebhookVerifyArgs>(
    webhookVerifyWorkflow,
    `select id as position, organization_id as "organizationId", id as "endpointId"
     from webhook_endpoints
     where challenging and verified_at is null`,
  ),
];

/** Families without such runs, and why. */
export const NOT_RECONCILED: Readonly<Record<string, string>> = {
  [mailboxCheckWorkflow.kind]: 'a person waits for the answer, and asks again when none comes',
  [maintenanceWorkflow.kind]: 'a Temporal Schedule starts it, which every worker creates where it is missing',
};
