import { rm } from 'node:fs/promises';
import { ContactImports, type ColumnMapping, type ContactImportRow } from '../../../db/models/contact-import.ts';
import { AppError, badRequest, notFound, type Problem } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { signalOpen, start } from '../../../temporal/dispatch.ts';
import { contactImportWorkflow } from '../../../workflows/contact-import/contract.ts';
import { unknownProblems, type NamedRecords } from '../../sending/leads/membership.ts';
import { findCampaign } from '../../sending/campaign/find.ts';
import { assertPoolAllowed } from '../../sending/campaign/sender-pool.ts';
import { assertMayMail } from '../../approvals/may-change-leads.ts';
import { isCredential, type Actor } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { organizationOf } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { announceEnd } from './announce.ts';
import { settleLeads } from './settle-leads.ts';
import { storeBlob } from '../../platform/blobs.ts';
import type { Inspected, ReadingChoices } from './inspect.ts';
import { inspectForImport } from './preview.ts';
import { CUSTOM } from './rows.ts';
import { CONTACT_LIMITS } from '../../directory/contact-fields.ts';

/** A file on disk, and how to import it. */
export interface ImportRequest extends ReadingChoices {
  file: { path: string; filename: string; size: number };
  /** Mapping of columns. Defaults to the one that the preview suggests. */
  mapping?: readonly ColumnMapping[] | undefined;
  categories?: readonly string[] | undefined;
  campaignId?: string | undefined;
  updateExisting?: boolean | undefined;
}

/**
 * Stores the file and the job and starts the run, in one transaction. Returns the job.
 * @throws AppError bad_request: an empty file, no table, too many rows, a mapped column that does not exist, none or
 * several address columns, or an unknown category or campaign
 * @throws AppError forbidden when the campaign would send from mailboxes the key may not use
 * @throws AppError conflict at the workspace's limit of open imports or of their bytes
 */
export async function startImport(ctx: Ctx, request: ImportRequest): Promise<ContactImportRow> {
  const { encoding, delimiter, skipRows, hasHeader, sheet } = request;
  const choices = { encoding, delimiter, skipRows, hasHeader, sheet };
  const inspected = await inspectForImport(request.file.path, choices, ctx.config.IMPORT_MAX_ROWS);
  try {
    return await storeImport(ctx, request, inspected);
  } finally {
    if (inspected.sheet) await rm(inspected.sheet.path, { force: true });
  }
}

async function storeImport(ctx: Ctx, request: ImportRequest, inspected: Inspected): Promise<ContactImportRow> {
  const { format, encoding, delimiter, skipRows, hasHeader, columns, sheet } = inspected;
  const file = { ...request.file, ...(sheet ? { path: sheet.path, size: sheet.sizeBytes } : {}) };
  const mapping = [...(request.mapping ?? inspected.suggestedMapping)];
  const problems = [
    ...mappingProblems(mapping, columns.length),
    ...(await unknownProblems(reader(ctx), recordsOfImport(request))),
  ];
  if (problems.length > 0) throw badRequest(message('imports.refused'), problems);

  return transact(ctx, async (tx) => {
    if (request.campaignId) {
      const campaign = await findCampaign(tx.org, request.campaignId);
      await assertPoolAllowed(tx, campaign);
      assertMayMail(ctx.actor, campaign);
    }
    await assertImportLimits(ctx, tx, file.size);
    const blobId = await storeBlob(tx, file.path, file.size);
    const job = await tx.org.create(ContactImports, {
      id: newId(),
      user_id: ctx.actor.userId,
      status: 'queued',
      filename: file.filename.slice(0, 255),
      blob_id: blobId,
      total_bytes: file.size,
      options: {
        format,
        encoding,
        delimiter,
        skip_rows: skipRows,
        has_header: hasHeader,
        columns: [...columns],
        mapping: [...mapping],
        categories: [...(request.categories ?? [])],
        campaign_id: request.campaignId ?? null,
        update_existing: request.updateExisting ?? true,
        requested_by: credentialOf(ctx.actor),
      },
      created_at: tx.now,
      updated_at: tx.now,
    });
    tx.intend(start(contactImportWorkflow, { organizationId: organizationOf(ctx), importId: job.id }));
    tx.audit({
      action: 'create',
      entityType: 'contact_import',
      entityId: job.id,
      metadata: { filename: job.filename, bytes: file.size },
    });
    return tx.org.query(ContactImports).findById(job.id).throwIfNotFound();
  });
}

