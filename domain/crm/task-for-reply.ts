import { openErasureTasks } from './erasure-task.ts';
import { openTasksForReplies, retitleTaskOfReply } from './reply-task.ts';
import { declareSubscriber } from '../platform/events/subscriber.ts';

/**
 * Creates CRM tasks for replies to campaigns. Handles the events of people's replies, and the events of received emails
 * for away messages and other automatic replies. Creates one task for each reply, regardless of the order and number of
 * its events. If the classification of a reply is corrected, its task changes. For a request to erase data, creates a
 * task with the legal deadline.
 */
export const taskForReply = declareSubscriber({
  name: 'task_for_reply',
  types: ['campaign.reply_received', 'inbox.email_received', 'inbox.reply_classified'],
  startsFrom: 'now',
  async applyBatch(tx, events) {
    await openTasksForReplies(
      tx,
      events.flatMap(({ id, type, data }) => {
        if (type === 'inbox.reply_classified') return [];
        const { campaign_id: campaignId, contact_id: contactId, intent } = data;
        if (type === 'campaign.reply_received')
          return [{ campaignId, contactId, intent, answer: data.reply_message_id ?? id }];
        const isAutomatic = data.kind === 'out_of_office' || data.kind === 'automated';
        return isAutomatic ? [{ campaignId, contactId, intent, answer: data.message_id }] : [];
      }),
    );
    const classified = events.flatMap((event) => (event.type === 'inbox.reply_classified' ? [event.data] : []));
    for (const { corrected, campaign_id: campaignId, contact_id: contactId, intent, ...data } of classified)
      if (corrected)
        await retitleTaskOfReply(tx, { campaignId, contactId, intent, answer: data.reply_message_id ?? data.email_id });
    await openErasureTasks(tx, classified);
  },
});
