import type { Columns, OrgTable } from '../../../db/rows.ts';
import { signal } from '../../../temporal/dispatch.ts';
import { approvalMailWorkflow } from '../../../workflows/approval-mail/contract.ts';
import { automationWorkflow } from '../../../workflows/automation/contract.ts';
import { campaignWorkflow } from '../../../workflows/campaign/contract.ts';
import { contactImportWorkflow } from '../../../workflows/contact-import/contract.ts';
import type { WorkflowContract } from '../../../workflows/contract.ts';
import { directSendWorkflow } from '../../../workflows/direct-send/contract.ts';
import { domainRenewalWorkflow } from '../../../workflows/domain-renewal/contract.ts';
import { enrollmentWorkflow } from '../../../workflows/enrollment/contract.ts';
import { goalReplayWorkflow } from '../../../workflows/goal-replay/contract.ts';
import { integrationDeliveryWorkflow } from '../../../workflows/integration-delivery/contract.ts';
import { mailboxOrderWorkflow } from '../../../workflows/mailbox-order/contract.ts';
import { orderRefundWorkflow } from '../../../workflows/order-refund/contract.ts';
import { runWorkflow } from '../../../workflows/run/contract.ts';
import { testRunWorkflow } from '../../../workflows/test-run/contract.ts';
import { warmupWorkflow } from '../../../workflows/warmup/contract.ts';
import { webhookDeliveryWorkflow } from '../../../workflows/webhook-delivery/contract.ts';
import { webhookVerifyWorkflow } from '../../../workflows/webhook-verify/contract.ts';
import { weeklyReportWorkflow } from '../../../workflows/weekly-report/contract.ts';
import { retryRenewal } from '../../billing/domain-renewals/paid.ts';
import { logCampaign } from '../../sending/campaign/log.ts';
import { signalRetry } from '../../sending/control/signals.ts';
import { replayPassedOver } from '../../reporting/goals/replays.ts';
import { retryDelivery } from '../../connect/integrations/retry.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { retryUndo } from '../../billing/mailbox-orders/undo.ts';
import { retryRefund } from '../../billing/payments/request-refund.ts';
import {
  AUTOMATION_LOOP,
  AUTOMATION_RUN,
  INTEGRATION_BACKLOG,
  INTEGRATION_DELIVERY,
  INTEGRATION_RUN,
  REFUND,
  RENEWAL,
  REPLAY,
  REPLAY_EVENT,
  UNDO_OF_ORDER,
} from '../../platform/dead-letters.ts';

/** Who retries a blocked run. */
export type RetryCause = 'operator' | 'sweep';

/** How a kind of run is shown as blocked in PostgreSQL, and how it is retried. */
interface BlockedFamily {
  taskType: string;
  owns(workflowId: string): boolean;
  /** Marks the row of the run as blocked; its id, or undefined when it was deleted or has ended. */
  block(tx: Tx, workflowId: string, reason: string): Promise<string | undefined>;
  /** Removes the mark and signals the run; false when its row was deleted or has ended. */
  retry(tx: Tx, taskId: string, cause: RetryCause): Promise<boolean>;
}

/** A family whose runs have a row each, in which the mark is one column. */
interface RowFamily extends Partial<Pick<BlockedFamily, 'retry'>> {
  taskType: string;
  /** Its ids have one part: that of the row. */
  contract: WorkflowContract<any, any>;
  table: OrgTable;
  /** The column of the id. Default: id. */
  key?: string;
  /** SQL condition of a row whose run has not ended. */
  open: string;
  /** The column of the mark. Default: blocked_reason. */
  mark?: string;
  /** `updated_at` says when the row was marked. */
  isStamped?: true;
  /** The signal of a retry. Default: retry. */
  signal?: string;
  /** What else is written with the mark. */
  andThen?(tx: Tx, taskId: string, reason: string): Promise<void>;
}

const IS_STAMPED = { isStamped: true } as const;

