import { across } from '../../../db/across.ts';
import type { Trx } from '../../../db/connection.ts';
import type { Row } from '../../../db/rows.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { AppError } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { signalOpen, start, writeIntents } from '../../../temporal/dispatch.ts';
import { deletionWorkflow } from '../../../workflows/deletion/contract.ts';

export type DeletionRow = Row<'deletions'>;

/** Time (ms) between the request for a deletion and the erasure. */
const GRACE_MS = 14 * DAY_MS;

/**
 * Delay (ms) before the next attempt of a deletion that cannot continue until people act, such as by adding another
 * owner.
 */
export const PEOPLE_MS = DAY_MS;

/** A person who receives emails about a deletion. */
export interface Addressee {
  email: string;
  language: string | null;
}

/** Event of a deletion about which people receive an email. */
type Moment = Row<'deletion_mails'>['moment'];

interface Requested {
  kind: DeletionRow['kind'];
  subjectId: string;
  requestedBy: string | null;
  now: Date;
  /** Name of the workspace. Empty for an account. */
  name: string;
  addressees: readonly Addressee[];
  /** Deletion of the account together with which the workspace is deleted. */
  withAccount?: DeletionRow;
}

/**
 * Stores a deletion with its first emails, and starts its workflow when the open transaction is committed. A workspace
 * that is deleted with an account is erased at the same time as the account.
 */
export async function insertDeletion(trx: Trx, requested: Requested): Promise<DeletionRow> {
  const { kind, subjectId, requestedBy, now, name, addressees, withAccount } = requested;
  const [deletion] = await across(trx, 'person')
    .insert('deletions', {
      id: newId(),
      kind,
      subject_id: subjectId,
      requested_by: requestedBy,
      with_account: withAccount?.id ?? null,
      scheduled_at: now,
      scheduled_for: withAccount?.scheduled_for ?? new Date(now.getTime() + GRACE_MS),
    })
    .returning('*');
  await across(trx, 'person')
    .table(kind === 'workspace' ? 'organizations' : 'users')
    .where({ id: subjectId })
    .update({ deletion_scheduled_at: now, deletion_scheduled_for: deletion!.scheduled_for });
  await addMails(trx, deletion!, 'scheduled', { name, addressees });
  await writeIntents(trx, [start(deletionWorkflow, { deletionId: deletion!.id })]);
  return deletion!;
}

/** Stores the emails about one event of a deletion. The deletion's workflow sends them. */
export async function addMails(
  trx: Trx,
  { id }: Pick<DeletionRow, 'id'>,
  moment: Moment,
  { name, addressees }: { name: string; addressees: readonly Addressee[] },
): Promise<void> {
  if (addressees.length === 0) return;
  await across(trx, 'person')
    .insert(
      'deletion_mails',
      addressees.map(({ email, language }) => ({ id: newId(), deletion_id: id, moment, name, email, language })),
    )
    .onConflict(['deletion_id', 'moment', 'email'])
    .ignore();
}

/** Finds and locks the deletion of a workspace or an account that is scheduled or in progress. */
export async function lockOpenDeletion(trx: Trx, subjectId: string): Promise<DeletionRow | undefined> {
  return across(trx, 'person')
    .table('deletions')
    .where({ subject_id: subjectId })
    .whereIn('state', ['scheduled', 'erasing'])
    .forUpdate()
    .first();
}

/** Locks and returns a deletion. Returns undefined if it was cancelled or its erasure has begun. */
export async function lockScheduled(trx: Trx, { id }: Pick<DeletionRow, 'id'>): Promise<DeletionRow | undefined> {
  return across(trx, 'person').table('deletions').where({ id, state: 'scheduled' }).forUpdate().first();
}

/**
 * Cancels a scheduled deletion, whose row is locked, and ends its workflow. Work that the request stopped is not
 * started again.
 */
export async function callBack(trx: Trx, { id, kind, subject_id: subjectId }: DeletionRow): Promise<void> {
  await across(trx, 'person').table('deletions').where({ id }).update({ state: 'called_back' });
  await across(trx, 'person').table('deletion_mails').where({ deletion_id: id }).delete();
  await across(trx, 'person')
    .table(kind === 'workspace' ? 'organizations' : 'users')
    .where({ id: subjectId })
    .update({ deletion_scheduled_at: null, deletion_scheduled_for: null });
  await writeIntents(trx, [signalOpen(deletionWorkflow, { deletionId: id }, 'changed', { cause: 'called_back' })]);
}

/** Returns true for a conflict error, which only people can resolve. */
export function isConflict(error: unknown): true {
  if (error instanceof AppError && error.code === 'conflict') return true;
  throw error;
}

/** Returns the owners of a workspace. */
export function ownersOf(trx: Trx, organizationId: string): Promise<Addressee[]> {
  return across(trx, 'person').sql<Addressee>(
    `select u.email, u.language from memberships m join roles r on r.id = m.role_id join users u on u.id = m.user_id
     where m.organization_id = :organizationId and r.is_owner order by u.email`,
    { organizationId },
  );
}

/** Returns the name of a deletion's workspace, and its owners. */
export async function workspaceOf(
  trx: Trx,
  { subject_id: id }: DeletionRow,
): Promise<{ name: string; addressees: Addressee[] }> {
  const found = await across(trx, 'maintenance').table('organizations').where({ id }).first('name');
  return { name: found?.name ?? '', addressees: await ownersOf(trx, id) };
}
