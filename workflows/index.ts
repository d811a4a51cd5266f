/** Every workflow of Heron; a worker bundles exactly this. */
export { approvalMail } from './approval-mail/workflow.ts';
export { campaign } from './campaign/workflow.ts';
export { contactImport } from './contact-import/workflow.ts';
export { directSend } from './direct-send/workflow.ts';
export { domainRenewal } from './domain-renewal/workflow.ts';
export { enrollment } from './enrollment/workflow.ts';
export { mailboxCheck } from './mailbox-check/workflow.ts';
export { mailboxOrder } from './mailbox-order/workflow.ts';
export { maintenance } from './maintenance/workflow.ts';
export { orderRefund } from './order-refund/workflow.ts';
export { run } from './run/workflow.ts';
export { testRun } from './test-run/workflow.ts';
export { warmup } from './warmup/workflow.ts';
export { webhookBatch } from './webhook-batch/workflow.ts';
export { webhookDelivery } from './webhook-delivery/workflow.ts';
export { webhookEndpoint } from './webhook-endpoint/workflow.ts';
export { webhookVerify } from './webhook-verify/workflow.ts';
