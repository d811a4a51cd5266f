import { recordFacts } from '../facts/record.ts';
import { declareSubscriber } from '../reactions/subscriber.ts';

/**
 * Keeps the facts that reports read. An event only names the email that something happened to; the email is read as it is, so many events of one are one
 * look, and their order does not matter.
 */
export const keepFacts = declareSubscriber({
  name: 'keep_facts',
  types: [
    'campaign.email_sent',
    'campaign.email_opened',
    'campaign.email_clicked',
    'campaign.email_bounced',
    'campaign.reply_received',
    'campaign.unsubscribed',
    'deliverability.complaint',
    'engagement.automated',
  ],
  startsFrom: 'beginning',
  async applyBatch(tx, events) {
    await recordFacts(
      tx,
      events.flatMap(({ data }) =>
        data.task_id
          ? [
              {
                sendId: data.task_id,
                campaignId: data.campaign_id,
                stepId: 'step_id' in data ? data.step_id : null,
                mailboxId: 'email_account_id' in data ? data.email_account_id : null,
              },
            ]
          : [],
      ),
    );
  },
});
