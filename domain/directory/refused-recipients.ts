import type { OrgScope } from '../../db/tenancy.ts';
import { suppressedAmong } from './suppression-check.ts';
import { message, type Message } from '../../messages/index.ts';

/**
 * Returns the addresses that must get no email, as given, each with a reason for people: suppressed, or of a contact
 * who has opted out.
 */
export async function refusedRecipients(
  org: OrgScope,
  addresses: readonly string[],
  now: Date,
): Promise<Map<string, Message>> {
  const refused = new Map<string, Message>();
  if (addresses.length === 0) return refused;
  const [hits, optedOut] = await Promise.all([
    suppressedAmong(org, addresses, now),
    org.sql<{ email: string }>(
      `select email from contacts where organization_id = :org and email = any(:addresses) and not subscribed`,
      { addresses: [...new Set(addresses)] },
    ),
  ]);
  for (const { email } of optedOut) refused.set(email, message('directory.opted_out'));
  for (const [address, { source }] of hits) refused.set(address, message('directory.suppressed', { source }));
  return refused;
}
