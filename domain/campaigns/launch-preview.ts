import type { ApprovalContent, ApprovalSample } from '../../db/json-columns.ts';
import { may } from '../platform/kernel/actor.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';
import { nextOpening } from '../platform/scheduling/windows.ts';
import { scheduleOf } from '../sending/campaign/campaign-view.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import { countLeads } from '../sending/campaign/launch-checks.ts';
import { firstEmails } from './launch-content.ts';

/** Number of emails shown before a start. */
const SHOWN_EMAILS = 5;

interface LaunchPreview {
  campaignId: string;
  /** Number of unfinished leads. */
  leads: number;
  /** Earliest possible time of the first email; null if the campaign's dates allow none. */
  firstEmailAt: Date | null;
  senders: ApprovalContent['senders'];
  samples: ApprovalSample[];
}

/**
 * Previews the effect of a start: number of leads, mailboxes, time of the first email, and the first five emails.
 * Callers who may not see contacts get no emails, and a key restricted to mailboxes sees only emails of these
 * mailboxes. Changes no data.
 * @throws AppError not_found
 */
export async function previewLaunch(ctx: Ctx, id: string): Promise<LaunchPreview> {
  const org = reader(ctx);
  const campaign = await findCampaign(org, id);
  const shown = may(ctx.actor, ['READ_CONTACTS'], ['view_contacts']) ? SHOWN_EMAILS : 0;
  const { open } = await countLeads(org, campaign.id);
  const isShown = (mailboxId: string) => ctx.actor.allowedMailboxes?.includes(mailboxId) ?? true;
  const emails = await firstEmails(org, campaign, ctx.config, { count: shown, isShown });
  return {
    campaignId: campaign.id,
    leads: open,
    firstEmailAt: open > 0 && emails.senders.length > 0 ? nextOpening(scheduleOf(campaign), ctx.clock.now()) : null,
    ...emails,
  };
}
