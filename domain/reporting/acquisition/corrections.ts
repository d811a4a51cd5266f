import type { Row } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { notFound, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { message, type Message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { readAcquisitionGoal } from './attribution.ts';

export type CorrectionRow = Row<'attribution_corrections'>;

/** A person's decision about the credit of a customer. */
interface Correction {
  /** Id of a confirmed send to the customer's contact. Null if the customer was not acquired by an email. */
  sendId: string | null;
  reason: string;
}

/**
 * Replaces the automatic credit of a customer (PUT /acquisition/attributions/:personId/correction). Repeated calls
 * change nothing.
 * @throws AppError not_found for a person who is not a customer; bad_request for a send that is not confirmed, not to
 * the customer's contact, or after the acquisition
 */
export async function correctAttribution(ctx: Ctx, personId: string, correction: Correction): Promise<CorrectionRow> {
  return transact(ctx, async (tx) => {
    const customer = await lockCustomer(tx, personId);
    const { current } = customer;
    if (current && current.send_id === correction.sendId && current.reason === correction.reason) return current;
    if (correction.sendId !== null) refuseProblems(await creditProblems(tx.org, correction.sendId, customer));
    if (current) await retire(tx, current);
    const row = await store(tx, personId, { ...correction, action: 'set' });
    tx.audit({
      action: 'update',
      entityType: 'attribution_correction',
      entityId: personId,
      changes: { send_id: { from: current?.send_id ?? null, to: correction.sendId } },
      metadata: { corrected: true },
    });
    return row;
  });
}

/**
 * Restores the automatic credit (DELETE /acquisition/attributions/:personId/correction). Changes nothing if there is no
 * correction.
 * @throws AppError not_found for a person who is not a customer
 */
export async function restoreAttribution(ctx: Ctx, personId: string, reason: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const { current } = await lockCustomer(tx, personId);
    if (!current) return;
    await retire(tx, current);
    await store(tx, personId, { action: 'restored', sendId: null, reason });
    tx.audit({
      action: 'delete',
      entityType: 'attribution_correction',
      entityId: personId,
      changes: { send_id: { from: current.send_id, to: null } },
      metadata: { corrected: false },
    });
  });
}

/**
 * Returns the reasons why a send cannot be credited with a customer, for a validation that reports all problems
 * together. Empty for a person who is not a customer.
 */
export async function correctionProblems(
  ctx: Ctx,
  personId: string,
  sendId: string | null | undefined,
): Promise<Problem[]> {
  if (!isUuid(personId) || !sendId) return [];
  const org = reader(ctx);
  const customer = await readCustomer(org, personId);
  return customer ? creditProblems(org, sendId, customer) : [];
}

interface Customer {
  contactId: string | null;
  acquiredAt: Date | null;
  current: CorrectionRow | undefined;
}

/**
 * Locks the person, so that corrections are made one after the other.
 * @throws AppError not_found
 */
async function lockCustomer(tx: Tx, personId: string): Promise<Customer> {
  if (!isUuid(personId)) throw notFound('customer');
  await tx.org.sql('select from people where organization_id = :org and id = :id for no key update', { id: personId });
  const customer = await readCustomer(tx.org, personId);
  if (!customer) throw notFound('customer');
  return customer;
}

/** Returns a customer, or a corrected person who is no longer a customer. */
async function readCustomer(org: OrgScope, personId: string): Promise<Customer | undefined> {
  const person = await org.table('people').where({ id: personId }).first('contact_id');
  const goal = await readAcquisitionGoal(org);
  const acquired = goal
    ? await org.table('acquisition_facts').where({ person_id: personId, goal_id: goal.id }).first('acquired_at')
    : undefined;
  const current = await org.table('attribution_corrections').where({ person_id: personId, is_current: true }).first();
  if (!person || (!acquired && !current)) return undefined;
  return { acquiredAt: acquired?.acquired_at ?? null, contactId: person.contact_id, current };
}

async function creditProblems(org: OrgScope, sendId: string, { contactId, acquiredAt }: Customer): Promise<Problem[]> {
  const send = isUuid(sendId)
    ? await org.table('send_facts').where({ send_id: sendId }).first('contact_id', 'sent_at')
    : undefined;
  const fault = (said: Message): Problem[] => [{ path: 'body.send_id', message: said }];
  if (!send?.sent_at) return fault(message('reporting.send_unconfirmed'));
  if (contactId === null || send.contact_id !== contactId) return fault(message('reporting.send_of_other_contact'));
  return acquiredAt === null || send.sent_at > acquiredAt ? fault(message('reporting.send_after_acquisition')) : [];
}

async function retire(tx: Tx, { id }: CorrectionRow): Promise<void> {
  await tx.org.table('attribution_corrections').where({ id }).update({ is_current: false });
}

async function store(
  tx: Tx,
  personId: string,
  { action, sendId, reason }: Correction & { action: CorrectionRow['action'] },
): Promise<CorrectionRow> {
  const [row] = await tx.org.sql<CorrectionRow>(
    `insert into attribution_corrections (id, organization_id, person_id, action, send_id, reason, is_current, corrected_by, created_at)
     values (:id, :org, :person, :action, :send, :reason, :action = 'set', :user, :now) returning *`,
    { id: newId(), person: personId, action, send: sendId, reason, user: tx.actor.userId, now: tx.now },
  );
  return row!;
}
