import type { OrgScope } from '../../db/tenancy.ts';
import { suppressedAmong } from './suppression-check.ts';
import { message, type Message } from '../../messages/index.ts';

/** Identifies an answer that a person writes, by its conversation. */
export interface AnswerByHand {
  threadId: string;
  writtenAt: Date;
}

/**
 * Returns the addresses that must get no email, as given, each with a reason for people. Such an address is suppressed,
 * or its owner has opted out or may have asked to get no more emails.
 * @param answer an answer in a conversation that its writer has read. Doubtful requests to stop in this conversation do
 * not refuse the address
 */
export async function refusedRecipients(
  org: OrgScope,
  addresses: readonly string[],
  now: Date,
  answer?: AnswerByHand,
): Promise<Map<string, Message>> {
  const refused = new Map<string, Message>();
  if (addresses.length === 0) return refused;
  const [hits, unwilling] = await Promise.all([
    suppressedAmong(org, addresses, now),
    org.sql<{ email: string; is_asked: boolean }>(
      `select email, false as is_asked from contacts where organization_id = :org and email = any(:addresses) and not subscribed
       union all
       select email, true from opt_out_questions where organization_id = :org and email = any(:addresses)
         and (cast(:thread as text) is null or thread_id <> :thread or created_at > :written)`,
      {
        addresses: [...new Set(addresses)],
        thread: answer?.threadId ?? null,
        written: answer?.writtenAt ?? null,
      },
    ),
  ]);
  for (const { email, is_asked: isAsked } of unwilling)
    refused.set(email, isAsked ? message('directory.may_opt_out') : message('directory.opted_out'));
  for (const [address, { source }] of hits)
    refused.set(address, message('directory.suppressed', { source: message(`suppression_source.${source}`) }));
  return refused;
}