/** Every family that can be blocked. */
export const BLOCKED_FAMILIES: readonly BlockedFamily[] = [
  ofRow({
    taskType: AUTOMATION_RUN,
    contract: automationWorkflow,
    table: 'automation_runs',
    open: `status = 'running'`,
  }),
  // Not a run that is blocked, but one that was not begun: a person who has looked at the automations settles it.
  notARun(AUTOMATION_LOOP, async () => true),
  // Not a run that is blocked, but what a provider refused: only a person has it tried again.
  notARun(INTEGRATION_DELIVERY, retryDelivery),
  // Not a run either, but what was dropped: there is nothing to repeat, and a person who has read it settles it.
  notARun(INTEGRATION_BACKLOG, async () => true),
  ofRow({
    taskType: INTEGRATION_RUN,
    contract: integrationDeliveryWorkflow,
    table: 'integration_connections',
    open: 'true',
    ...IS_STAMPED,
  }),
  ofRow({
    taskType: 'mailbox_order',
    contract: mailboxOrderWorkflow,
    table: 'mailbox_orders',
    open: 'under_way',
    ...IS_STAMPED,
  }),
  // Not a run that is blocked, but what it could not undo: only a person has it tried again.
  notARun(UNDO_OF_ORDER, retryUndo),
  ofRow({
    taskType: 'warmup',
    contract: warmupWorkflow,
    table: 'warmup_standings',
    key: 'mailbox_id',
    open: 'true',
    mark: 'run_blocked',
  }),
  {
    taskType: 'enrollment_run',
    owns: (workflowId) => enrollmentWorkflow.partsOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const { campaignId, contactId } = enrollmentWorkflow.partsOf(workflowId)!;
      const [row] = await tx.org.sql<{ id: string }>(
        `update enrollments set blocked = true, waiting_for = :reason, waiting_until = null
         where organization_id = :org and campaign_id = :campaign and contact_id = :contact and state = 'active' returning id`,
        { campaign: campaignId, contact: contactId, reason },
      );
      if (row) await logCampaign(tx, campaignId, 'run_blocked', `A contact is ${reason}`, { contact_id: contactId });
      return row?.id;
    },
    async retry(tx, id, cause) {
      const [run] = await tx.org.sql<Columns<'enrollments', 'campaign_id' | 'contact_id'>>(
        `update enrollments set blocked = false where organization_id = :org and id = :id and state = 'active' returning campaign_id, contact_id`,
        { id },
      );
      if (run) signalRetry(tx, run, { cause, stepRunId: null });
      return run !== undefined;
    },
  },
  ofRow({
    taskType: 'campaign_launch',
    contract: campaignWorkflow,
    table: 'campaigns',
    open: 'true',
    andThen: (tx, campaignId, reason) => logCampaign(tx, campaignId, 'run_blocked', `The launcher is ${reason}`),
  }),
  ofRow({
    taskType: 'direct_send',
    contract: directSendWorkflow,
    table: 'direct_sends',
    open: `state in ('awaiting_approval', 'queued')`,
    ...IS_STAMPED,
  }),
  ofRow({
    taskType: 'test_run',
    contract: testRunWorkflow,
    table: 'test_runs',
    open: `state in ('running', 'waiting_for_event')`,
    ...IS_STAMPED,
  }),
  ofRow({
    taskType: RENEWAL,
    contract: domainRenewalWorkflow,
    table: 'domain_renewals',
    key: 'domain_id',
    open: `state in ('scheduled', 'charging', 'renewing', 'requires_action')`,
    ...IS_STAMPED,
    retry: retryRenewal,
  }),
  ofRow({
    taskType: REFUND,
    contract: orderRefundWorkflow,
    table: 'payments',
    open: `state = 'refund_due'`,
    ...IS_STAMPED,
    retry: retryRefund,
  }),
  ofRow({
    taskType: REPLAY,
    contract: goalReplayWorkflow,
    table: 'goal_replays',
    open: `state in ('queued', 'running')`,
  }),
  // Not a run that is blocked, but an event that a replay went on without: only a person has it tried again.
  notARun(REPLAY_EVENT, replayPassedOver),
  ofRow({
    taskType: 'contact_import',
    contract: contactImportWorkflow,
    table: 'contact_imports',
    open: `status in ('queued', 'running')`,
    ...IS_STAMPED,
  }),
  ofRow({
    taskType: 'webhook_delivery',
    contract: webhookDeliveryWorkflow,
    table: 'webhook_deliveries',
    open: `status in ('pending', 'in_flight', 'failed')`,
    signal: 'hurry',
    ...IS_STAMPED,
  }),
  ofRow({
    taskType: 'approval_mail',
    contract: approvalMailWorkflow,
    table: 'approval_notices',
    key: 'approval_id',
    open: `state = 'due'`,
  }),
  ofRow({
    taskType: 'weekly_report',
    contract: weeklyReportWorkflow,
    table: 'weekly_reports',
    open: `state = 'due'`,
  }),
  {
    taskType: 'webhook_verification',
    owns: (workflowId) => webhookVerifyWorkflow.partsOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const { endpointId } = webhookVerifyWorkflow.partsOf(workflowId)!;
      // Where the failure of a challenge is shown too.
      const changed = await tx.org
        .table('webhook_endpoints')
        .where({ id: endpointId, challenging: true })
        .whereNull('verified_at')
        .update({ last_failure_at: tx.now, last_failure_reason: reason, updated_at: tx.now });
      return changed > 0 ? endpointId : undefined;
    },
    async retry(tx, endpointId, cause) {
      const [open] = await tx.org.sql(
        'select 1 from webhook_endpoints where organization_id = :org and id = :id and challenging and verified_at is null',
        { id: endpointId },
      );
      const args = { organizationId: tx.org.organizationId, endpointId };
      if (open) tx.intend(signal(webhookVerifyWorkflow, args, 'retry', { cause }));
      return open !== undefined;
    },
  },
  ofRow({
    taskType: 'run',
    contract: runWorkflow,
    table: 'runs',
    open: `state in ('queued', 'preflighting', 'awaiting_approval', 'launching')`,
    ...IS_STAMPED,
  }),
];

