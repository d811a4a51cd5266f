import type { Columns } from '../../../db/rows.ts';
import { isCompanyDomain } from '../../../lib/free-mail.ts';
import { message } from '../../../messages/index.ts';
import { hostOf } from '../../directory/suppression-check.ts';
import { declareSubscriber } from '../../platform/events/subscriber.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { finishEnrollments } from '../control/finish.ts';
import { isHumanIntent } from './reply.ts';

/** An answer that may end the sequence for other contacts at the same company. */
interface CompanyReply {
  campaignId: string;
  email: string;
  isPositiveOrOptOut: boolean;
}

/**
 * Ends a campaign's sequence for all contacts at the company of a person who replied, if `stop_on_company_reply` is on.
 * Addresses of free mail providers name no company. Repeated calls change nothing, so the order of events does not
 * matter.
 */
export const stopCompany = declareSubscriber({
  name: 'stop_company',
  types: ['campaign.reply_received', 'campaign.unsubscribed', 'inbox.reply_classified'],
  startsFrom: 'now',
  async applyBatch(tx, events) {
    const replies = events.flatMap(({ type, data }): CompanyReply[] => {
      const { campaign_id: campaignId, contact_email: email } = data;
      if (campaignId === null || !isCompanyDomain(hostOf(email))) return [];
      if (type === 'campaign.unsubscribed')
        return data.source === 'reply' ? [{ campaignId, email, isPositiveOrOptOut: true }] : [];
      if (!isHumanIntent(data.intent) || (type === 'inbox.reply_classified' && !data.corrected)) return [];
      return [{ campaignId, email, isPositiveOrOptOut: data.intent === 'positive' }];
    });
    const ids: string[] = [];
    for (const reply of replies) ids.push(...(await findColleagues(tx, reply)));
    await finishEnrollments(tx, [...new Set(ids)], 'replied', { reason: message('ended.company_replied') });
  },
});

/**
 * Returns open leads of the campaign at the company of a person who replied, if the campaign's setting applies to the
 * reply.
 */
async function findColleagues(tx: Tx, { campaignId, email, isPositiveOrOptOut }: CompanyReply): Promise<string[]> {
  const leads = await tx.org.sql<Columns<'enrollments', 'id'>>(
    `select e.id from campaigns k
     join contacts c on c.organization_id = :org and split_part(c.email, '@', -1) = :domain and c.email <> :email
     join enrollments e on e.contact_id = c.id and e.campaign_id = k.id and e.state in ('pending', 'active')
     where k.organization_id = :org and k.id = :campaign
       and (k.stop_on_company_reply = 'any' or (k.stop_on_company_reply = 'positive_or_opt_out' and :decided))`,
    { campaign: campaignId, domain: hostOf(email), email, decided: isPositiveOrOptOut },
  );
  return leads.map(({ id }) => id);
}
