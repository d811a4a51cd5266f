import { defined } from '../../../lib/defined.ts';
import { z } from 'zod';
import { analyzeCopy, CATEGORIES, type Analysis } from '../../../domain/campaigns/reply-templates/analyze.ts';
import {
  createTemplate,
  deleteTemplate,
  duplicateTemplate,
  listTemplates,
  orderProblems,
  readTemplate,
  renderReply,
  reorderTemplates,
  updateTemplate,
  type ReplyTemplateRow,
} from '../../../domain/campaigns/reply-templates/reply-templates.ts';
import { route } from '../../http/route.ts';
import { expectedVersion, idParams, iso, resource, timestamp, uuid } from '../../http/schemas.ts';
import { findingMessage, findingCode } from '../../../lib/finding.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';
import type { Language } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';

const area = 'reply-templates';
const read = { area, scope: ['READ_TEMPLATES'], permission: 'view_campaigns' } as const;
const write = { area, scope: ['WRITE_TEMPLATES'], permission: 'manage_campaigns' } as const;

const MAX_BODY = 100_000;
const MAX_VARIABLES = 200;
const name = z.string().trim().min(1).max(255);
const subject = z.string().max(998);
const copy = z.string().max(MAX_BODY);

const template = resource('ReplyTemplate', {
  id: uuid,
  organization_id: uuid,
  user_id: uuid.nullable(),
  name: z.string(),
  subject: z.string().meta({ description: 'Placeholders are written {{.Key}}' }),
  body_html: z.string(),
  body_plain: z.string(),
  position: z.int().min(1),
  created_at: timestamp,
  updated_at: timestamp,
});
const templates = z.strictObject({ data: z.array(template) });
const rendered = resource('RenderedTemplate', { subject: z.string(), body_html: z.string(), body_plain: z.string() });

const span = z.strictObject({
  field: z.enum(['subject', 'body']),
  text: z.string(),
  line: z.int().min(1),
  excerpt: z.string(),
});
const analysis = resource('CopyAnalysis', {
  score: z.int().min(0).max(100).meta({ description: 'Higher is safer' }),
  verdict: z.string(),
  findings: z.array(
    z.strictObject({
      severity: z.enum(['high', 'warn', 'info']),
      field: z.enum(['subject', 'body']).optional(),
      text: z.string().optional().meta({ description: 'Text in the copy; absent if the whole email is meant' }),
      line: z.int().min(1).optional(),
      excerpt: z.string().optional(),
      issue: z.string(),
      suggestion: z.string(),
      category: z.enum(CATEGORIES),
    }),
  ),
  suggested_subject: z.string().optional().meta({ description: 'Absent if the subject is fine' }),
  improvements: z.array(z.string()),
  rules: z.strictObject({
    score: z.int().min(0).max(100),
    issues: z.array(
      z.strictObject({
        severity: z.enum(['warn', 'high']),
        code: z.string().meta({ description: 'Stable, such as `too_many_links`' }),
        message: z.string(),
        values: z.record(z.string(), z.unknown()).meta({ description: 'The values in `message`, by name' }),
        field: z.enum(['subject', 'body']).optional(),
        spans: z.array(span),
        suggestion: z.string(),
      }),
    ),
  }),
  model: z.string(),
  tokens_used: z.int().min(0),
  credits_remaining: z.int().min(0).meta({ description: 'Tokens that the workspace may still use today (UTC)' }),
  credits_charged: z.int().min(0),
});

