import type { Columns } from '../../../db/rows.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { signalControl, signalLauncher } from '../control/signals.ts';

/** A stored message whose author may want to opt out. */
export interface AskingMessage {
  id: string;
  threadId: string;
}

/**
 * Creates questions for a person: do the owners of these addresses want no further emails? Until the decision they get
 * no email, except replies that a person writes in the same thread.
 */
export async function askAboutOptOut(
  tx: Tx,
  { id, threadId }: AskingMessage,
  addresses: readonly string[],
): Promise<void> {
  await tx.org.sql(
    `insert into opt_out_questions (organization_id, email, message_id, thread_id, created_at)
     select :org, lower(a.email), :message, :thread, :now from unnest(cast(:addresses as text[])) as a(email) where a.email <> ''
     on conflict do nothing`,
    { addresses: [...new Set(addresses)], message: id, thread: threadId, now: tx.now },
  );
}

/**
 * Closes the questions that a message has raised, after a person has decided. Leads that wait only for this decision
 * continue.
 * @returns the addresses of the closed questions
 */
export async function closeOptOutQuestions(tx: Tx, messageId: string): Promise<string[]> {
  const rows = await tx.org.sql<{ email: string }>(
    'delete from opt_out_questions where organization_id = :org and message_id = :message returning email',
    { message: messageId },
  );
  const addresses = rows.map(({ email }) => email);
  if (addresses.length === 0) return [];
  // Signals the contacts' workflows, which then check again if they may send.
  const leads = await tx.org.sql<Columns<'enrollments', 'campaign_id' | 'contact_id' | 'launched_at'>>(
    `select e.campaign_id, e.contact_id, e.launched_at from contacts c join enrollments e on e.contact_id = c.id
     where c.organization_id = :org and c.email = any(cast(:addresses as text[])) and e.state in ('pending', 'active')`,
    { addresses },
  );
  for (const lead of leads)
    if (lead.launched_at) signalControl(tx, lead, 'released');
    else signalLauncher(tx, lead.campaign_id, 'lead_released');
  return addresses;
}
