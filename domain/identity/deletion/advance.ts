import { across } from '../../../db/across.ts';
import { json } from '../../../db/connection.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { DAY_MS, MINUTE_MS } from '../../../lib/clock.ts';
import type { DeletionTurn } from '../../../workflows/deletion/contract.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { beginWorkspace, stopStarted } from './begin-workspace.ts';
import { beginAccount, finishAccount } from './erase-account.ts';
import { addMails, lockScheduled, workspaceOf, type Addressee, type DeletionRow } from './deletions.ts';
import { eraseOrganizationRow, erasePages } from './erase-organization.ts';
import { forgetMails, sendMails } from './mails.ts';

/** Time (ms) before the erasure at which the affected people are reminded by email. */
const REMINDER_MS = DAY_MS;
/**
 * Time (ms) after the request for a deletion. By then, all other requests that were accepted before it have finished.
 */
const SETTLED_MS = MINUTE_MS;
/** Delay (ms) before an email that the mail server temporarily refused is sent again. */
const MAIL_RETRY_MS = 10 * MINUTE_MS;
/** Maximum time (ms) for which sending the last emails is tried. After that, the recipients' addresses are erased. */
const LAST_MAILS_MS = 3 * DAY_MS;

/**
 * Executes the next step of a deletion: sends emails, waits for the scheduled time, or erases some pages. The
 * deletion's row is locked both by its cancellation and by the start of the erasure, so only one of them can succeed.
 * @param signal stops the erasure between two pages
 * @throws Error when the work itself fails
 */
export async function advanceDeletion(deps: Deps, deletionId: string, signal: AbortSignal): Promise<DeletionTurn> {
  const deletion = await across(deps.db, 'maintenance').table('deletions').where({ id: deletionId }).first();
  if (!deletion) return { kind: 'done', why: 'the deletion is gone' };
  switch (deletion.state) {
    case 'called_back':
      return { kind: 'done', why: 'called back' };
    case 'scheduled':
      return awaitDate(deps, deletion);
    case 'erasing':
      return erase(deps, deletion, signal);
    case 'done':
      return end(deps, deletion);
  }
}

/**
 * Sends due emails, stops work that was started in the meantime, and waits for the reminder or the scheduled time.
 * Begins the erasure at the scheduled time.
 */
async function awaitDate(deps: Deps, deletion: DeletionRow): Promise<DeletionTurn> {
  const now = deps.clock.now().getTime();
  const dueAt = deletion.scheduled_for.getTime();
  if (now >= dueAt) return begin(deps, deletion);
  const remindAt = dueAt - REMINDER_MS;
  const moments = [remindAt, dueAt];
  if (deletion.kind === 'workspace') {
    await stopStarted(deps, deletion);
    moments.push(deletion.scheduled_at.getTime() + SETTLED_MS);
  }
  if (now >= remindAt && !deletion.is_reminded) await remind(deps, deletion);
  const isMailed = await sendMails(deps, deletion);
  const next = Math.min(...moments.filter((at) => now < at));
  return {
    kind: 'wait',
    wakeAt: isMailed ? next : Math.min(next, now + MAIL_RETRY_MS),
    why: isMailed ? 'the date of the deletion' : 'the mail server',
  };
}

function remind({ db }: Deps, deletion: DeletionRow): Promise<void> {
  return inTransaction(db, async (trx) => {
    const [open] = await across(trx, 'maintenance')
      .table('deletions')
      .where({ id: deletion.id, state: 'scheduled' })
      .update({ is_reminded: true })
      .returning('id');
    if (!open) return;
    const found =
      deletion.kind === 'workspace'
        ? await workspaceOf(trx, deletion)
        : { name: '', addressees: await personOf(trx, deletion) };
    await addMails(trx, deletion, 'reminder', found);
  });
}

type Handle = Parameters<Parameters<typeof inTransaction>[1]>[0];

async function personOf(trx: Handle, deletion: DeletionRow): Promise<Addressee[]> {
  const person = await across(trx, 'maintenance')
    .table('users')
    .where({ id: deletion.subject_id })
    .first('email', 'language');
  return person ? [person] : [];
}

/** Begins the erasure, unless the deletion was cancelled in the meantime. */
async function begin(deps: Deps, deletion: DeletionRow): Promise<DeletionTurn> {
  if (deletion.kind === 'workspace') return beginWorkspace(deps, deletion);
  const wait = await beginAccount(deps, deletion);
  if (wait) return wait;
  return inTransaction(deps.db, async (trx) => {
    if (!(await lockScheduled(trx, deletion))) return { kind: 'more' };
    await across(trx, 'maintenance').table('deletions').where({ id: deletion.id }).update({ state: 'erasing' });
    await addMails(trx, deletion, 'done', { name: '', addressees: await personOf(trx, deletion) });
    return { kind: 'more', why: 'erasing the account' };
  });
}

async function erase(deps: Deps, deletion: DeletionRow, signal: AbortSignal): Promise<DeletionTurn> {
  if (deletion.kind === 'account') {
    const wait = await finishAccount(deps, deletion);
    if (wait) return wait;
  } else {
    // Ends the workflows first, because they write data. A later step ends the workflows that were started in the
    // meantime.
    const ended = await deps.workflows.endRunsOf(deletion.subject_id, 'the workspace is deleted');
    const position = await erasePages(deps.db, deletion.subject_id, deletion.position, signal);
    await across(deps.db, 'maintenance')
      .table('deletions')
      .where({ id: deletion.id })
      .update({ position: position && json(position) });
    if (position || ended > 0) return { kind: 'more', why: 'erasing the workspace' };
    await inTransaction(deps.db, (trx) => eraseOrganizationRow(trx, deletion.subject_id));
  }
  await across(deps.db, 'maintenance')
    .table('deletions')
    .where({ id: deletion.id })
    .update({ state: 'done', erased_at: deps.clock.now() });
  deps.log.info({ deletionId: deletion.id, kind: deletion.kind, subjectId: deletion.subject_id }, 'a deletion is done');
  return { kind: 'more' };
}

/** Sends the last emails, and then erases the recipients' addresses. */
async function end(deps: Deps, deletion: DeletionRow): Promise<DeletionTurn> {
  const now = deps.clock.now().getTime();
  const isMailed = await sendMails(deps, deletion);
  if (!isMailed && now < deletion.erased_at!.getTime() + LAST_MAILS_MS)
    return { kind: 'wait', wakeAt: now + MAIL_RETRY_MS, why: 'the mail server' };
  await forgetMails(deps, deletion);
  return { kind: 'done', why: 'erased' };
}