/** A family whose row is marked by one UPDATE, and cleared by another. */
function ofRow(family: RowFamily): BlockedFamily {
  const { taskType, contract, table, key = 'id', open, mark = 'blocked_reason', isStamped, andThen } = family;
  const [part] = contract.parts as [string];
  const idOf = (workflowId: string): string | undefined =>
    (contract.partsOf(workflowId) as Record<string, string> | undefined)?.[part];
  const setMark = (tx: Tx, id: string, reason: string | null, condition: string) =>
    tx.org.sql<{ open: boolean }>(
      `update ${table} set ${mark} = :reason${isStamped ? ', updated_at = :now' : ''}
       where organization_id = :org and ${key} = :id and ${condition} returning ${open} as open` as `${string}:org${string}`,
      { id, reason, ...(isStamped ? { now: tx.now } : {}) },
    );
  return {
    taskType,
    owns: (workflowId) => idOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const id = idOf(workflowId)!;
      const [row] = await setMark(tx, id, reason, open);
      if (row) await andThen?.(tx, id, reason);
      return row && id;
    },
    async retry(tx, id, cause) {
      if (family.retry) return family.retry(tx, id, cause);
      // Of a run that has ended the mark goes too.
      const [row] = await setMark(tx, id, null, 'true');
      const args = { organizationId: tx.org.organizationId, [part]: id };
      if (row?.open) tx.intend(signal(contract, args, family.signal ?? 'retry', { cause }));
      return row?.open ?? false;
    },
  };
}

/** What is no run of a workflow, and is only retried. */
function notARun(taskType: string, retry: BlockedFamily['retry']): BlockedFamily {
  return { taskType, owns: () => false, block: async () => undefined, retry };
}