/** Routes of reply templates with placeholders. */
export const replyTemplateRoutes = [
  route({
    ...read,
    operationId: 'templates.list',
    method: 'get',
    path: '/templates',
    summary: 'List reply templates in their order',
    description: '`q` matches a part of the name or subject, ignoring case.',
    query: z.object({
      q: z.string().max(255).optional().meta({ description: 'Part of the name or subject, ignoring case' }),
    }),
    success: { status: 200, body: templates },
    handler: async (ctx, { query }) => ({ data: (await listTemplates(ctx, query.q)).map(present) }),
  }),
  route({
    ...write,
    operationId: 'templates.create',
    method: 'post',
    path: '/templates',
    summary: 'Create a reply template',
    description: 'It is added at the end of the list. Placeholders are written `{{.Key}}`.',
    body: z.strictObject({
      name,
      subject: subject.default(''),
      body_html: copy.default(''),
      body_plain: copy.default(''),
    }),
    success: { status: 200, body: template },
    handler: async (ctx, { body }) => present(await createTemplate(ctx, body)),
  }),
  route({
    ...write,
    operationId: 'templates.reorder',
    method: 'patch',
    path: '/templates/reorder',
    summary: 'Reorder reply templates',
    description: 'The named templates take their positions in the given order; the others keep theirs.',
    body: z.strictObject({ ids: z.array(z.uuid()).min(1).max(1000) }),
    furtherProblems: (ctx, { ids }) => orderProblems(ctx, ids ?? []),
    success: { status: 200, body: templates },
    handler: async (ctx, { body }) => ({ data: (await reorderTemplates(ctx, body.ids)).map(present) }),
  }),
  route({
    ...read,
    operationId: 'templates.analyze',
    method: 'post',
    path: '/templates/analyze',
    readOnly: true,
    summary: 'Review copy with an AI provider',
    description:
      "Heron's own rules are applied too, see `rules`. The daily use of the provider is limited per workspace. The copy is not stored.",
    body: z
      .strictObject({ subject: subject.default(''), body_plain: copy.default(''), body_html: copy.default('') })
      .meta({ description: 'body_html is used only if body_plain is empty' }),
    success: { status: 200, body: analysis },
    errors: ['ai_not_configured', 'usage_cap_exceeded', 'service_unavailable'],
    prepare: (ctx, { body }) => analyzeCopy(ctx, body),
    handler: async (ctx, { prepared }) => presentAnalysis(prepared, ctx.language),
  }),
  route({
    ...read,
    operationId: 'templates.get',
    method: 'get',
    path: '/templates/:id',
    summary: 'One reply template',
    description: 'Includes its position in the list, from 1.',
    params: idParams,
    success: { status: 200, body: template },
    handler: async (ctx, { params }) => present(await readTemplate(ctx, params.id)),
  }),
  route({
    ...write,
    operationId: 'templates.update',
    method: 'patch',
    path: '/templates/:id',
    summary: 'Change a reply template',
    description:
      'Omitted fields keep their values. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409.',
    params: idParams,
    body: z.strictObject({
      name: name.optional(),
      subject: subject.optional(),
      body_html: copy.optional(),
      body_plain: copy.optional(),
      ...expectedVersion,
    }),
    success: { status: 200, body: template },
    errors: ['conflict'],
    handler: async (ctx, { params, body: { expected_updated_at: expectedUpdatedAt, ...edit } }) =>
      present(await updateTemplate(ctx, params.id, defined(edit), { expectedUpdatedAt })),
  }),
  route({
    ...write,
    operationId: 'templates.delete',
    method: 'delete',
    path: '/templates/:id',
    summary: 'Delete a reply template',
    description: 'The following templates move up.',
    params: idParams,
    success: { status: 204 },
    handler: (ctx, { params }) => deleteTemplate(ctx, params.id),
  }),
  route({
    ...write,
    operationId: 'templates.duplicate',
    method: 'post',
    path: '/templates/:id/duplicate',
    summary: 'Copy a reply template',
    description: 'The copy is added at the end of the list.',
    params: idParams,
    success: { status: 200, body: template },
    handler: async (ctx, { params }) => present(await duplicateTemplate(ctx, params.id)),
  }),
  route({
    ...read,
    operationId: 'templates.render',
    method: 'post',
    path: '/templates/:id/render',
    readOnly: true,
    summary: 'Render a reply template',
    description: 'Placeholders without a value become empty. Values are escaped in HTML.',
    params: idParams,
    body: z
      .strictObject({
        variables: z
          .record(z.string().max(100), z.string().max(10_000))
          .refine(
            (given) => Object.keys(given).length <= MAX_VARIABLES,
            ruleMessage('templates.too_many_variables', { max: MAX_VARIABLES }),
          )
          .default({}),
      })
      .prefault({}),
    success: { status: 200, body: rendered },
    handler: (ctx, { params, body }) => renderReply(ctx, params.id, body.variables),
  }),
];

function present(row: ReplyTemplateRow): z.input<typeof template> {
  return { ...row, created_at: iso(row.created_at), updated_at: iso(row.updated_at) };
}

function presentAnalysis(found: Analysis, language: Language | undefined): z.input<typeof analysis> {
  return {
    score: found.score,
    verdict: found.verdict,
    findings: found.findings,
    ...(found.suggestedSubject === null ? {} : { suggested_subject: found.suggestedSubject }),
    improvements: found.improvements,
    rules: {
      score: found.rules.score,
      issues: found.rules.issues.map(({ severity, message: said, field, spans }) => ({
        severity,
        code: findingCode(said),
        message: render(said, language),
        values: said.values,
        ...(field ? { field } : {}),
        spans: [...spans],
        suggestion: render(findingMessage(said, 'fix')!, language),
      })),
    },
    model: found.model,
    tokens_used: found.tokensUsed,
    credits_remaining: found.tokensLeft,
    credits_charged: found.tokensUsed,
  };
}
