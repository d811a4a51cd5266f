import { z } from 'zod';
import type * as Approval from '../../workflows/approval-mail/contract.ts';
import type * as Weekly from '../../workflows/weekly-report/contract.ts';
import type * as Exported from '../../workflows/workspace-export/contract.ts';
import type * as Flow from '../../workflows/automation/contract.ts';
import type { CampaignActivities, CampaignArgs } from '../../workflows/campaign/contract.ts';
import type { ContactImportActivities, ContactImportArgs } from '../../workflows/contact-import/contract.ts';
import type { DeletionActivities, DeletionArgs, DeletionSignals } from '../../workflows/deletion/contract.ts';
import type * as Direct from '../../workflows/direct-send/contract.ts';
import type * as Enrolled from '../../workflows/enrollment/contract.ts';
import type { MailboxCheckActivities, MailboxCheckArgs } from '../../workflows/mailbox-check/contract.ts';
import type * as Order from '../../workflows/mailbox-order/contract.ts';
import { CHORES, type Chore, type MaintenanceActivities } from '../../workflows/maintenance/contract.ts';
import type * as Renewal from '../../workflows/domain-renewal/contract.ts';
import type * as Replay from '../../workflows/goal-replay/contract.ts';
import type * as Provided from '../../workflows/integration-delivery/contract.ts';
import type * as Refund from '../../workflows/order-refund/contract.ts';
import type { RunActivities, RunArgs, RunReport, RunSignals } from '../../workflows/run/contract.ts';
import type { WarmupActivities, WarmupArgs, WarmupSignals } from '../../workflows/warmup/contract.ts';
import type { WebhookBatchActivities, WebhookBatchArgs } from '../../workflows/webhook-batch/contract.ts';
import type * as Delivery from '../../workflows/webhook-delivery/contract.ts';
import type * as Test from '../../workflows/test-run/contract.ts';
import type { WebhookEndpointArgs, WebhookEndpointSignals } from '../../workflows/webhook-endpoint/contract.ts';
import type * as Verify from '../../workflows/webhook-verify/contract.ts';
import { activity, today, type FamilyPayloads } from './payload-schemas.ts';

/*
 * Schemas of payloads in histories. Replay compares only kinds and order of steps, so a renamed field replays without
 * an error. Every recorded payload must fit its schema strictly, and the schema's output must be assignable to the type
 * in the contract.
 */

const id = z.uuid();
const time = z.number().min(1_000_000_000_000);
const why = z.string().min(1);
const message = z.strictObject({ code: z.string(), values: z.record(z.string(), z.unknown()) });
/** Result of an activity that returns nothing; the history contains null or no payload. */
const nothing = z.union([z.null(), z.undefined(), z.literal('')]).transform(() => undefined);

const campaignArgs = today<CampaignArgs>()(z.strictObject({ organizationId: id, campaignId: id }));
const launchReports = [
  z.strictObject({ kind: z.literal('wait'), wakeAt: time.nullable(), launched: z.int(), why }),
  z.strictObject({ kind: z.literal('done'), why }),
] as const;
const importArgs = today<ContactImportArgs>()(z.strictObject({ organizationId: id, importId: id }));
const deletionArgs = today<DeletionArgs>()(z.strictObject({ deletionId: id }));
const enrollmentArgs = today<Enrolled.EnrollmentArgs>()(
  z.strictObject({ organizationId: id, campaignId: id, contactId: id }),
);
const approvalMailArgs = today<Approval.ApprovalMailArgs>()(z.strictObject({ organizationId: id, approvalId: id }));
const weeklyReportArgs = today<Weekly.WeeklyReportArgs>()(z.strictObject({ organizationId: id, reportId: id }));
const workspaceExportArgs = today<Exported.WorkspaceExportArgs>()(z.strictObject({ organizationId: id, exportId: id }));
const warmupArgs = today<WarmupArgs>()(z.strictObject({ organizationId: id, mailboxId: id }));
const checkArgs = today<MailboxCheckArgs>()(z.strictObject({ organizationId: id, checkId: id }));
const side = z.union([
  z.strictObject({ ok: z.literal(true) }),
  z.strictObject({
    ok: z.literal(false),
    stage: z.enum(['dns', 'connect', 'tls', 'greeting', 'auth', 'session']),
    message,
  }),
  z.null(),
]);
const batch = z.strictObject({ batchId: id, lane: z.literal(true).optional() });
const batchReport = z.strictObject({
  delivered: z.int(),
  failed: z.int(),
  diverted: z.int(),
  more: z.boolean(),
});
const deliverBatch = activity<WebhookBatchActivities>()('deliverBatch', z.tuple([batch]) as never, batchReport);
const verifyArgs = today<Verify.WebhookVerifyArgs>()(z.strictObject({ organizationId: id, endpointId: id }));

