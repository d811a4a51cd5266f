import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { readStory, type Story } from '../enrollment/story.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { listLeads, type LeadRow } from './list.ts';

/** A lead with its history: each step reached, with its email or wait, and the log lines about the lead. */
export interface LeadDetail {
  lead: LeadRow;
  story: Story;
}

/**
 * Returns one lead with its path through the campaign (GET /campaigns/:id/leads/:contactId). `heron enrollment` shows
 * the same to operators.
 * @throws AppError not_found
 */
export async function readLeadDetail(ctx: Ctx, campaignId: string, contactId: string): Promise<LeadDetail> {
  const { rows } = isUuid(contactId) ? await listLeads(ctx, campaignId, { contactId }, { limit: 1 }) : { rows: [] };
  const lead = rows[0];
  const story = lead && (await readStory(reader(ctx), lead.id));
  if (!story) throw notFound('lead');
  return { lead, story };
}
