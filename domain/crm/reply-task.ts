import type { Columns } from '../../db/rows.ts';
import { sha256 } from '../../lib/crypto.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { readTaskTypes } from '../sending/campaign/crm-actions.ts';
import { effectiveSettings } from '../sending/campaign/outreach-settings.ts';
import { changeTask, insertTask, taskTexts, type TaskPriority } from './tasks.ts';
import { taskTypeNamed, usualTaskType } from './task-types.ts';
import { message, type Message } from '../../messages/index.ts';

/** A reply to a campaign, as read from its event. */
interface Answer {
  campaignId: string | null;
  contactId: string | null;
  intent: string | null;
  /**
   * Id of the reply that is the same in all its events. This is its Message-ID, or the event's id if an API client
   * reported the reply.
   */
  answer: string;
}

/** Title and priority of the task for each intent. The campaign's name follows the title. */
const TASKS: Record<string, { title: Message; priority: TaskPriority }> = {
  positive: { title: message('crm.task_positive'), priority: 'high' },
  question: { title: message('crm.task_question'), priority: 'high' },
  neutral: { title: message('crm.task_neutral'), priority: 'medium' },
  negative: { title: message('crm.task_negative'), priority: 'low' },
  out_of_office: { title: message('crm.task_out_of_office'), priority: 'low' },
  automated: { title: message('crm.task_automated'), priority: 'low' },
};
const TYPE = 'Follow-up';

/**
 * Creates tasks for replies, once per reply. The settings of the campaign must have `auto_create_crm_task` on and list
 * the reply's intent in `crm_task_intents`. The texts of the tasks do not name the contact, so that they contain no
 * personal data after the contact is erased.
 */
export async function openTasksForReplies(tx: Tx, answers: readonly Answer[]): Promise<void> {
  const wanted = await withoutTask(tx, await wantedAnswers(tx, answers));
  if (wanted.length === 0) return;
  const contacts = await tx.org.sql<Columns<'contacts', 'id'>>(
    'select id from contacts where organization_id = :org and id = any(cast(:ids as uuid[])) order by id for key share',
    { ids: wanted.map(({ contactId }) => contactId) },
  );
  const campaigns = await tx.org.sql<Columns<'campaigns', 'id' | 'name'>>(
    'select id, name from campaigns where organization_id = :org and id = any(cast(:ids as uuid[]))',
    { ids: wanted.map(({ campaignId }) => campaignId) },
  );
  const there = new Set(contacts.map(({ id }) => id));
  const names = new Map(campaigns.map(({ id, name }) => [id, name]));
  const types = await readTaskTypes(tx.org);
  const type = taskTypeNamed(types, TYPE) ?? usualTaskType(types);
  for (const { campaignId, contactId, intent, source } of wanted) {
    if (!there.has(contactId)) continue;
    const task = { ...textOf(intent, names.get(campaignId)), contact_id: contactId, type };
    await insertTask(tx, task, source);
  }
}

/**
 * Updates the task of a reply whose intent was corrected. The task gets the title and priority of the new intent. It is
 * cancelled if the settings require no task for that intent. A task that a person has begun or completed stays
 * unchanged. A reply without a task gets one if the settings require it.
 */
export async function retitleTaskOfReply(tx: Tx, answer: Answer): Promise<void> {
  const source = sourceOf(answer);
  const task = await tx.org.table('crm_tasks').where({ source }).forNoKeyUpdate().first();
  if (!task) return openTasksForReplies(tx, [answer]);
  const [wanted] = (await wantedAnswers(tx, [answer])).values();
  if (!wanted) {
    if (task.status === 'pending') await changeTask(tx, task, { status: 'cancelled' });
    return;
  }
  if (task.status !== 'pending' && task.status !== 'cancelled') return;
  const campaign = await tx.org.table('campaigns').where({ id: wanted.campaignId }).first('name');
  await changeTask(tx, task, { ...textOf(wanted.intent, campaign?.name), status: 'pending' });
}

function textOf(
  intent: string,
  campaign: string | undefined,
): ReturnType<typeof taskTexts> & { priority: TaskPriority } {
  const { title, priority } = TASKS[intent] ?? TASKS.neutral!;
  return { ...taskTexts(campaign ? message('crm.task_of_campaign', { title, campaign }) : title), priority };
}

function sourceOf({ answer }: Pick<Answer, 'answer'>): string {
  return `reply/${sha256(answer)}`;
}

/** A reply for which a task is needed, with the data of the task. */
interface WantedAnswer {
  campaignId: string;
  contactId: string;
  intent: string;
  source: string;
}

/**
 * Returns the replies for which the settings of their campaigns require a task. If a reply has several events, only the
 * first is returned.
 */
async function wantedAnswers(tx: Tx, answers: readonly Answer[]): Promise<Map<string, WantedAnswer>> {
  const wanted = new Map<string, WantedAnswer>();
  const intentsOf = new Map<string, readonly string[]>();
  for (const { campaignId, contactId, intent, answer } of answers) {
    if (campaignId === null || contactId === null || intent === null) continue;
    const intents = intentsOf.get(campaignId) ?? (await taskIntents(tx, campaignId));
    intentsOf.set(campaignId, intents);
    const source = sourceOf({ answer });
    if (intents.includes(intent) && !wanted.has(source)) wanted.set(source, { campaignId, contactId, intent, source });
  }
  return wanted;
}

async function taskIntents(tx: Tx, campaignId: string): Promise<readonly string[]> {
  const { reply_intent: settings } = await effectiveSettings(tx.org, campaignId);
  return settings.enabled && settings.auto_create_crm_task ? settings.crm_task_intents : [];
}

async function withoutTask(tx: Tx, wanted: ReadonlyMap<string, WantedAnswer>): Promise<WantedAnswer[]> {
  if (wanted.size === 0) return [];
  const rows = await tx.org.sql<{ source: string }>(
    'select source from crm_tasks where organization_id = :org and source = any(cast(:sources as text[]))',
    { sources: [...wanted.keys()] },
  );
  const known = new Set(rows.map(({ source }) => source));
  return [...wanted.values()].filter(({ source }) => !known.has(source));
}
