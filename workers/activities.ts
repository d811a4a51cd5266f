import type { WorkerOptions } from '@temporalio/worker';
import { createApprovalMailActivities } from '../activities/approval-mail.ts';
import { createAutomationActivities } from '../activities/automation.ts';
import { createCampaignActivities } from '../activities/campaign.ts';
import { createContactImportActivities } from '../activities/contact-import.ts';
import { createDeliverActivities } from '../activities/deliver.ts';
import { createDirectSendActivities } from '../activities/direct-send.ts';
import { createDomainRenewalActivities } from '../activities/domain-renewal.ts';
import { createEnrollmentActivities } from '../activities/enrollment.ts';
import { createGoalReplayActivities } from '../activities/goal-replay.ts';
import { createIntegrationDeliveryActivities } from '../activities/integration-delivery.ts';
import { createMailboxCheckActivities } from '../activities/mailbox-check.ts';
import { createMailboxOrderActivities } from '../activities/mailbox-order.ts';
import { createMaintenanceActivities } from '../activities/maintenance.ts';
import { createOrderRefundActivities } from '../activities/order-refund.ts';
import { createRunActivities } from '../activities/run.ts';
import { createTestRunActivities } from '../activities/test-run.ts';
import { createWarmupActivities } from '../activities/warmup.ts';
import { createWebhookBatchActivities } from '../activities/webhook-batch.ts';
import { createWebhookDeliveryActivities } from '../activities/webhook-delivery.ts';
import { createWebhookVerifyActivities } from '../activities/webhook-verify.ts';
import { createWeeklyReportActivities } from '../activities/weekly-report.ts';
import { createDeliveryEngine } from '../domain/connect/delivery/engine.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import type { Metrics } from '../lib/metrics.ts';
import { createSmtpSender } from '../lib/smtp/index.ts';
import { TargetLimits } from '../lib/target-limits.ts';
import type { Resource } from '../workflows/queues.ts';

/** A queue that a worker process can serve: that of the workflows, or that of one resource. */
export type Queue = 'workflows' | Resource;

/** The activities that a process serves on each queue. */
interface ServedActivities {
  activities: Record<Queue, NonNullable<WorkerOptions['activities']>>;
  /** Closes the connections that activities have kept open. */
  close(): Promise<void>;
}

/** Creates the activities of all families, and says which queue serves which. All queues of a process share one SMTP sender and one delivery engine. */
export async function createActivities(deps: Deps, metrics: Metrics): Promise<ServedActivities> {
  const { config } = deps;
  const mailLimits = { total: config.WORKER_MAIL_SLOTS, perTarget: config.SMTP_HOST_SESSIONS, shared: true };
  const smtp = createSmtpSender({
    allowPrivate: config.ALLOW_PRIVATE_MAIL_HOSTS,
    limits: new TargetLimits(mailLimits),
    maxHostSessions: config.SMTP_HOST_SESSIONS,
  });
  const engine = await createDeliveryEngine(deps, metrics);
  const appCalls = new TargetLimits({ total: config.WORKER_APPS_SLOTS, perTarget: config.APP_CONNECTION_CONCURRENCY });
  const calls = { metrics, appCalls };
  const providers = config.WORKER_INTEGRATIONS_SLOTS;
  const limits = new TargetLimits({ total: providers, perTarget: providers, shared: true });

  const campaign = createCampaignActivities(deps);
  const enrollment = createEnrollmentActivities(deps, calls);
  const directSend = createDirectSendActivities(deps);
  const deliver = createDeliverActivities(deps, { smtp, metrics, copies: new TargetLimits(mailLimits) });
  const testRun = createTestRunActivities(deps, calls);
  const automation = createAutomationActivities(deps, calls);
  const contactImport = createContactImportActivities(deps);
  const mailboxCheck = createMailboxCheckActivities(deps, { smtp });
  const mailboxOrder = createMailboxOrderActivities(deps);
  const maintenance = createMaintenanceActivities(deps);
  const run = createRunActivities(deps);
  const webhookVerify = createWebhookVerifyActivities(deps);
  const webhooks = { ...createWebhookBatchActivities(engine), ...createWebhookDeliveryActivities(engine) };

  const activities = {
    // Short decisions, and first attempts of webhooks, which rest on no receiver that is known to be slow.
    workflows: {
      beginLauncher: campaign.beginLauncher,
      advanceEnrollment: enrollment.advanceEnrollment,
      advanceDirectSend: directSend.advanceDirectSend,
      advanceTestRun: testRun.advanceTestRun,
      advanceAutomation: automation.advanceAutomation,
      advanceMailboxOrder: mailboxOrder.advanceMailboxOrder,
      beginRun: run.beginRun,
      settleApproval: run.settleApproval,
      deliverBatch: webhooks.deliverBatch,
    },
    mail: {
      ...deliver,
      ...createWarmupActivities(deps, { smtp }),
      ...createApprovalMailActivities(deps),
      ...createWeeklyReportActivities(deps),
    },
    apps: {
      callApp: enrollment.callApp,
      callAppForTest: testRun.callAppForTest,
      callAutomationApp: automation.callAutomationApp,
      openCheckout: mailboxOrder.openCheckout,
      closeCheckout: mailboxOrder.closeCheckout,
      performOrderStep: mailboxOrder.performOrderStep,
      undoOrderStep: mailboxOrder.undoOrderStep,
      ...webhookVerify,
    },
    webhooks,
    integrations: createIntegrationDeliveryActivities(deps, { limits }),
    batch: {
      runLauncher: campaign.runLauncher,
      ...contactImport,
      ...maintenance,
      ...createOrderRefundActivities(deps),
      ...createDomainRenewalActivities(deps),
      ...createGoalReplayActivities(deps),
      ...run,
    },
    interactive: mailboxCheck,
  };
  return {
    activities,
    async close() {
      await engine.close();
      await smtp.close();
    },
  };
}
