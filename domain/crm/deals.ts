import { created, deleted } from '../platform/changes.ts';
import type { Changes, Row } from '../../db/rows.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { fromMinorUnits, scaledOf, exactMinorUnits } from '../../lib/money.ts';
import { AppError, notFound, refuseProblems, type Problem } from '../../lib/errors.ts';
import { isUuid, newId } from '../../lib/ids.ts';
import { message } from '../../messages/index.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import type { EventData } from '../platform/kernel/event-payloads.ts';
import { reader, transact, type Tx } from '../platform/kernel/transact.ts';
import { assertUnchanged } from '../platform/assert-unchanged.ts';
import { DEFAULT_CURRENCY } from '../sending/campaign/crm-actions.ts';
import { recordActivities, type Activity } from './activities.ts';
import { referenceProblems } from './references.ts';

export type DealRow = Row<'crm_deals'>;
export const DEAL_STATUSES = ['open', 'won', 'lost'] as const;
export type DealStatus = (typeof DEAL_STATUSES)[number];

/** Editable fields of a deal. Undefined leaves a field unchanged, null clears it. */
interface DealEdit {
  stage_id?: string | undefined;
  contact_id?: string | null | undefined;
  name?: string | undefined;
  /** Value in major units, such as 19.99. */
  value?: number | null | undefined;
  /** ISO 4217 code in upper case. */
  currency?: string | undefined;
  status?: DealStatus | undefined;
  expected_close_date?: Date | null | undefined;
  lost_reason?: string | null | undefined;
  assigned_to?: string | null | undefined;
}

/** Fields of a new deal. Its status is `open`. */
export interface NewDeal extends Omit<DealEdit, 'status' | 'lost_reason'> {
  pipeline_id: string;
  stage_id: string;
  name: string;
  campaign_id?: string | null | undefined;
  source_mailbox_id?: string | null | undefined;
}

/** Returns one deal. @throws AppError not_found */
export async function readDeal(ctx: Ctx, id: string): Promise<DealRow> {
  const deal = isUuid(id) ? await reader(ctx).table('crm_deals').where({ id }).first() : undefined;
  if (!deal) throw notFound('deal');
  return deal;
}

/** Returns the id of the newest open deal of a contact. @throws AppError conflict if there is none */
export async function openDealOf(org: OrgScope, contactId: string): Promise<string> {
  const [deal] = await org.sql<{ id: string }>(
    `select id from crm_deals where organization_id = :org and contact_id = :contact and status = 'open' order by id desc limit 1`,
    { contact: contactId },
  );
  if (!deal) throw new AppError('conflict', message('crm.no_open_deal'));
  return deal.id;
}

/**
 * Lists problems of a new deal that its schema cannot detect: unknown ids, a stage of another pipeline, and an amount
 * that its currency does not allow.
 */
export async function newDealProblems(
  org: OrgScope,
  deal: Partial<NewDeal>,
  { lock = false }: { lock?: boolean } = {},
): Promise<Problem[]> {
  return [
    ...(await referenceProblems(org, deal, { lock })),
    ...(await placeProblems(org, deal, { lock })),
    ...valueProblems(deal.value, deal.currency ?? DEFAULT_CURRENCY, 'body.value'),
  ];
}

/** Lists problems of a deal edit that its schema cannot detect. Empty for a deal that does not exist. */
export async function dealEditProblems(ctx: Ctx, id: string, edit: DealEdit): Promise<Problem[]> {
  const deal = isUuid(id) ? await reader(ctx).table('crm_deals').where({ id }).first() : undefined;
  return deal ? editProblems(reader(ctx), deal, edit) : [];
}

/**
 * Stores a new open deal. Emits crm.deal_created and adds an entry to the contact's log.
 * @throws AppError bad_request as found by {@link newDealProblems}
 */
export async function createDeal(ctx: Ctx, input: NewDeal): Promise<DealRow> {
  return transact(ctx, async (tx) => {
    refuseProblems(await newDealProblems(tx.org, input, { lock: true }));
    const currency = input.currency ?? DEFAULT_CURRENCY;
    const [deal] = await tx.org
      .insert('crm_deals', {
        id: newId(),
        pipeline_id: input.pipeline_id,
        stage_id: input.stage_id,
        contact_id: input.contact_id ?? null,
        name: input.name,
        ...amountColumns(input.value ?? null, currency),
        currency,
        expected_close_date: input.expected_close_date ?? null,
        assigned_to: input.assigned_to ?? null,
        campaign_id: input.campaign_id ?? null,
        source_mailbox_id: input.source_mailbox_id ?? null,
        created_at: tx.now,
        updated_at: tx.now,
      })
      .returning('*');
    await recordActivities(tx, [activity(deal!, 'deal_created')]);
    tx.emit('crm.deal_created', dealPayload(deal!));
    tx.audit({ action: 'create', entityType: 'crm_deal', entityId: deal!.id, changes: created({ name: deal!.name }) });
    return deal!;
  });
}

