import { DateTime } from 'luxon';
import type { Columns } from '../../db/rows.ts';
import type { EventData } from '../platform/kernel/event-payloads.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { readTaskTypes } from '../sending/campaign/crm-actions.ts';
import { insertTask, taskTexts } from './tasks.ts';
import { usualTaskType } from './task-types.ts';
import { message } from '../../messages/index.ts';

/**
 * Opens a task for each reply that requests erasure of personal data. It is due a month after the reply was received
 * (GDPR, article 12(3)). Deleting the contact completes the task (`domain/directory/erase-traces.ts`). For a doubtful
 * request, a person must first decide.
 */
export async function openErasureTasks(
  tx: Tx,
  classified: readonly EventData<'inbox.reply_classified'>[],
): Promise<void> {
  const requests = classified.filter((one) => one.opt_out_force === 'erase' && !one.asks_to_stop);
  if (requests.length === 0) return;
  const type = usualTaskType(await readTaskTypes(tx.org));
  for (const { email_id: id, contact_id: contactId, received_at: receivedAt } of requests) {
    const [contact] = await tx.org.sql<Columns<'contacts', 'id'>>(
      'select id from contacts where organization_id = :org and id = :id for key share',
      { id: contactId },
    );
    const received = receivedAt ? DateTime.fromISO(receivedAt, { zone: 'utc' }) : DateTime.fromJSDate(tx.now);
    const task = {
      ...taskTexts(message('crm.task_erasure'), message('crm.task_erasure.description')),
      contact_id: contact?.id ?? null,
      due_date: received.plus({ months: 1 }).toJSDate(),
      priority: 'urgent' as const,
      type,
    };
    await insertTask(tx, task, `erasure/${id}`);
  }
}
