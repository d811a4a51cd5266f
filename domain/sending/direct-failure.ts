import type { Columns } from '../../db/rows.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { addDeadLetter, FAILED_DIRECT_EMAIL, UNCERTAIN_EMAIL } from '../platform/dead-letters.ts';
import { settleDirectSend } from './control/direct-sends.ts';
import { releaseReservedSends } from './control/release.ts';
import type { Message } from '../../messages/index.ts';

/** Reason why a direct send failed: a code, and a message for people. */
export interface Reason {
  code: string;
  reason: Message;
}

/**
 * Fails a direct send permanently: releases its slot and creates a dead letter, so that a person can retry it. A failed
 * resend of an uncertain email makes it uncertain again.
 * @param email columns of the direct send, whose row is locked
 * @param again true for the resend of an uncertain email
 */
export async function failDirectSend(
  tx: Tx,
  { id, mailbox_id, attempts }: Columns<'direct_sends', 'id' | 'mailbox_id' | 'attempts'>,
  again: boolean,
  { code, reason }: Reason,
): Promise<'failed' | 'uncertain'> {
  const state = again ? 'uncertain' : 'failed';
  await releaseReservedSends(tx, { sendId: id });
  if (again) await tx.org.table('sends').where({ id }).update({ again: false, updated_at: tx.now });
  await settleDirectSend(tx, id, { state, code, reason });
  await addDeadLetter(tx, {
    taskId: id,
    taskType: again ? UNCERTAIN_EMAIL : FAILED_DIRECT_EMAIL,
    payload: { direct_send_id: id, mailbox_id },
    error: reason,
    attempts,
    maxAttempts: 0,
    nextRetryAt: null,
  });
  return state;
}