/**
 * Changes a deal. Adds an entry to the contact's log for a new stage, a win and a loss. The times of winning and losing
 * are stored, and reopening the deal clears both. Emits crm.deal_updated if any field changed.
 * @param options.expectedUpdatedAt the `updated_at` that the caller has seen
 * @throws AppError not_found, bad_request as found by {@link dealEditProblems}, conflict if `updated_at` has changed
 */
export async function updateDeal(
  ctx: Ctx,
  id: string,
  edit: DealEdit,
  { expectedUpdatedAt }: { expectedUpdatedAt?: Date | undefined } = {},
): Promise<DealRow> {
  return transact(ctx, async (tx) => {
    const references = isUuid(id) ? await referenceProblems(tx.org, edit, { lock: true }) : [];
    const before = await lockDeal(tx, id);
    assertUnchanged('deal', before.updated_at, expectedUpdatedAt);
    refuseProblems([...references, ...(await ownProblems(tx.org, before, edit, { lock: true }))]);
    const changes = changesOf(before, edit, tx.now);
    const fields = Object.keys(edit).filter((field) => field in changes);
    if (fields.length === 0) return before;
    const [deal] = await tx.org
      .table('crm_deals')
      .where({ id: before.id })
      .update({ ...columnsOf(before, changes), updated_at: tx.now })
      .returning('*');
    await recordActivities(tx, activitiesOf(before, deal!));
    tx.emit('crm.deal_updated', {
      ...dealPayload(deal!),
      fields,
      previous_stage_id: before.stage_id,
      previous_status: before.status,
    });
    tx.audit({
      action: 'update',
      entityType: 'crm_deal',
      entityId: before.id,
      changes: Object.fromEntries(
        fields.map((field) => [field, { from: shown(before, field), to: shown(deal!, field) }]),
      ),
    });
    return deal!;
  });
}

/** Deletes a deal. Its tasks are kept, without the deal. @throws AppError not_found */
export async function deleteDeal(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const deal = await lockDeal(tx, id);
    await tx.org.table('crm_deals').where({ id: deal.id }).delete();
    tx.emit('crm.deal_deleted', dealPayload(deal));
    tx.audit({ action: 'delete', entityType: 'crm_deal', entityId: deal.id, changes: deleted({ name: deal.name }) });
  });
}

/** Returns the value of a deal in major units, or null if the deal has no value. */
export function dealValue({ value_minor: minor, currency }: Pick<DealRow, 'value_minor' | 'currency'>): number | null {
  return minor === null ? null : fromMinorUnits(minor, currency);
}

/** Lists the deals of a contact, newest first. @throws AppError not_found */
export async function listDealsOfContact(ctx: Ctx, contactId: string): Promise<DealRow[]> {
  const org = reader(ctx);
  const [contact] = isUuid(contactId)
    ? await org.sql('select 1 from contacts where organization_id = :org and id = :id', { id: contactId })
    : [];
  if (!contact) throw notFound('contact');
  return org.sql<DealRow>(
    `select * from crm_deals where organization_id = :org and contact_id = :contact order by id desc limit :limit`,
    { contact: contactId, limit: MAX_OF_CONTACT },
  );
}

/** Maximum number of deals listed for one contact, because this list is not paginated. */
const MAX_OF_CONTACT = 1_000;

async function editProblems(org: OrgScope, deal: DealRow, edit: DealEdit): Promise<Problem[]> {
  return [...(await referenceProblems(org, edit)), ...(await ownProblems(org, deal, edit))];
}

/**
 * Lists problems of an edit that depend on the deal: the stage must belong to its pipeline, and its currency must allow
 * the amount.
 */
async function ownProblems(org: OrgScope, deal: DealRow, edit: DealEdit, { lock = false } = {}): Promise<Problem[]> {
  const currency = edit.currency ?? deal.currency;
  const value = edit.value === undefined ? dealValue(deal) : edit.value;
  return [
    ...(edit.stage_id === undefined
      ? []
      : await placeProblems(org, { pipeline_id: deal.pipeline_id, stage_id: edit.stage_id }, { lock })),
    ...valueProblems(value, currency, edit.value === undefined ? 'body.currency' : 'body.value'),
  ];
}

/**
 * Lists problems of pipeline and stage. With `lock`, the stage is locked until the transaction ends, so that it cannot
 * be deleted concurrently.
 */
