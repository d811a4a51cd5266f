import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { approvalUrl } from '../../../domain/approvals/link.ts';
import { runUrl } from '../../../domain/platform/run-url.ts';
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { ReadingChoices } from '../../../domain/audience/imports/inspect.ts';
import { previewFile, type ImportPreview } from '../../../domain/audience/imports/preview.ts';
import type { Person } from '../../../domain/audience/imports/rows.ts';
import {
  getImport,
  listImports,
  listProblems,
  problemsCsv,
  type ContactImportRow,
} from '../../../domain/audience/imports/read.ts';
import { cancelImport, recordsOfImport, startImport } from '../../../domain/audience/imports/start.ts';
import { reader } from '../../../domain/platform/kernel/transact.ts';
import { unknownProblems } from '../../../domain/sending/leads/membership.ts';
import { contactImportWorkflow } from '../../../workflows/contact-import/contract.ts';
import type { Config } from '../../../lib/config/index.ts';
import { route } from '../../http/route.ts';
import { idParams, iso, pageQuery, presentPage } from '../../http/schemas.ts';
import { contactImport, importBody, importPage, importPreview, previewBody, problemPage } from './schemas.ts';
import { presentBlocked, reasonIn } from '../../http/stored-message.ts';

const fileBytes = (config: Config) => config.IMPORT_MAX_BYTES;
const area = 'imports';
const read = { area, scope: ['READ_CONTACTS'], permission: 'view_contacts' } as const;
const bulk = { area, scope: ['BULK_CONTACTS'], permission: 'manage_contacts' } as const;

/** Routes of file imports: preview, start, progress, and the rows to correct. */
export const contactImportRoutes = [
  route({
    area,
    scope: ['WRITE_CONTACTS'],
    permission: 'manage_contacts',
    operationId: 'contactImports.preview',
    method: 'post',
    path: '/contacts/import/preview',
    readOnly: true,
    summary: 'Preview a file of contacts and its column mapping',
    description:
      'CSV, XLSX or ODS. Shows the first rows as an import with these options would store them, and all rows of the file that it would skip. Stores nothing.',
    consumes: 'multipart',
    bodyLimit: fileBytes,
    files: ['file'],
    body: previewBody,
    success: { status: 200, body: importPreview },
    handler: async (_ctx, { files, body }) => {
      const file = files.file!;
      const preview = await previewFile(file.path, choicesOf(body.options ?? {}), body.options?.mapping);
      return presentPreview(file.filename, preview);
    },
  }),
  route({
    ...bulk,
    operationId: 'contactImports.start',
    method: 'post',
    path: '/contacts/import',
    summary: 'Import a file of contacts in the background',
    description:
      'CSV, XLSX or ODS. Valid rows are imported, the others are listed as problems. The first row of an address counts; suppressed addresses are not imported. Opt-outs and bounces in the file are added to the suppression list. An import emits no contact.created. Leads that a key or application imports into a campaign that sends count as one action of its policy at the end of the import; beyond the policy they wait for a person, and `approval_id` names the approval. A file has at most 50 MB and 50,000 rows, and a workspace runs at most 5 imports at a time, unless the installation is configured differently.',
    consumes: 'multipart',
    bodyLimit: fileBytes,
    files: ['file'],
    body: importBody,
    furtherProblems: (ctx, { options }) =>
      unknownProblems(
        reader(ctx),
        recordsOfImport({ categories: options?.categories, campaignId: options?.campaign_id }),
      ),
    success: { status: 202, body: contactImport },
    handler: async (ctx, { files, body }) => {
      const { mapping, categories, campaign_id, update_existing, ...reading } = body.options ?? {};
      return present(
        await startImport(ctx, {
          file: files.file!,
          mapping,
          categories,
          campaignId: campaign_id,
          updateExisting: update_existing,
          ...choicesOf(reading),
        }),
        ctx,
      );
    },
  }),
  route({
    ...read,
    operationId: 'contactImports.list',
    method: 'get',
    path: '/contacts/imports',
    summary: 'Imports, newest first',
    query: z.object(pageQuery(100)),
    success: { status: 200, body: importPage },
    handler: async (ctx, { query }) => presentPage(await listImports(ctx, query), (job) => present(job, ctx)),
  }),
  route({
    ...read,
    operationId: 'contactImports.get',
    method: 'get',
    path: '/contacts/imports/:id',
    summary: 'One import and its progress',
    description: '`progress` goes from 0 to 1.',
    params: idParams,
    success: { status: 200, body: contactImport },
    handler: async (ctx, { params }) => present(await getImport(ctx, params.id), ctx),
  }),
  route({
    ...read,
    operationId: 'contactImports.listProblems',
    method: 'get',
    path: '/contacts/imports/:id/problems',
    summary: 'List rows that were not imported, by line',
    description: 'Each with its line and reason.',
    params: idParams,
    query: z.object(pageQuery(200)),
    success: { status: 200, body: problemPage },
    handler: async (ctx, { params, query }) =>
      presentPage(await listProblems(ctx, params.id, query), ({ row_values, ...problem }) => ({
        ...problem,
        values: row_values,
      })),
  }),
  route({
    ...read,
    operationId: 'contactImports.downloadProblems',
    method: 'get',
    path: '/contacts/imports/:id/problems.csv',
    summary: 'Download the rows that were not imported, to correct and import again',
    description: 'The same rows as CSV, as in the file, with the reason as an additional last column.',
    params: idParams,
    success: { status: 200, body: 'stream', contentType: 'text/csv' },
    handler: async (ctx, { params }) => ({
      stream: Readable.from(await problemsCsv(ctx, params.id)),
      contentType: 'text/csv; charset=utf-8',
      headers: { 'Content-Disposition': `attachment; filename="import-problems-${params.id}.csv"` },
    }),
  }),
  route({
    ...bulk,
    operationId: 'contactImports.cancel',
    method: 'post',
    path: '/contacts/imports/:id/cancel',
    summary: 'Stop an import',
    description: 'Rows imported so far are kept.',
    params: idParams,
    stops: true,
    success: { status: 200, body: contactImport },
    errors: ['conflict'],
    handler: async (ctx, { params }) => present(await cancelImport(ctx, params.id), ctx),
  }),
];

