import type { Columns } from '../../db/rows.ts';
import { across } from '../../db/across.ts';
import { isConnectionLost } from '../../db/errors.ts';
import { errorKind } from '../../lib/error-report.ts';
import { signal } from '../../temporal/dispatch.ts';
import { approvalMailWorkflow } from '../../workflows/approval-mail/contract.ts';
import { automationWorkflow } from '../../workflows/automation/contract.ts';
import { campaignWorkflow } from '../../workflows/campaign/contract.ts';
import { contactImportWorkflow } from '../../workflows/contact-import/contract.ts';
import { directSendWorkflow } from '../../workflows/direct-send/contract.ts';
import { domainRenewalWorkflow } from '../../workflows/domain-renewal/contract.ts';
import { enrollmentWorkflow } from '../../workflows/enrollment/contract.ts';
import { goalReplayWorkflow } from '../../workflows/goal-replay/contract.ts';
import { integrationDeliveryWorkflow } from '../../workflows/integration-delivery/contract.ts';
import { mailboxOrderWorkflow } from '../../workflows/mailbox-order/contract.ts';
import { orderRefundWorkflow } from '../../workflows/order-refund/contract.ts';
import { runWorkflow } from '../../workflows/run/contract.ts';
import { testRunWorkflow } from '../../workflows/test-run/contract.ts';
import { warmupWorkflow } from '../../workflows/warmup/contract.ts';
import { webhookDeliveryWorkflow } from '../../workflows/webhook-delivery/contract.ts';
import { weeklyReportWorkflow } from '../../workflows/weekly-report/contract.ts';
import { webhookVerifyWorkflow } from '../../workflows/webhook-verify/contract.ts';
import { logCampaign } from '../engine/campaign/log.ts';
import { signalRetry } from '../engine/control/signals.ts';
import { systemCtx, type Ctx, type Deps } from '../kernel/context.ts';
import { transact, type Tx } from '../kernel/transact.ts';
import { retryAutomationRun } from '../automations/advance.ts';
import { retryRenewal } from '../domain-renewals/paid.ts';
import { retryReplay } from '../goals/replays.ts';
import { retryDelivery } from '../integrations/retry.ts';
import { retryUndo } from '../mailbox-orders/undo.ts';
import { retryRefund } from '../payments/request-refund.ts';
import {
  addDeadLetter,
  AUTOMATION_LOOP,
  AUTOMATION_RUN,
  INTEGRATION_DELIVERY,
  INTEGRATION_RUN,
  REFUND,
  RENEWAL,
  REPLAY,
  replayDeadLetter,
  UNDO_OF_ORDER,
} from '../records/dead-letters.ts';
import { signalDirectSend } from '../records/direct-sends.ts';

/** Who retries a blocked run. */
export type RetryCause = 'operator' | 'sweep';

/** How a kind of run is shown as blocked in PostgreSQL, and how it is retried. */
interface Family {
  taskType: string;
  /** Marks the row of the run as blocked; its id, or undefined when it was deleted or has ended. */
  block(tx: Tx, workflowId: string, reason: string): Promise<string | undefined>;
  /** Removes the mark and signals the run; false when the row was deleted. */
  retry(tx: Tx, taskId: string, cause: RetryCause): Promise<boolean>;
  owns(workflowId: string): boolean;
}

const FIRST_RETRY_MS = 15 * 60_000;
const LONGEST_RETRY_MS = 86_400_000;
/** After this many blocks in a row only a person retries a run: about three days. */
const MAX_RETRIES = 8;
const PAGE = 500;

/** Whether a failure is not about the work: PostgreSQL could not be reached. Such work continues without help. */
export function isPassing(error: unknown): boolean {
  return isConnectionLost(error);
}

/**
 * Shows a run that keeps failing as blocked, with the reason, and records it as a dead letter that the sweep retries after
 * 15 minutes, doubling, up to a day, eight times. The reason names kinds of failure, no values.
 * @returns the reason
 */
export async function blockRun(ctx: Ctx, workflowId: string, error: unknown): Promise<string> {
  const reason = `blocked: it kept failing (${errorKind(error)})`;
  const family = FAMILIES.find((each) => each.owns(workflowId));
  if (!family) return reason;
  await transact(ctx, async (tx) => {
    const taskId = await family.block(tx, workflowId, reason);
    if (!taskId) return;
    const [past] = await tx.org.sql<{ times: number }>(
      `select coalesce(max(attempts), 0)::int as times from dead_letters
       where organization_id = :org and task_type = :type and task_id = :task and updated_at > :since`,
      { type: family.taskType, task: taskId, since: new Date(tx.now.getTime() - 2 * LONGEST_RETRY_MS) },
    );
    const times = past!.times + 1;
    const waitMs = Math.min(FIRST_RETRY_MS * 2 ** (times - 1), LONGEST_RETRY_MS);
    await addDeadLetter(tx, {
      taskId,
      taskType: family.taskType,
      payload: { workflow_id: workflowId },
      error: reason,
      attempts: times,
      maxAttempts: MAX_RETRIES,
      nextRetryAt: times < MAX_RETRIES ? new Date(tx.now.getTime() + waitMs) : null,
    });
  });
  return reason;
}

