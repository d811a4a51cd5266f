import { DAY_MS } from '../../lib/clock.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { refusedRecipients } from '../directory/refused-recipients.ts';
import { logCampaign } from './campaign/log.ts';
import { message } from '../../messages/index.ts';

/** Addresses that get a copy of each email of a campaign. */
interface Copies {
  cc: readonly string[];
  bcc: readonly string[];
}

/** Minimum time (ms) between two log lines of a campaign about removed copies. */
const LOG_EVERY_MS = DAY_MS;

/**
 * Returns the copy addresses of a campaign email without those that must not be mailed: suppressed addresses and
 * contacts who have opted out. Logs a removal in the campaign's activity log, at most once a day.
 */
export async function allowedCopies(tx: Tx, campaignId: string, { cc, bcc }: Copies): Promise<Copies> {
  const refused = await refusedRecipients(tx.org, [...cc, ...bcc], tx.now);
  if (refused.size === 0) return { cc, bcc };
  const [said] = await tx.org.sql(
    `select 1 from campaign_logs where organization_id = :org and campaign_id = :id and event_type = 'copies_left_out' and created_at > :since limit 1`,
    { id: campaignId, since: new Date(tx.now.getTime() - LOG_EVERY_MS) },
  );
  const count = refused.size;
  if (!said) await logCampaign(tx, campaignId, 'copies_left_out', message('log.copies_left_out', { count }), { count });
  const isAllowed = (address: string): boolean => !refused.has(address);
  return { cc: cc.filter(isAllowed), bcc: bcc.filter(isAllowed) };
}