async function placeProblems(
  org: OrgScope,
  { pipeline_id: pipeline, stage_id: stage }: Partial<Pick<NewDeal, 'pipeline_id' | 'stage_id'>>,
  { lock }: { lock: boolean },
): Promise<Problem[]> {
  const problems: Problem[] = [];
  const known =
    pipeline !== undefined &&
    (await org.sql('select 1 from crm_pipelines where organization_id = :org and id = :id', { id: pipeline })).length >
      0;
  if (pipeline !== undefined && !known)
    problems.push({ path: 'body.pipeline_id', message: message('directory.unknown_pipeline') });
  if (stage === undefined) return problems;
  const rows = await org.sql<Pick<DealRow, 'pipeline_id'>>(
    `select pipeline_id from crm_stages where organization_id = :org and id = :id${lock ? ' for key share' : ''}`,
    { id: stage },
  );
  if (rows.length === 0) problems.push({ path: 'body.stage_id', message: message('directory.unknown_stage') });
  else if (known && rows[0]!.pipeline_id !== pipeline)
    problems.push({ path: 'body.stage_id', message: message('crm.stage_of_other_pipeline') });
  return problems;
}

function valueProblems(value: number | null | undefined, currency: string, path: string): Problem[] {
  if (value === null || value === undefined || exactMinorUnits(value, currency) !== null) return [];
  return [{ path, message: message('crm.amount_misfit', { currency }) }];
}

async function lockDeal(tx: Tx, id: string): Promise<DealRow> {
  const deal = isUuid(id) ? await tx.org.table('crm_deals').where({ id }).forNoKeyUpdate().first() : undefined;
  if (!deal) throw notFound('deal');
  return deal;
}

/**
 * Returns the fields of an edit that differ from the stored ones, and the times of winning and losing that follow from
 * them.
 */
function changesOf(deal: DealRow, edit: DealEdit, now: Date): DealEdit & Pick<Partial<DealRow>, 'won_at' | 'lost_at'> {
  const changes: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(edit)) {
    if (value !== undefined && comparable(value) !== comparable(shown(deal, field))) changes[field] = value;
  }
  if (changes.status === undefined) return changes;
  const { status } = changes as DealEdit;
  const reason = status === 'lost' || edit.lost_reason !== undefined ? {} : { lost_reason: null };
  return { ...changes, won_at: status === 'won' ? now : null, lost_at: status === 'lost' ? now : null, ...reason };
}

function columnsOf(deal: DealRow, { value, ...changes }: ReturnType<typeof changesOf>): Changes<'crm_deals'> {
  const currency = changes.currency ?? deal.currency;
  const amount = value === undefined ? dealValue(deal) : value;
  return {
    ...(changes as Changes<'crm_deals'>),
    ...(value === undefined && changes.currency === undefined ? {} : amountColumns(amount, currency)),
  };
}

function amountColumns(value: number | null, currency: string): Pick<DealRow, 'value_minor' | 'value_scaled'> {
  if (value === null) return { value_minor: null, value_scaled: null };
  const minor = exactMinorUnits(value, currency)!;
  // Converts the number to text for the bigint column, because a number could be rounded.
  return { value_minor: minor, value_scaled: String(scaledOf(minor, currency)) as unknown as number };
}

function shown(deal: DealRow, field: string): unknown {
  return field === 'value' ? dealValue(deal) : deal[field as keyof DealRow];
}

function comparable(value: unknown): unknown {
  return value instanceof Date ? value.getTime() : value;
}

function activitiesOf(before: DealRow, deal: DealRow): Activity[] {
  return [
    ...(before.stage_id === deal.stage_id
      ? []
      : [activity(deal, 'deal_stage_changed', { from_stage_id: before.stage_id, to_stage_id: deal.stage_id })]),
    ...(before.status !== 'won' && deal.status === 'won' ? [activity(deal, 'deal_won')] : []),
    ...(before.status !== 'lost' && deal.status === 'lost' ? [activity(deal, 'deal_lost')] : []),
  ];
}

function activity(deal: DealRow, type: Activity['type'], metadata: Record<string, unknown> = {}): Activity {
  return {
    type,
    contactId: deal.contact_id,
    dealId: deal.id,
    metadata: { deal_id: deal.id, pipeline_id: deal.pipeline_id, stage_id: deal.stage_id, ...metadata },
  };
}

function dealPayload(deal: DealRow): EventData<'crm.deal_created'> {
  const { id, pipeline_id, stage_id, contact_id, name, currency, status, assigned_to, campaign_id } = deal;
  return {
    entity_id: id,
    deal_id: id,
    pipeline_id,
    stage_id,
    contact_id,
    name,
    value: dealValue(deal),
    currency,
    status,
    assigned_to,
    campaign_id,
    updated_at: deal.updated_at.toISOString(),
  };
}