/** Retries the blocked runs that are due. Returns how many. */
export async function retryDueRuns(deps: Deps): Promise<number> {
  const due = await across(deps.db, 'maintenance').sql<DueLetter>(
    `select organization_id, task_type, task_id from dead_letters
     where status = 'pending' and next_retry_at <= :now and task_type = any(:types) order by next_retry_at limit :page`,
    { now: deps.clock.now(), types: FAMILIES.map(({ taskType }) => taskType), page: PAGE },
  );
  for (const letter of due) await retry(deps, letter, 'sweep');
  return due.length;
}

/**
 * Retries one blocked run now.
 * @param workflowId its workflow id, as in the dead letter and the Temporal UI
 * @returns false when it is not blocked
 */
export async function retryRun(deps: Deps, workflowId: string): Promise<boolean> {
  const [letter] = await across(deps.db, 'operator').sql<DueLetter>(
    `select organization_id, task_type, task_id from dead_letters
     where status = 'pending' and payload ->> 'workflow_id' = :workflowId limit 1`,
    { workflowId },
  );
  if (letter) await retry(deps, letter, 'operator');
  return letter !== undefined;
}

type DueLetter = Columns<'dead_letters', 'organization_id' | 'task_type' | 'task_id'>;

/**
 * Has the blocked run of a task go on, within the caller's transaction; the caller settles its dead letter.
 * @returns false when the row of the run is gone or has ended
 */
export async function retryTask(tx: Tx, taskType: string, taskId: string, cause: RetryCause): Promise<boolean> {
  const family = FAMILIES.find((each) => each.taskType === taskType);
  return (await family?.retry(tx, taskId, cause)) ?? false;
}

async function retry(deps: Deps, letter: DueLetter, cause: RetryCause): Promise<void> {
  await transact(systemCtx(deps, letter.organization_id, 'retry'), async (tx) => {
    await retryTask(tx, letter.task_type, letter.task_id, cause);
    await replayDeadLetter(tx, letter.task_type, letter.task_id);
  });
}