/** Converts the options of a preview request to the choices of the file reader. */
function choicesOf(options: NonNullable<z.output<typeof previewBody>['options']>): ReadingChoices {
  const { encoding, delimiter, skip_rows: skipRows, has_header: hasHeader, sheet } = options;
  return { encoding, delimiter, skipRows, hasHeader, sheet };
}

function presentPreview(filename: string, preview: ImportPreview): z.input<typeof importPreview> {
  return {
    filename,
    format: preview.format,
    encoding: preview.encoding,
    encoding_confidence: preview.confidence,
    delimiter: preview.delimiter,
    sheet: preview.sheet?.sheet ?? null,
    sheets: preview.sheet?.sheets ?? [],
    skip_rows: preview.skipRows,
    total_rows: preview.rows,
    columns: preview.columns,
    has_header: preview.hasHeader,
    sample_rows: preview.sample,
    suggested_mapping: preview.suggestedMapping.map(({ index, target }) => ({
      index,
      target,
      ...(target.startsWith('custom:') ? { custom_key: target.slice(7) } : {}),
    })),
    stored_rows: preview.outcome.stored.map(({ line, reason, person }) => ({
      line,
      reason,
      contact: person && presentPerson(person),
    })),
    problems: preview.outcome.problems.map(({ reason, rows, firstLine }) => ({ reason, rows, first_line: firstLine })),
    unsubscribed_rows: preview.outcome.unsubscribed,
  };
}

function presentPerson({ draft, categories, optOut }: Person) {
  const { email, firstName, lastName, company, phone, customFields, subscribed } = draft;
  const state = optOut?.state;
  return {
    email,
    first_name: firstName,
    last_name: lastName,
    company,
    phone,
    custom_fields: customFields,
    categories,
    subscribed,
    suppressed_as: state === 'opted_out' || state === 'bounced' ? state : null,
  };
}

function present(
  job: ContactImportRow,
  { config, language }: Pick<Ctx, 'config' | 'language'>,
): z.input<typeof contactImport> {
  const { options } = job;
  return {
    id: job.id,
    status: job.status,
    filename: job.filename,
    total_bytes: job.total_bytes,
    read_bytes: job.read_bytes,
    progress: job.total_bytes === 0 ? 1 : job.read_bytes / job.total_bytes,
    total: job.total,
    imported: job.imported,
    updated: job.updated,
    skipped: job.skipped,
    failed: job.failed,
    unclear: job.unclear,
    error: reasonIn(job.error, language),
    mapping: options.mapping,
    categories: options.categories,
    campaign_id: options.campaign_id,
    approval_id: job.approval_id,
    approval_url: job.approval_id && approvalUrl(config, job.approval_id),
    update_existing: options.update_existing,
    created_at: iso(job.created_at),
    started_at: iso(job.started_at),
    ended_at: iso(job.ended_at),
    ...presentBlocked(job, language),
    ...runUrl(config, contactImportWorkflow, { importId: job.id }),
  };
}
