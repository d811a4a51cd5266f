import { signal } from '../../../temporal/dispatch.ts';
import { campaignWorkflow, NUDGE as CAMPAIGN_NUDGE } from '../../../workflows/campaign/contract.ts';
import { enrollmentWorkflow, NUDGE as ENROLLMENT_NUDGE } from '../../../workflows/enrollment/contract.ts';
import type { Tx } from '../../kernel/transact.ts';

/** Tells a contact's run to look again after the commit. Call it whenever a verb changed what the run decides by. */
export function nudgeEnrollment(tx: Tx, enrollment: { id: string; campaign_id: string; contact_id: string }): void {
  tx.intend(
    signal(
      enrollmentWorkflow,
      {
        organizationId: tx.org.organizationId,
        campaignId: enrollment.campaign_id,
        contactId: enrollment.contact_id,
        enrollmentId: enrollment.id,
      },
      ENROLLMENT_NUDGE,
    ),
  );
}

/** Tells a campaign's launcher to look again after the commit. */
export function nudgeCampaign(tx: Tx, campaignId: string): void {
  tx.intend(signal(campaignWorkflow, { organizationId: tx.org.organizationId, campaignId }, CAMPAIGN_NUDGE));
}
