import type { Config } from '../../lib/config/index.ts';
import { automationWorkflow } from '../../workflows/automation/contract.ts';
import { campaignWorkflow } from '../../workflows/campaign/contract.ts';
import { contactImportWorkflow } from '../../workflows/contact-import/contract.ts';
import { enrollmentWorkflow } from '../../workflows/enrollment/contract.ts';
import { goalReplayWorkflow } from '../../workflows/goal-replay/contract.ts';
import { mailboxOrderWorkflow } from '../../workflows/mailbox-order/contract.ts';
import { runWorkflow } from '../../workflows/run/contract.ts';
import { webhookDeliveryWorkflow } from '../../workflows/webhook-delivery/contract.ts';

/** A record with a run that can be shown in the Temporal UI. */
type Watched =
  | { campaignId: string }
  | { campaignId: string; contactId: string }
  | { importId: string }
  | { automationRunId: string }
  | { runId: string }
  | { replayId: string }
  | { orderId: string }
  | { deliveryId: string };

/** The address of a record's run in the Temporal UI; undefined when TEMPORAL_UI_URL is not set. */
export function runUrl(
  { TEMPORAL_UI_URL: ui, TEMPORAL_NAMESPACE: namespace }: Pick<Config, 'TEMPORAL_UI_URL' | 'TEMPORAL_NAMESPACE'>,
  watched: Watched,
): { temporal_url?: string } {
  if (!ui) return {};
  const path = `namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(workflowIdOf(watched))}`;
  return { temporal_url: `${ui.replace(/\/$/, '')}/${path}` };
}

function workflowIdOf(watched: Watched): string {
  // The workflow id does not contain the organization.
  const args = { organizationId: '', ...watched };
  if ('contactId' in args) return enrollmentWorkflow.id(args);
  if ('campaignId' in args) return campaignWorkflow.id(args);
  if ('importId' in args) return contactImportWorkflow.id(args);
  if ('automationRunId' in args) return automationWorkflow.id({ ...args, runId: args.automationRunId });
  if ('replayId' in args) return goalReplayWorkflow.id(args);
  if ('orderId' in args) return mailboxOrderWorkflow.id(args);
  if ('runId' in args) return runWorkflow.id(args);
  return webhookDeliveryWorkflow.id(args);
}
