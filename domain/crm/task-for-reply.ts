import { openTasksForReplies } from './reply-task.ts';
import { declareSubscriber } from '../platform/events/subscriber.ts';

/**
 * Creates CRM tasks for replies to campaigns. People's replies arrive as reply events; away messages and other
 * automatic answers arrive as received emails. Each reply creates one task, in whatever order and however often its
 * events arrive.
 */
export const taskForReply = declareSubscriber({
  name: 'task_for_reply',
  types: ['campaign.reply_received', 'inbox.email_received'],
  startsFrom: 'now',
  async applyBatch(tx, events) {
    await openTasksForReplies(
      tx,
      events.flatMap(({ id, type, data }) => {
        const { campaign_id: campaignId, contact_id: contactId, intent } = data;
        if (type === 'campaign.reply_received')
          return [{ campaignId, contactId, intent, answer: data.reply_message_id ?? id }];
        const isAutomatic = data.kind === 'out_of_office' || data.kind === 'automated';
        return isAutomatic ? [{ campaignId, contactId, intent, answer: data.message_id }] : [];
      }),
    );
  },
});
