import { recordSendBounce } from '../../domain/sending/outcomes/effects.ts';
import { recordReply } from '../../domain/sending/outcomes/reply.ts';
import { lockSubject } from '../../domain/sending/outcomes/subject.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { registerSubscribers } from '../../domain/platform/events/register.ts';
import { updateFacts } from '../../domain/reporting/aggregates/update-facts.ts';
import { recordOpens } from '../../domain/campaigns/tracking/opens.ts';
import { createCampaign } from './factories.ts';
import { ManualClock } from './manual-clock.ts';
import { react } from './reactions.ts';
import { createSentLead } from './standing-leads.ts';
import type { World } from './world.ts';
import { externalText } from '../../domain/platform/external-text.ts';

const DAY_MS = 86_400_000;
const READ_AFTER_MS = 120_000;
const HUMAN = { method: 'GET', userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140', purpose: '' };

/**
 * Creates a campaign with emails sent over the last days including today, for reports. The first email of each day is
 * opened, the second of every other day is answered, and one of all emails bounces. `perDay` returns the number of
 * emails of a day, by its distance from today.
 */
export async function createSentHistory(
  world: World,
  organizationId: string,
  mailbox: { id: string; email: string },
  { days, perDay, name = 'Autumn emails' }: { days: number; perDay: (ago: number) => number; name?: string },
): Promise<{ campaignId: string; emails: string[] }> {
  const now = world.deps.clock.now().getTime();
  const { campaignId, stepIds } = await createCampaign(world.deps, organizationId, [{ subject: 'Hello' }], {
    name,
    status: 'active',
  });
  const emails: string[] = [];
  for (let ago = days - 1; ago >= 0; ago -= 1) {
    const clock = new ManualClock(new Date(now - ago * DAY_MS));
    const deps = { ...world.deps, clock };
    const ctx = { ...world.system(organizationId), clock };
    for (let n = 0; n < perDay(ago); n += 1) {
      const email = `person-${ago}-${n}@history.example`;
      const lead = await createSentLead(deps, organizationId, { campaignId, stepId: stepIds[0]!, mailbox, email });
      emails.push(email);
      await transact(ctx, async (tx) =>
        tx.emit('campaign.email_sent', {
          campaign_id: campaignId,
          step_id: stepIds[0]!,
          contact_id: lead.contactId,
          contact_email: email,
          email_account_id: mailbox.id,
          task_id: lead.sendId,
          message_id: null,
          sent_at: clock.now().toISOString(),
        }),
      );
      if (n === 0) {
        // Delays the open, because an immediate one would count as a machine's.
        const later = new ManualClock(new Date(clock.now().getTime() + READ_AFTER_MS));
        await recordOpens({ ...deps, clock: later }, [{ subject: lead.sendId, hit: HUMAN }], 'test');
      }
      if (n === 1 && ago % 2 === 0)
        await transact(ctx, async (tx) =>
          recordReply(tx, (await lockSubject(tx, lead.sendId))!, {
            intent: 'positive',
            confidence: 1,
            unsubscribeRequest: false,
            source: 'inbox',
            message: null,
          }),
        );
      if (n === 2 && ago === 1)
        await transact(ctx, (tx) =>
          recordSendBounce(
            tx,
            { id: lead.sendId },
            { hard: true, reason: externalText('550 5.1.1 nobody here'), source: 'dsn' },
          ),
        );
    }
  }
  await registerSubscribers(world.deps, [updateFacts]);
  await react(world.deps, [updateFacts]);
  return { campaignId, emails };
}