const enrollmentActivity = activity<Enrolled.EnrollmentActivities>();
const at = { where: why, step: z.string().nullable() };
const decision = today<Enrolled.Decision>()(
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('wait'), until: time, ...at }),
    z.strictObject({ kind: z.literal('waitForEvent'), eventName: why, until: time.nullable(), ...at }),
    z.strictObject({ kind: z.literal('slot'), sendId: id, mailboxId: id.nullable(), at: time, ...at }),
    z.strictObject({ kind: z.literal('send'), sendId: id, mailboxId: id.nullable(), ...at }),
    z.strictObject({ kind: z.literal('call'), stepRunId: id, ...at }),
    z.strictObject({ kind: z.literal('hold'), until: time.nullable(), state: z.enum(['held', 'blocked']), ...at }),
    z.strictObject({ kind: z.literal('done'), outcome: why }),
  ]),
);

const runArgs = today<RunArgs>()(z.strictObject({ organizationId: id, runId: id }));
const runReport = today<RunReport>()(
  z.strictObject({
    campaignId: id,
    state: z.enum([
      'queued',
      'preflighting',
      'awaiting_approval',
      'launching',
      'active',
      'paused',
      'completed',
      'failed',
      'denied',
      'cancelled',
    ]),
    decideBy: time.nullable(),
    why: why.nullable(),
  }),
);
const runActivity = activity<RunActivities>();
const directArgs = today<Direct.DirectSendArgs>()(z.strictObject({ organizationId: id, directSendId: id }));
const directDecision = today<Direct.DirectDecision>()(
  z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('wait'),
      state: z.enum(['scheduled', 'awaiting_approval', 'held']),
      until: time,
      where: why,
    }),
    z.strictObject({ kind: z.literal('send'), at: time, where: why }),
    z.strictObject({ kind: z.literal('done'), outcome: why }),
  ]),
);
const testArgs = today<Test.TestRunArgs>()(z.strictObject({ organizationId: id, testRunId: id }));
const testActivity = activity<Test.TestRunActivities>();
const testDecision = today<Test.TestDecision>()(
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('wait'), state: z.enum(['waiting', 'held']), until: time, where: why }),
    z.strictObject({ kind: z.literal('send'), sendId: id, at: time, where: why }),
    z.strictObject({ kind: z.literal('call'), stepRunId: id, where: why }),
    z.strictObject({ kind: z.literal('done'), outcome: why }),
  ]),
);

const renewalArgs = today<Renewal.DomainRenewalArgs>()(z.strictObject({ organizationId: id, domainId: id }));
const replayArgs = today<Replay.GoalReplayArgs>()(z.strictObject({ organizationId: id, replayId: id }));
const flowArgs = today<Flow.AutomationArgs>()(z.strictObject({ organizationId: id, runId: id }));
const flowDecision = today<Flow.AutomationDecision>()(
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('wait'), state: z.literal('waiting'), until: time.nullable(), where: why }),
    z.strictObject({ kind: z.literal('call'), nodeId: why, where: why }),
    z.strictObject({ kind: z.literal('done'), outcome: why }),
  ]),
);
const providedArgs = today<Provided.IntegrationDeliveryArgs>()(
  z.strictObject({ organizationId: id, connectionId: id }),
);
const refundArgs = today<Refund.OrderRefundArgs>()(z.strictObject({ organizationId: id, paymentId: id }));
const importActivity = activity<ContactImportActivities>();
const outcome = z.strictObject({ outcome: why });

