import { openTaskForReply } from '../crm/reply-task.ts';
import { declareSubscriber } from '../reactions/subscriber.ts';

/**
 * Opens a CRM task for an answer to a campaign. People's answers come as replies; away messages and other automatic answers are no replies
 * and come as received emails. Each answer makes one task, however often it is told: the order of events does not matter.
 */
export const taskForReply = declareSubscriber({
  name: 'task_for_reply',
  types: ['campaign.reply_received', 'inbox.email_received'],
  startsFrom: 'now',
  async apply(tx, { id, type, data }) {
    if (type === 'campaign.reply_received') {
      const { campaign_id: campaignId, contact_id: contactId, intent, reply_message_id: messageId } = data;
      await openTaskForReply(tx, { campaignId, contactId, intent, answer: messageId ?? id });
      return;
    }
    const { campaign_id: campaignId, contact_id: contactId, intent, kind, message_id: messageId } = data;
    if (kind === 'out_of_office' || kind === 'automated')
      await openTaskForReply(tx, { campaignId, contactId, intent, answer: messageId });
  },
});
