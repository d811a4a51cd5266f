import { across } from '../../../db/across.ts';
import type { Db } from '../../../db/connection.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { confirmSent } from '../../sending/outcomes/confirm-sent.ts';
import { sendUncertainAgain } from '../../sending/replay.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { replayDeadLetter, UNCERTAIN_EMAIL } from '../../platform/dead-letters.ts';
import { message, type Message } from '../../../messages/index.ts';

/** An email that may have been sent. Contains ids only, no address. */
interface UncertainEmail {
  id: string;
  organization_id: string;
  campaign_id: string | null;
  contact_id: string | null;
  step_id: string | null;
  mailbox_id: string | null;
  message_id: string | null;
  claimed_at: Date | null;
  /** True if a person has requested to send it again and it waits for a slot. */
  again: boolean;
  /** Reason why the result is unknown. */
  reason: Message | null;
}

const MAX_LISTED = 1_000;

/** Lists uncertain emails of all organizations, oldest first, at most a thousand. */
export async function listUncertain(db: Db): Promise<UncertainEmail[]> {
  return across(db, 'operator').sql<UncertainEmail>(
    `select id, organization_id, campaign_id, contact_id, step_id, mailbox_id, message_id, claimed_at, again, error_detail as reason
     from sends where state = 'uncertain' order by claimed_at limit :limit`,
    { limit: MAX_LISTED },
  );
}

/**
 * Stores an operator's decision about an uncertain email: marks it as sent, or sends it again under the same
 * Message-ID.
 * @throws AppError not_found; conflict when it is not uncertain or must not be resent
 */
export async function settleUncertain(deps: Deps, id: string, as: 'sent' | 'again'): Promise<void> {
  const send = isUuid(id)
    ? await across(deps.db, 'operator').table('sends').where({ id }).first('organization_id')
    : undefined;
  if (!send) throw notFound('email');
  await transact(systemCtx(deps, send.organization_id, 'operator'), async (tx) => {
    if (as === 'again') {
      await sendUncertainAgain(tx, id);
      await replayDeadLetter(tx, UNCERTAIN_EMAIL, id);
    } else if (!(await confirmSent(tx, id, message('sent.operator_says'))))
      throw new AppError('conflict', message('task.not_uncertain_any_more'));
    tx.audit({ action: 'send.settled', entityType: 'send', entityId: id, metadata: { as } });
  });
}