const FAMILIES: readonly Family[] = [
  {
    taskType: AUTOMATION_RUN,
    owns: (workflowId) => automationWorkflow.partsOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const { runId } = automationWorkflow.partsOf(workflowId)!;
      const changed = await tx.org
        .table('automation_runs')
        .where({ id: runId, status: 'running' })
        .update({ blocked_reason: reason });
      return changed > 0 ? runId : undefined;
    },
    retry: retryAutomationRun,
  },
  {
    // Not a run that is blocked, but one that was not begun: a person who has looked at the automations settles it.
    taskType: AUTOMATION_LOOP,
    owns: () => false,
    block: async () => undefined,
    retry: async () => true,
  },
  {
    // Not a run that is blocked, but what a provider refused: only a person has it tried again.
    taskType: INTEGRATION_DELIVERY,
    owns: () => false,
    block: async () => undefined,
    retry: retryDelivery,
  },
  {
    taskType: INTEGRATION_RUN,
    owns: (workflowId) => integrationDeliveryWorkflow.partsOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const { connectionId } = integrationDeliveryWorkflow.partsOf(workflowId)!;
      const changed = await tx.org
        .table('integration_connections')
        .where({ id: connectionId })
        .update({ blocked_reason: reason, updated_at: tx.now });
      return changed > 0 ? connectionId : undefined;
    },
    async retry(tx, connectionId, cause) {
      const changed = await tx.org
        .table('integration_connections')
        .where({ id: connectionId })
        .update({ blocked_reason: null, updated_at: tx.now });
      const args = { organizationId: tx.org.organizationId, connectionId };
      if (changed > 0) tx.intend(signal(integrationDeliveryWorkflow, args, 'retry', { cause }));
      return changed > 0;
    },
  },
  {
    taskType: 'mailbox_order',
    owns: (workflowId) => mailboxOrderWorkflow.partsOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const { orderId } = mailboxOrderWorkflow.partsOf(workflowId)!;
      const changed = await tx.org
        .table('mailbox_orders')
        .where({ id: orderId, under_way: true })
        .update({ blocked_reason: reason, updated_at: tx.now });
      return changed > 0 ? orderId : undefined;
    },
    async retry(tx, orderId, cause) {
      const changed = await tx.org
        .table('mailbox_orders')
        .where({ id: orderId, under_way: true })
        .update({ blocked_reason: null, updated_at: tx.now });
      const args = { organizationId: tx.org.organizationId, orderId };
      if (changed > 0) tx.intend(signal(mailboxOrderWorkflow, args, 'retry', { cause }));
      return changed > 0;
    },
  },
  {
    // Not a run that is blocked, but what it could not undo: only a person has it tried again.
    taskType: UNDO_OF_ORDER,
    owns: () => false,
    block: async () => undefined,
    retry: retryUndo,
  },
  {
    taskType: 'warmup',
    owns: (workflowId) => warmupWorkflow.partsOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const { mailboxId } = warmupWorkflow.partsOf(workflowId)!;
      const changed = await tx.org
        .table('warmup_standings')
        .where({ mailbox_id: mailboxId })
        .update({ run_blocked: reason });
      return changed > 0 ? mailboxId : undefined;
    },
    async retry(tx, mailboxId, cause) {
      const changed = await tx.org
        .table('warmup_standings')
        .where({ mailbox_id: mailboxId })
        .update({ run_blocked: null });
      const args = { organizationId: tx.org.organizationId, mailboxId };
      if (changed > 0) tx.intend(signal(warmupWorkflow, args, 'retry', { cause }));
      return changed > 0;
    },
  },
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
  {
    taskType: 'campaign_launch',
    owns: (workflowId) => campaignWorkflow.partsOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const { campaignId } = campaignWorkflow.partsOf(workflowId)!;
      const changed = await tx.org.table('campaigns').where({ id: campaignId }).update({ blocked_reason: reason });
      if (changed > 0) await logCampaign(tx, campaignId, 'run_blocked', `The launcher is ${reason}`);
      return changed > 0 ? campaignId : undefined;
    },
    async retry(tx, campaignId, cause) {
      const changed = await tx.org.table('campaigns').where({ id: campaignId }).update({ blocked_reason: null });
      const args = { organizationId: tx.org.organizationId, campaignId };
      if (changed > 0) tx.intend(signal(campaignWorkflow, args, 'retry', { cause }));
      return changed > 0;
    },
  },
  {
    taskType: 'direct_send',
    owns: (workflowId) => directSendWorkflow.partsOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const { directSendId } = directSendWorkflow.partsOf(workflowId)!;
      const changed = await tx.org
        .table('direct_sends')
        .where({ id: directSendId })
        .whereIn('state', ['awaiting_approval', 'queued'])
        .update({ blocked_reason: reason, updated_at: tx.now });
      return changed > 0 ? directSendId : undefined;
    },
    async retry(tx, directSendId, cause) {
      const changed = await tx.org
        .table('direct_sends')
        .where({ id: directSendId })
        .whereIn('state', ['awaiting_approval', 'queued'])
        .update({ blocked_reason: null, updated_at: tx.now });
      if (changed > 0) signalDirectSend(tx, directSendId, 'retry', { cause });
      return changed > 0;
    },
  },
  {
    taskType: 'test_run',
    owns: (workflowId) => testRunWorkflow.partsOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const { testRunId } = testRunWorkflow.partsOf(workflowId)!;
      const changed = await tx.org
        .table('test_runs')
        .where({ id: testRunId })
        .whereIn('state', ['running', 'waiting_for_event'])
        .update({ blocked_reason: reason, updated_at: tx.now });
      return changed > 0 ? testRunId : undefined;
    },
    async retry(tx, testRunId, cause) {
      const changed = await tx.org
        .table('test_runs')
        .where({ id: testRunId })
        .whereIn('state', ['running', 'waiting_for_event'])
        .update({ blocked_reason: null, updated_at: tx.now });
      const args = { organizationId: tx.org.organizationId, testRunId };
      if (changed > 0) tx.intend(signal(testRunWorkflow, args, 'retry', { cause }));
      return changed > 0;
    },
  },
  {
    taskType: RENEWAL,
    owns: (workflowId) => domainRenewalWorkflow.partsOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const { domainId } = domainRenewalWorkflow.partsOf(workflowId)!;
      const changed = await tx.org
        .table('domain_renewals')
        .where({ domain_id: domainId })
        .whereIn('state', ['scheduled', 'charging', 'renewing', 'requires_action'])
        .update({ blocked_reason: reason, updated_at: tx.now });
      return changed > 0 ? domainId : undefined;
    },
    retry: retryRenewal,
  },
  {
    taskType: REFUND,
    owns: (workflowId) => orderRefundWorkflow.partsOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const { paymentId } = orderRefundWorkflow.partsOf(workflowId)!;
      const changed = await tx.org
        .table('payments')
        .where({ id: paymentId, state: 'refund_due' })
        .update({ blocked_reason: reason, updated_at: tx.now });
      return changed > 0 ? paymentId : undefined;
    },
    retry: retryRefund,
  },
  {
    taskType: REPLAY,
    owns: (workflowId) => goalReplayWorkflow.partsOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const { replayId } = goalReplayWorkflow.partsOf(workflowId)!;
      const changed = await tx.org
        .table('goal_replays')
        .where({ id: replayId })
        .whereIn('state', ['queued', 'running'])
        .update({ blocked_reason: reason });
      return changed > 0 ? replayId : undefined;
    },
    retry: retryReplay,
  },
  {
    taskType: 'contact_import',
    owns: (workflowId) => contactImportWorkflow.partsOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const { importId } = contactImportWorkflow.partsOf(workflowId)!;
      const changed = await tx.org
        .table('contact_imports')
        .where({ id: importId })
        .whereIn('status', ['queued', 'running'])
        .update({ blocked_reason: reason, updated_at: tx.now });
      return changed > 0 ? importId : undefined;
    },
    async retry(tx, importId, cause) {
      const changed = await tx.org
        .table('contact_imports')
        .where({ id: importId })
        .update({ blocked_reason: null, updated_at: tx.now });
      const args = { organizationId: tx.org.organizationId, importId };
      if (changed > 0) tx.intend(signal(contactImportWorkflow, args, 'retry', { cause }));
      return changed > 0;
    },
  },
  {
    taskType: 'webhook_delivery',
    owns: (workflowId) => webhookDeliveryWorkflow.partsOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const { deliveryId } = webhookDeliveryWorkflow.partsOf(workflowId)!;
      const changed = await tx.org
        .table('webhook_deliveries')
        .where({ id: deliveryId })
        .whereIn('status', ['pending', 'in_flight', 'failed'])
        .update({ blocked_reason: reason, updated_at: tx.now });
      return changed > 0 ? deliveryId : undefined;
    },
    async retry(tx, deliveryId, cause) {
      const changed = await tx.org
        .table('webhook_deliveries')
        .where({ id: deliveryId })
        .update({ blocked_reason: null, updated_at: tx.now });
      const args = { organizationId: tx.org.organizationId, deliveryId };
      if (changed > 0) tx.intend(signal(webhookDeliveryWorkflow, args, 'hurry', { cause }));
      return changed > 0;
    },
  },
  {
    taskType: 'approval_mail',
    owns: (workflowId) => approvalMailWorkflow.partsOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const { approvalId } = approvalMailWorkflow.partsOf(workflowId)!;
      const changed = await tx.org
        .table('approval_notices')
        .where({ approval_id: approvalId, state: 'due' })
        .update({ blocked_reason: reason });
      return changed > 0 ? approvalId : undefined;
    },
    async retry(tx, approvalId, cause) {
      const changed = await tx.org
        .table('approval_notices')
        .where({ approval_id: approvalId, state: 'due' })
        .update({ blocked_reason: null });
      const args = { organizationId: tx.org.organizationId, approvalId };
      if (changed > 0) tx.intend(signal(approvalMailWorkflow, args, 'retry', { cause }));
      return changed > 0;
    },
  },
  {
    taskType: 'weekly_report',
    owns: (workflowId) => weeklyReportWorkflow.partsOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const { reportId } = weeklyReportWorkflow.partsOf(workflowId)!;
      const changed = await tx.org
        .table('weekly_reports')
        .where({ id: reportId, state: 'due' })
        .update({ blocked_reason: reason });
      return changed > 0 ? reportId : undefined;
    },
    async retry(tx, reportId, cause) {
      const changed = await tx.org
        .table('weekly_reports')
        .where({ id: reportId, state: 'due' })
        .update({ blocked_reason: null });
      const args = { organizationId: tx.org.organizationId, reportId };
      if (changed > 0) tx.intend(signal(weeklyReportWorkflow, args, 'retry', { cause }));
      return changed > 0;
    },
  },
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
  {
    taskType: 'run',
    owns: (workflowId) => runWorkflow.partsOf(workflowId) !== undefined,
    async block(tx, workflowId, reason) {
      const { runId } = runWorkflow.partsOf(workflowId)!;
      const changed = await tx.org
        .table('runs')
        .where({ id: runId })
        .whereIn('state', ['queued', 'preflighting', 'awaiting_approval', 'launching'])
        .update({ blocked_reason: reason, updated_at: tx.now });
      return changed > 0 ? runId : undefined;
    },
    async retry(tx, runId, cause) {
      const changed = await tx.org
        .table('runs')
        .where({ id: runId })
        .update({ blocked_reason: null, updated_at: tx.now });
      const args = { organizationId: tx.org.organizationId, runId };
      if (changed > 0) tx.intend(signal(runWorkflow, args, 'retry', { cause }));
      return changed > 0;
    },
  },
];
