import { approvalMail } from './approval-mail.ts';
import { automation } from './automation.ts';
import { campaign } from './campaign.ts';
import { contactImport } from './contact-import.ts';
import { deletion } from './deletion.ts';
import { directSend } from './direct-send.ts';
import { domainRenewal } from './domain-renewal.ts';
import { enrollment } from './enrollment.ts';
import { goalReplay } from './goal-replay.ts';
import { integrationDelivery } from './integration-delivery.ts';
import { mailboxCheck } from './mailbox-check.ts';
import { mailboxOrder } from './mailbox-order.ts';
import { maintenance } from './maintenance.ts';
import { orderRefund } from './order-refund.ts';
import { run } from './run.ts';
import { testRun } from './test-run.ts';
import { warmup } from './warmup.ts';
import { weeklyReport } from './weekly-report.ts';
import { webhookBatch } from './webhook-batch.ts';
import { webhookDelivery } from './webhook-delivery.ts';
import { webhookEndpoint } from './webhook-endpoint.ts';
import { webhookVerify } from './webhook-verify.ts';
import { workspaceExport } from './workspace-export.ts';
import type { Family } from './family.ts';

/**
 * List of all durable families, whose activities the workers serve. A process passes the list to domain functions as
 * `Deps.families`. There is no other list outside of workflows/.
 */
export const FAMILIES: readonly Family[] = [
  approvalMail,
  automation,
  campaign,
  contactImport,
  deletion,
  directSend,
  domainRenewal,
  enrollment,
  goalReplay,
  integrationDelivery,
  mailboxCheck,
  mailboxOrder,
  maintenance,
  orderRefund,
  run,
  testRun,
  warmup,
  weeklyReport,
  webhookBatch,
  webhookDelivery,
  webhookEndpoint,
  webhookVerify,
  workspaceExport,
];
