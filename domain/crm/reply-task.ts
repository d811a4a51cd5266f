import type { Columns } from '../../db/rows.ts';
import { sha256 } from '../../lib/crypto.ts';
import type { Tx } from '../kernel/transact.ts';
import { effectiveSettings } from '../records/outreach-settings.ts';
import { insertTask, type TaskPriority } from './tasks.ts';
import { isTaskType } from './task-types.ts';

/** An answer to a campaign, as its event names it. */
export interface Answer {
  campaignId: string | null;
  contactId: string | null;
  intent: string | null;
  /** The same for every telling of the same answer: its Message-ID, or the id of the event where a client reported it. */
  answer: string;
}

/** What the task is, by intent: its title before the campaign's name, and how soon it matters. */
const WORDS: Record<string, { title: string; priority: TaskPriority }> = {
  positive: { title: 'Answer an interested reply', priority: 'high' },
  question: { title: 'Answer a question', priority: 'high' },
  neutral: { title: 'Read a reply', priority: 'medium' },
  negative: { title: 'Read a negative reply', priority: 'low' },
  out_of_office: { title: 'Look at an away message', priority: 'low' },
  automated: { title: 'Look at an automatic answer', priority: 'low' },
};
const TYPE = 'Follow-up';
const MAX_TITLE = 255;

/**
 * Opens a task for an answer, where `auto_create_crm_task` is on and `crm_task_intents` has the intent, by the settings of the campaign; once
 * per answer. It is about the contact, and says nothing of them in its text, so that nothing is left of an erased contact.
 */
export async function openTaskForReply(tx: Tx, { campaignId, contactId, intent, answer }: Answer): Promise<void> {
  if (campaignId === null || contactId === null || intent === null) return;
  const { reply_intent: settings } = await effectiveSettings(tx.org, campaignId);
  const isWanted = settings.enabled && settings.auto_create_crm_task;
  if (!isWanted || !settings.crm_task_intents.some((wanted) => wanted === intent)) return;
  const [contact] = await tx.org.sql('select 1 from contacts where organization_id = :org and id = :id for key share', {
    id: contactId,
  });
  if (!contact) return;
  const [campaign] = await tx.org.sql<Columns<'campaigns', 'name'>>(
    'select name from campaigns where organization_id = :org and id = :id',
    { id: campaignId },
  );
  const { title, priority } = WORDS[intent] ?? WORDS.neutral!;
  await insertTask(
    tx,
    {
      title: (campaign ? `${title}: ${campaign.name}` : title).slice(0, MAX_TITLE),
      contact_id: contactId,
      priority,
      type: (await isTaskType(tx.org, TYPE)) ? TYPE : undefined,
    },
    `reply/${sha256(answer)}`,
  );
}
