import { foldGroups } from './groups.ts';
import { recordPeople } from './record-people.ts';
import { recordFacts } from './record.ts';
import { recordVisits } from './visits.ts';
import { declareSubscriber } from '../../platform/events/subscriber.ts';

/**
 * Updates the facts for reports. An event only names the email, person or contact that changed, and its current state
 * is then read. Therefore several events of one email need one read, and their order does not matter.
 */
export const updateFacts = declareSubscriber({
  name: 'keep_facts',
  types: [
    'campaign.email_sent',
    'campaign.email_opened',
    'campaign.email_clicked',
    'campaign.email_bounced',
    'campaign.reply_received',
    'inbox.reply_classified',
    'campaign.unsubscribed',
    'deliverability.bounce',
    'deliverability.complaint',
    'engagement.counted',
    'person.changed',
    'contact.updated',
    'contact.deleted',
  ],
  startsFrom: 'beginning',
  async applyBatch(tx, events) {
    const emails = events.flatMap(({ data }) =>
      'task_id' in data && data.task_id && !isFirstReading(data)
        ? [
            {
              sendId: data.task_id,
              campaignId: data.campaign_id,
              stepId: 'step_id' in data ? data.step_id : null,
              mailboxId: 'email_account_id' in data ? data.email_account_id : null,
            },
          ]
        : [],
    );
    const { prospectIds } = await recordFacts(tx, emails);
    await recordVisits(
      tx,
      events.flatMap(({ type, data }) => (VISITS.has(type) && 'task_id' in data && data.task_id ? [data.task_id] : [])),
    );
    const isContactGone = events.some(({ type }) => type === 'contact.deleted');
    await recordPeople(tx, {
      prospectIds,
      sendIds: events.flatMap(({ type, data }) =>
        MEETS_PEOPLE.has(type) && 'task_id' in data && data.task_id ? [data.task_id] : [],
      ),
      personIds: events.flatMap(({ data }) => ('person_ids' in data ? data.person_ids : [])),
      contactIds: events.flatMap(({ type, data }) =>
        type === 'contact.updated' && 'entity_id' in data ? [data.entity_id] : [],
      ),
      isContactGone,
    });
    if (isContactGone) await foldGroups(tx);
  },
});

/**
 * Returns true for the event of a reply's first classification. It is skipped, because campaign.reply_received already
 * updates the facts.
 */
function isFirstReading(data: object): boolean {
  return 'corrected' in data && data.corrected === false;
}

const VISITS: ReadonlySet<string> = new Set(['campaign.email_opened', 'campaign.email_clicked']);

/**
 * Email events after which the facts of people and their colleagues are updated. Other email events only change
 * milestones of a prospect.
 */
const MEETS_PEOPLE: ReadonlySet<string> = new Set(['campaign.email_sent', 'campaign.reply_received']);