function credentialOf(actor: Actor): ContactImportRow['options']['requested_by'] {
  if (!isCredential(actor)) return null;
  return { api_key_id: actor.apiKeyId ?? null, oauth_grant_id: actor.oauthGrantId ?? null };
}

/** Lists the categories and the campaign named in the options of an import. */
export function recordsOfImport({
  categories,
  campaignId,
}: Pick<ImportRequest, 'categories' | 'campaignId'>): NamedRecords {
  return {
    categories: [{ path: 'body.options.categories', ids: categories ?? [] }],
    campaigns: campaignId === undefined ? [] : [{ path: 'body.options.campaign_id', ids: [campaignId] }],
  };
}

/**
 * Checks the workspace's limits under a lock, so that concurrent imports do not all pass the check.
 * @throws AppError conflict past ORG_IMPORTS or ORG_IMPORT_BYTES
 */
async function assertImportLimits({ config }: Ctx, tx: Tx, bytes: number): Promise<void> {
  await tx.org.lock(`imports/${tx.org.organizationId}`);
  const [open] = await tx.org.sql<{ count: number; bytes: number }>(
    `select count(*)::int as count, coalesce(sum(total_bytes), 0)::bigint as bytes from contact_imports
     where organization_id = :org and status in ('queued', 'running')`,
  );
  const fix = message('imports.under_way.fix');
  if (config.ORG_IMPORTS > 0 && open!.count >= config.ORG_IMPORTS)
    throw new AppError('conflict', message('imports.too_many_under_way', { count: open!.count }), { fix });
  if (config.ORG_IMPORT_BYTES > 0 && open!.bytes + bytes > config.ORG_IMPORT_BYTES)
    throw new AppError('conflict', message('imports.too_large_under_way'), { fix });
}

/** Mapping targets that several columns may have, because any of the columns can forbid mail. */
const REPEATABLE = ['unsubscribed', 'bounced'];

function mappingProblems(mapping: readonly ColumnMapping[], columns: number): Problem[] {
  const at = 'body.options.mapping';
  const problems: Problem[] = [];
  const taken = new Set<string>();
  mapping.forEach(({ index, target }, position) => {
    if (index >= columns)
      problems.push({ path: `${at}.${position}.index`, message: message('imports.no_such_column', { columns }) });
    if (target !== 'ignore' && !REPEATABLE.includes(target) && taken.has(target))
      problems.push({ path: `${at}.${position}.target`, message: message('imports.target_taken') });
    taken.add(target);
  });
  const custom = [...taken].filter((target) => target.startsWith(CUSTOM));
  if (custom.length > CONTACT_LIMITS.customFields)
    problems.push({ path: at, message: message('imports.too_many_fields', { most: CONTACT_LIMITS.customFields }) });
  if (!taken.has('email')) problems.push({ path: at, message: message('imports.no_email') });
  return problems;
}

/**
 * Cancels an import. Applied rows stay; no further rows are applied. Decides about leads that an API key or application
 * imported into a sending campaign, as at the end of an import.
 * @throws AppError not_found, conflict when it has ended
 */
export async function cancelImport(ctx: Ctx, id: string): Promise<ContactImportRow> {
  if (!isUuid(id)) throw notFound('import');
  return transact(ctx, async (tx) => {
    const job = await tx.org.query(ContactImports).findById(id).forUpdate();
    if (!job) throw notFound('import');
    if (job.status !== 'queued' && job.status !== 'running')
      throw new AppError('conflict', message('imports.ended', { status: job.status }));
    await tx.org
      .query(ContactImports)
      .findById(id)
      .patch({ status: 'cancelled', ended_at: tx.now, updated_at: tx.now });
    await settleLeads(ctx, tx, job);
    announceEnd(tx, job, 'cancelled');
    // Signals a workflow that may be blocked, so that it reads the status again and ends.
    const args = { organizationId: tx.org.organizationId, importId: id };
    tx.intend(signalOpen(contactImportWorkflow, args, 'retry', { cause: 'operator' }));
    tx.audit({ action: 'cancel', entityType: 'contact_import', entityId: id });
    return tx.org.query(ContactImports).findById(id).throwIfNotFound();
  });
}
