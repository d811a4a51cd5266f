import type { WorkflowContract } from '../contract.ts';

/** Arguments of an enrollment run: ids only. */
export interface EnrollmentArgs {
  organizationId: string;
  campaignId: string;
  contactId: string;
  enrollmentId: string;
}

/** "Look again": PostgreSQL has changed something this run depends on. */
export const NUDGE = 'nudge';

/** One contact on its way through one campaign. */
export const enrollmentWorkflow: WorkflowContract<EnrollmentArgs> = {
  type: 'enrollment',
  kind: 'enrollment',
  id: ({ campaignId, contactId }) => `enrollment/${campaignId}/${contactId}`,
  summary: ({ campaignId, contactId }) => `Contact ${contactId} in campaign ${campaignId}`,
  searchAttributes: ({ organizationId, campaignId }) => ({ OrganizationId: organizationId, CampaignId: campaignId }),
};

/** What PostgreSQL has decided this contact does next. Times are epoch milliseconds. */
export type Decision =
  /** Send a reserved email: once its slot has come, or (null) now. */
  | { kind: 'send'; sendId: string; at: number | null; where: string }
  /** Ask the customer's app. */
  | { kind: 'call'; stepRunId: string; where: string }
  /** Wait until a time, or (null) until somebody says "look again". */
  | { kind: 'sleep'; until: number | null; state: 'waiting' | 'held' | 'blocked'; where: string }
  | { kind: 'done'; outcome: string };

/** Activities of this family, as the workflow sees them. */
export interface EnrollmentActivities {
  /** Moves the contact as far as it can go now and says what comes next. Local: it only asks PostgreSQL. */
  advanceEnrollment(args: { organizationId: string; enrollmentId: string }): Promise<Decision>;
  /** Sends a reserved email, or settles one a dead worker left behind. */
  deliverSend(args: { organizationId: string; sendId: string }): Promise<{ outcome: string }>;
  /** Calls the customer's app for an app_action step and stores its answer. */
  callApp(args: { organizationId: string; stepRunId: string }): Promise<{ outcome: string }>;
}