/** Signal by which an operator or the sweep retries a blocked workflow. */
const retried = z.tuple([
  today<{ cause: 'operator' | 'sweep' }>()(z.strictObject({ cause: z.enum(['operator', 'sweep']) })),
]);
const orderArgs = today<Order.MailboxOrderArgs>()(z.strictObject({ organizationId: id, orderId: id }));
const orderStepArgs = z.tuple([
  z.strictObject({ organizationId: id, orderId: id, step: z.string().regex(/^[a-z]+:\d+$/) }),
]);
const orderActivity = activity<Order.MailboxOrderActivities>();
const orderSays = { state: why, where: why };
const orderDecision = today<Order.OrderDecision>()(
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('checkout'), ...orderSays }),
    z.strictObject({ kind: z.literal('wait'), until: time, ...orderSays }),
    z.strictObject({ kind: z.literal('close'), ...orderSays }),
    z.strictObject({ kind: z.literal('step'), step: why, ...orderSays }),
    z.strictObject({ kind: z.literal('undo'), step: why, ...orderSays }),
    z.strictObject({ kind: z.literal('done'), ...orderSays }),
  ]),
);

/** Schemas by family, the folder's name in workflows/. A family with recordings needs an entry. */
export const PAYLOADS: Readonly<Record<string, FamilyPayloads>> = {
  'approval-mail': {
    args: z.tuple([approvalMailArgs]),
    signals: {
      retry: z.tuple([
        today<Approval.ApprovalMailSignals['retry']>()(z.strictObject({ cause: z.enum(['operator', 'sweep']) })),
      ]),
    },
    activities: {
      mailApprovers: activity<Approval.ApprovalMailActivities>()(
        'mailApprovers',
        z.tuple([approvalMailArgs]),
        z.strictObject({ kind: z.literal('done'), why }),
      ),
    },
  },
  deletion: {
    args: z.tuple([deletionArgs]),
    signals: {
      changed: z.tuple([today<DeletionSignals['changed']>()(z.strictObject({ cause: z.literal('called_back') }))]),
    },
    activities: {
      advanceDeletion: activity<DeletionActivities>()(
        'advanceDeletion',
        z.tuple([deletionArgs]),
        z.discriminatedUnion('kind', [
          z.strictObject({ kind: z.literal('more'), why: why.optional() }),
          z.strictObject({ kind: z.literal('wait'), wakeAt: time.nullable(), why }),
          z.strictObject({ kind: z.literal('done'), why }),
        ]),
      ),
    },
  },
  'weekly-report': {
    args: z.tuple([weeklyReportArgs]),
    signals: {
      retry: z.tuple([
        today<Weekly.WeeklyReportSignals['retry']>()(z.strictObject({ cause: z.enum(['operator', 'sweep']) })),
      ]),
    },
    activities: {
      mailWeeklyReport: activity<Weekly.WeeklyReportActivities>()(
        'mailWeeklyReport',
        z.tuple([weeklyReportArgs]),
        z.strictObject({ kind: z.literal('done'), why }),
      ),
    },
  },
  'workspace-export': {
    args: z.tuple([workspaceExportArgs]),
    signals: {
      retry: z.tuple([
        today<Exported.WorkspaceExportSignals['retry']>()(z.strictObject({ cause: z.enum(['operator', 'sweep']) })),
      ]),
    },
    activities: {
      makeWorkspaceExport: activity<Exported.WorkspaceExportActivities>()(
        'makeWorkspaceExport',
        z.tuple([workspaceExportArgs]),
        z.strictObject({ kind: z.literal('done'), why }),
      ),
    },
  },
  campaign: {
    args: z.tuple([campaignArgs]),
    signals: {
      control: z.tuple([z.strictObject({ cause: why, epoch: z.int().nullable() })]),
      retry: z.tuple([z.strictObject({ cause: z.enum(['operator', 'sweep']) })]),
    },
    activities: {
      beginLauncher: activity<CampaignActivities>()(
        'beginLauncher',
        z.tuple([campaignArgs]),
        z.discriminatedUnion('kind', [...launchReports, z.strictObject({ kind: z.literal('more') })]),
      ),
      runLauncher: activity<CampaignActivities>()(
        'runLauncher',
        z.tuple([campaignArgs]),
        z.discriminatedUnion('kind', [...launchReports]),
      ),
    },
  },
  warmup: {
    args: z.tuple([warmupArgs]),
    signals: {
      changed: z.tuple([
        today<WarmupSignals['changed']>()(
          z.strictObject({ cause: z.enum(['start', 'pause', 'resume', 'stop', 'settings', 'reply']) }),
        ),
      ]),
      retry: z.tuple([z.strictObject({ cause: z.enum(['operator', 'sweep']) })]),
    },
    activities: {
      warmupTurn: activity<WarmupActivities>()(
        'warmupTurn',
        z.tuple([warmupArgs]),
        z.union([
          z.strictObject({
            kind: z.literal('wait'),
            wakeAt: time.nullable(),
            why,
            state: z.literal('resting').optional(),
          }),
          z.strictObject({ kind: z.literal('done'), why }),
        ]),
      ),
    },
  },
  'contact-import': {
    args: z.tuple([importArgs]),
    signals: {},
    activities: {
      importContacts: importActivity('importContacts', z.tuple([importArgs]), nothing as never),
      abandonImport: importActivity(
        'abandonImport',
        z.tuple([z.strictObject({ organizationId: id, importId: id, reason: message.nullable() })]),
        nothing as never,
      ),
    },
  },
  'direct-send': {
    args: z.tuple([directArgs]),
    signals: {
      decided: z.tuple([
        today<Direct.DirectSendSignals['decided']>()(
          z.strictObject({ approvalId: id, status: z.enum(['approved', 'denied', 'expired']) }),
        ),
      ]),
      changed: z.tuple([
        today<Direct.DirectSendSignals['changed']>()(z.strictObject({ cause: z.literal('cancelled') })),
      ]),
      retry: z.tuple([
        today<Direct.DirectSendSignals['retry']>()(z.strictObject({ cause: z.enum(['operator', 'sweep']) })),
      ]),
    },
    activities: {
      // This is a local activity, so the history contains its result but not its input.
      advanceDirectSend: { input: z.tuple([directArgs]), result: directDecision },
      deliverSend: activity<Direct.DirectSendActivities>()(
        'deliverSend',
        z.tuple([z.strictObject({ organizationId: id, sendId: id })]),
        outcome,
      ),
    },
  },
  enrollment: {
    // Accepts an earlier format, too: with the id of the enrollment, which is no longer read.
    args: z.union([
      z.tuple([enrollmentArgs]),
      z.tuple([z.strictObject({ organizationId: id, campaignId: id, contactId: id, enrollmentId: id })]),
    ]),
    signals: {
      event: z.tuple([today<Enrolled.EnrollmentSignals['event']>()(z.strictObject({ eventId: id }))]),
      reply: z.tuple([
        today<Enrolled.EnrollmentSignals['reply']>()(
          z.strictObject({
            cause: z.enum(['replied', 'bounced', 'complained', 'unsubscribed', 'undeliverable', 'out_of_office']),
            messageId: z.string().nullable(),
            sendId: id.nullable(),
          }),
        ),
      ]),
      control: z.tuple([
        today<Enrolled.EnrollmentSignals['control']>()(
          z.union([
            z.strictObject({
              cause: z.enum(['launched', 'campaign', 'held', 'released', 'finished', 'overdue', 'pool']),
              epoch: z.int().nullable(),
            }),
            z.strictObject({
              cause: z.literal('launched'),
              epoch: z.int(),
              sendId: id,
              mailboxId: id,
              at: time.nullable(),
              ...at,
              step: z.string(),
            }),
          ]),
        ),
      ]),
      retry: z.tuple([
        today<Enrolled.EnrollmentSignals['retry']>()(
          z.strictObject({ cause: z.enum(['operator', 'sweep']), stepRunId: id.nullable() }),
        ),
      ]),
    },
    activities: {
      // This is a local activity, so the history contains its result but not its input.
      advanceEnrollment: {
        input: z.tuple([enrollmentArgs]),
        result: decision,
      },
      deliverSend: enrollmentActivity(
        'deliverSend',
        z.tuple([
          z.strictObject({
            organizationId: id,
            sendId: id,
            lead: z.strictObject({ campaignId: id, contactId: id, mailboxId: id.nullable() }).optional(),
          }),
        ]),
        z.strictObject({ outcome: why, next: decision.optional() }),
      ),
      callApp: enrollmentActivity('callApp', z.tuple([z.strictObject({ organizationId: id, stepRunId: id })]), outcome),
    },
  },
  'mailbox-check': {
    args: z.tuple([checkArgs]),
    signals: {},
    activities: {
      checkMailbox: activity<MailboxCheckActivities>()(
        'checkMailbox',
        z.tuple([checkArgs]),
        z.strictObject({ smtp: side, imap: side }),
      ),
    },
  },
  maintenance: {
    // The schedule passes no arguments, but a start by the contract passes an empty object.
    args: z.union([z.tuple([]), z.tuple([z.strictObject({})])]),
    signals: {},
    activities: {
      doChore: activity<MaintenanceActivities>()(
        'doChore',
        z.tuple([z.strictObject({ chore: z.enum(Object.keys(CHORES) as [Chore, ...Chore[]]) })]),
        z.strictObject({ done: z.int() }),
      ),
    },
  },
  'mailbox-order': {
    args: z.tuple([orderArgs]),
    signals: {
      paid: z.tuple([today<Order.MailboxOrderSignals['paid']>()(z.strictObject({ paymentId: id }))]),
      ended: z.tuple([
        today<Order.MailboxOrderSignals['ended']>()(z.strictObject({ cause: z.enum(['cancelled', 'failed']) })),
      ]),
      retry: retried,
    },
    activities: {
      advanceMailboxOrder: orderActivity('advanceMailboxOrder', z.tuple([orderArgs]), orderDecision),
      openCheckout: orderActivity('openCheckout', z.tuple([orderArgs]), nothing),
      closeCheckout: orderActivity('closeCheckout', z.tuple([orderArgs]), nothing),
      performOrderStep: orderActivity('performOrderStep', orderStepArgs, outcome),
      undoOrderStep: orderActivity('undoOrderStep', orderStepArgs, outcome),
    },
  },
  'domain-renewal': {
    args: z.tuple([renewalArgs]),
    signals: {
      changed: z.tuple([
        today<Renewal.DomainRenewalSignals['changed']>()(z.strictObject({ cause: z.enum(['payment', 'released']) })),
      ]),
      retry: retried,
    },
    activities: {
      renewalTurn: activity<Renewal.DomainRenewalActivities>()(
        'renewalTurn',
        z.tuple([renewalArgs]),
        z.discriminatedUnion('kind', [
          z.strictObject({
            kind: z.literal('wait'),
            state: z.enum(['scheduled', 'charging', 'renewing', 'requires_action']),
            until: time,
            where: why,
          }),
          z.strictObject({ kind: z.literal('renewed') }),
          z.strictObject({ kind: z.literal('done'), outcome: why }),
        ]),
      ),
    },
  },
  automation: {
    args: z.tuple([flowArgs]),
    signals: {
      changed: z.tuple([
        today<Flow.AutomationSignals['changed']>()(z.strictObject({ cause: z.enum(['ended', 'settled']) })),
      ]),
      retry: retried,
    },
    activities: {
      // This is a local activity, so the history contains its result but not its input.
      advanceAutomation: { input: z.tuple([flowArgs]), result: flowDecision },
      callAutomationApp: activity<Flow.AutomationActivities>()(
        'callAutomationApp',
        z.tuple([z.strictObject({ organizationId: id, runId: id, nodeId: why })]),
        outcome,
      ),
    },
  },
  'goal-replay': {
    args: z.tuple([replayArgs]),
    signals: { retry: retried },
    activities: {
      replayPage: activity<Replay.GoalReplayActivities>()(
        'replayPage',
        z.tuple([replayArgs]),
        z.strictObject({ kind: z.enum(['more', 'done']), why }),
      ),
    },
  },
  'integration-delivery': {
    args: z.tuple([providedArgs]),
    signals: {
      more: z.tuple([
        today<Provided.IntegrationDeliverySignals['more']>()(
          z.strictObject({ cause: z.enum(['event', 'action', 'reconnect', 'replay', 'sweep']) }),
        ),
      ]),
      retry: retried,
    },
    activities: {
      deliverToProvider: activity<Provided.IntegrationDeliveryActivities>()(
        'deliverToProvider',
        z.tuple([providedArgs]),
        z.union([
          z.strictObject({ kind: z.enum(['more', 'done']), why }),
          z.strictObject({ kind: z.literal('wait'), wakeAt: z.number().nullable(), why }),
        ]),
      ),
    },
  },
  'order-refund': {
    args: z.tuple([refundArgs]),
    signals: {
      changed: z.tuple([
        today<Refund.OrderRefundSignals['changed']>()(z.strictObject({ cause: z.literal('provider') })),
      ]),
      retry: retried,
    },
    activities: {
      refundTurn: activity<Refund.OrderRefundActivities>()(
        'refundTurn',
        z.tuple([refundArgs]),
        z.union([
          z.strictObject({ kind: z.literal('wait'), wakeAt: time, why }),
          z.strictObject({ kind: z.literal('done'), why }),
        ]),
      ),
    },
  },
  run: {
    args: z.tuple([runArgs]),
    signals: {
      decided: z.tuple([
        today<RunSignals['decided']>()(
          z.strictObject({ approvalId: id, status: z.enum(['approved', 'denied', 'expired']) }),
        ),
      ]),
      cancelled: z.tuple([
        today<RunSignals['cancelled']>()(z.strictObject({ cause: z.enum(['request', 'campaign_deleted']) })),
      ]),
      retry: z.tuple([today<RunSignals['retry']>()(z.strictObject({ cause: z.enum(['operator', 'sweep']) }))]),
    },
    activities: {
      advanceRun: runActivity('advanceRun', z.tuple([runArgs]), runReport),
      preflightRun: runActivity('preflightRun', z.tuple([runArgs]), runReport),
      launchRun: runActivity('launchRun', z.tuple([runArgs]), runReport),
    },
  },
  'test-run': {
    args: z.tuple([testArgs]),
    signals: {
      event: z.tuple([today<Test.TestRunSignals['event']>()(z.strictObject({ eventId: id }))]),
      cancelled: z.tuple([today<Test.TestRunSignals['cancelled']>()(z.strictObject({ cause: z.literal('person') }))]),
      retry: retried,
    },
    activities: {
      advanceTestRun: testActivity('advanceTestRun', z.tuple([testArgs]), testDecision),
      deliverSend: testActivity('deliverSend', z.tuple([z.strictObject({ organizationId: id, sendId: id })]), outcome),
      callAppForTest: testActivity(
        'callAppForTest',
        z.tuple([z.strictObject({ organizationId: id, stepRunId: id })]),
        outcome,
      ),
    },
  },
  'webhook-batch': {
    args: z.tuple([today<WebhookBatchArgs>()(z.strictObject({ batchId: id }))]),
    signals: {},
    activities: { deliverBatch },
  },
  'webhook-delivery': {
    args: z.tuple([today<Delivery.WebhookDeliveryArgs>()(z.strictObject({ organizationId: id, deliveryId: id }))]),
    signals: {
      hurry: z.tuple([
        today<Delivery.WebhookDeliverySignals['hurry']>()(
          z.strictObject({ cause: z.enum(['redelivery', 'operator', 'sweep']) }),
        ),
      ]),
    },
    activities: {
      deliverWebhook: activity<Delivery.WebhookDeliveryActivities>()(
        'deliverWebhook',
        z.tuple([z.strictObject({ organizationId: id, deliveryId: id })]),
        z.strictObject({ why }),
      ),
    },
  },
  'webhook-endpoint': {
    args: z.tuple([today<WebhookEndpointArgs>()(z.strictObject({ endpointId: id }))]),
    signals: {
      more: z.tuple([
        today<WebhookEndpointSignals['more']>()(z.strictObject({ cause: z.enum(['diverted', 'sweep']) })),
      ]),
    },
    activities: { deliverBatch },
  },
  'webhook-verify': {
    args: z.tuple([verifyArgs]),
    signals: {
      armed: z.tuple([z.strictObject({ applicationId: id })]),
      retry: z.tuple([
        today<Verify.WebhookVerifySignals['retry']>()(z.strictObject({ cause: z.enum(['operator', 'sweep']) })),
      ]),
    },
    activities: {
      challengeEndpoint: activity<Verify.WebhookVerifyActivities>()(
        'challengeEndpoint',
        z.tuple([verifyArgs, z.int().min(1)]),
        z.union([
          z.strictObject({ over: z.literal(true), state: z.enum(['verified', 'gone', 'given_up']) }),
          z.strictObject({ over: z.literal(false), retryInMs: z.int() }),
        ]),
      ),
    },
  },
};
