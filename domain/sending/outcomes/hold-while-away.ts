import type { Columns } from '../../../db/rows.ts';
import { DateTime } from 'luxon';
import type { Tx } from '../../platform/kernel/transact.ts';
import { signalControl, signalLauncher, signalReply } from '../control/signals.ts';
import { logCampaign } from '../campaign/log.ts';
import { releaseReservedSends } from '../control/release.ts';
import { awayHoldEnd } from '../../platform/scheduling/out-of-office.ts';
import { effectiveSettings } from '../campaign/outreach-settings.ts';
import { message } from '../../../messages/index.ts';
import { json } from '../../../db/connection.ts';

/** An away message that answered one of our emails. */
interface AwayMessage {
  /** Id of the stored message. */
  messageId: string;
  receivedAt: Date;
  /** Start of the day of return in `timezone`. Null when the message names no day. */
  returnDate: Date | null;
  /** IANA time zone of the recipient. */
  timezone: string;
}

type OpenLead = Columns<'enrollments', 'id' | 'campaign_id' | 'contact_id' | 'launched_at'>;

/**
 * Holds a contact who is away, in all campaigns of the contact. The hold lasts until the first working day after the
 * return, or for `out_of_office_hold_days`. Skips campaigns whose settings disable this, and holds set by a person. A
 * longer existing hold is kept. Returns the number of held leads.
 */
export async function holdWhileAway(tx: Tx, contactId: string, away: AwayMessage): Promise<number> {
  const leads = await tx.org.sql<OpenLead>(
    `select id, campaign_id, contact_id, launched_at from enrollments
     where organization_id = :org and contact_id = :contact and state in ('pending', 'active') order by id for update`,
    { contact: contactId },
  );
  const returnDate = away.returnDate ? DateTime.fromJSDate(away.returnDate, { zone: away.timezone }).toISODate() : null;
  let held = 0;
  for (const lead of leads) {
    const { reply_intent: settings } = await effectiveSettings(tx.org, lead.campaign_id);
    if (!settings.hold_on_out_of_office) continue;
    const until = awayHoldEnd({
      receivedAt: away.receivedAt,
      returnDate,
      holdDays: settings.out_of_office_hold_days,
      timezone: away.timezone,
    });
    if (until <= tx.now) continue;
    const [row] = await tx.org.sql(
      `update enrollments set hold_since = coalesce(hold_since, :now), hold_until = :until, hold_reason = cast(:reason as jsonb), hold_source = 'out_of_office'
       where organization_id = :org and id = :id
         and (hold_since is null or hold_until <= :now or (hold_source = 'out_of_office' and hold_until < :until)) returning id`,
      {
        id: lead.id,
        now: tx.now,
        until,
        reason: json(returnDate ? message('away.until', { at: returnDate }) : message('away')),
      },
    );
    if (!row) continue;
    held += 1;
    await releaseReservedSends(tx, { enrollmentIds: [lead.id] });
    if (lead.launched_at) signalReply(tx, lead, { cause: 'out_of_office', messageId: away.messageId, sendId: null });
    await logCampaign(tx, lead.campaign_id, 'lead_paused', message('log.lead_away'), {
      contact_id: contactId,
      until: until.toISOString(),
      source: 'out_of_office',
    });
  }
  return held;
}

/** Ends the holds of a contact caused by an away message, after a person has corrected its kind. */
export async function releaseFromAway(tx: Tx, contactId: string): Promise<void> {
  const leads = await tx.org.sql<OpenLead>(
    `with held as (
       select id from enrollments where organization_id = :org and contact_id = :contact and hold_source = 'out_of_office'
         and state in ('pending', 'active') order by id for update
     )
     update enrollments e set hold_since = null, hold_until = null, hold_reason = null, hold_source = null from held where e.id = held.id
     returning e.id, e.campaign_id, e.contact_id, e.launched_at`,
    { contact: contactId },
  );
  for (const lead of leads) {
    if (lead.launched_at) signalControl(tx, lead, 'released');
    else signalLauncher(tx, lead.campaign_id, 'lead_released');
    await logCampaign(tx, lead.campaign_id, 'lead_resumed', message('log.lead_resumed'), { contact_id: contactId });
  }
}
