import type { Columns } from '../../../db/rows.ts';
import { INTENT_OF_KIND, type ReplyKind } from '../../mail/inbound/intent.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { recipientZone } from '../../platform/scheduling/recipient-zone.ts';
import { effectiveSettings } from '../campaign/outreach-settings.ts';
import { holdWhileAway, releaseFromAway } from './hold-while-away.ts';
import { recordUnsubscribe } from './effects.ts';
import { findWriter, otherThan } from './opt-out-by-mail.ts';
import { countReply, followReply, isHumanIntent } from './reply.ts';
import type { ReceivedFacts, Subject } from './subject.ts';
import { optedOutBy, withdrawOptOut } from './withdraw-opt-out.ts';

/** A received message whose kind a person corrects. Its row is locked. */
export interface CorrectedMessage extends Columns<
  'inbound_messages',
  'id' | 'from_name' | 'body_plain' | 'intent' | 'answer' | 'corrected_kind'
> {
  facts: ReceivedFacts;
  /** Ids of the message and of its copies in other mailboxes. */
  copies: readonly string[];
  /** Addresses for which the message raised an opt-out question. */
  asked: readonly string[];
}

/**
 * Applies the kind that a person gave to a received message, and reverts the effects of the earlier classification:
 * suppression, counts and holds. A sequence that has ended stays ended. Repeated calls change nothing.
 *
 * @param subject the locked email that the message answers; its `send` is null if the message answers none
 */
export async function applyCorrection(
  tx: Tx,
  subject: Subject,
  corrected: CorrectedMessage,
  kind: ReplyKind,
): Promise<void> {
  const { facts, copies } = corrected;
  const intent = INTENT_OF_KIND[kind];
  if (kind !== 'opt_out') await withdrawOptOut(tx, subject, facts.fromEmail, copies);
  if (intent !== 'out_of_office' && corrected.intent === 'out_of_office' && subject.contactId)
    await releaseFromAway(tx, subject.contactId);
  await recount(tx, subject, corrected, intent);
  if (kind === 'opt_out') return optOut(tx, subject, corrected);
  if (intent === corrected.intent) return undefined;
  if (intent === 'out_of_office') return holdAway(tx, subject, corrected);
  if (!isHumanIntent(intent)) return undefined;
  await followReply(tx, subject, { intent, unsubscribeRequest: false, message: facts });
  return undefined;
}

/** Changes the counts of replies to match the message's new kind. */
async function recount(
  tx: Tx,
  subject: Subject,
  { copies, facts, intent: before }: CorrectedMessage,
  intent: string,
): Promise<void> {
  const { send } = subject;
  if (!send) return;
  const bindings = { send: send.id, copies: [...copies] };
  if (!isHumanIntent(intent)) {
    await tx.org.sql(
      `delete from engagement_events where organization_id = :org and send_id = :send and type = 'reply' and detail ->> 'email_id' = any(cast(:copies as text[]))`,
      bindings,
    );
    await tx.org.sql(
      `update sends s set updated_at = :now, replied_at =
         (select min(e.at) from engagement_events e where e.organization_id = :org and e.send_id = s.id and e.type = 'reply')
       where s.organization_id = :org and s.id = :send`,
      { send: send.id, now: tx.now },
    );
    return;
  }
  const counted = await tx.org.sql(
    `update engagement_events set detail = detail || jsonb_build_object('intent', cast(:intent as text))
     where organization_id = :org and send_id = :send and type = 'reply' and detail ->> 'email_id' = any(cast(:copies as text[])) returning id`,
    { ...bindings, intent },
  );
  if (counted.length === 0 && !isHumanIntent(before))
    await countReply(tx, subject, { intent, source: 'inbox', message: facts, at: facts.receivedAt });
}

/**
 * Suppresses the sender of the message and the addresses of its opt-out question, one by one, so that each can be
 * reverted.
 */
async function optOut(
  tx: Tx,
  subject: Subject,
  { facts, from_name, body_plain, asked, copies }: CorrectedMessage,
): Promise<void> {
  const { fromEmail } = facts;
  const done = await optedOutBy(tx, [fromEmail, subject.email, ...asked], copies);
  const authors = fromEmail === '' ? [] : [fromEmail];
  const message = { authors, relatedAddresses: [], fromName: from_name };
  const { isRecipient } = await findWriter(tx, subject, message, body_plain);
  const wanted = new Set([...authors, ...asked, ...(isRecipient ? [subject.email] : [])]);
  for (const address of wanted) {
    if (address === '' || done.has(address)) continue;
    const who = address === subject.email ? subject : otherThan(subject, address);
    await recordUnsubscribe(tx, who, 'reply', facts.id);
  }
}

async function holdAway(tx: Tx, subject: Subject, { facts, answer }: CorrectedMessage): Promise<void> {
  if (!subject.contactId) return;
  const { send_time_optimization: settings } = await effectiveSettings(tx.org, subject.campaignId);
  const [contact] = await tx.org.sql<{ timezone: string | null }>(
    `select custom_fields ->> 'timezone' as timezone from contacts where organization_id = :org and id = :id`,
    { id: subject.contactId },
  );
  const { timezone } = recipientZone(contact?.timezone ?? null, subject.email, settings.default_contact_timezone);
  const returnDate = answer?.kind === 'out_of_office' && answer.until ? new Date(answer.until) : null;
  await holdWhileAway(tx, subject.contactId, {
    messageId: facts.id,
    receivedAt: facts.receivedAt,
    returnDate,
    timezone,
  });
}
