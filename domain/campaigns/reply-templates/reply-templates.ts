import { changed, created, deleted } from '../../platform/changes.ts';
import { ReplyTemplates, type ReplyTemplateRow } from '../../../db/models/reply-template.ts';
import { badRequest, notFound, type Problem } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { parseTemplate, renderTemplate } from '../../mail/messages/template.ts';
import { assertUnchanged } from '../../platform/assert-unchanged.ts';
import { likeLiteral } from '../../platform/conditions.ts';
import { assertNotFull } from '../../platform/full-list.ts';
import { storePositions } from '../../platform/positions.ts';
import { message } from '../../../messages/index.ts';

export type { ReplyTemplateRow } from '../../../db/models/reply-template.ts';

/** Fields of a template that a person can edit. */
interface TemplateText {
  name: string;
  subject: string;
  body_html: string;
  body_plain: string;
}

const MAX_TEMPLATES = 1_000;
const MAX_NAME = 255;
const COPY = ' (copy)';

/** Lists all templates in order. `q` selects templates whose name or subject contains it, ignoring case. */
export async function listTemplates(ctx: Ctx, q = ''): Promise<ReplyTemplateRow[]> {
  const query = reader(ctx).query(ReplyTemplates).orderBy(['position', 'id']);
  const part = `%${likeLiteral(q.trim())}%`;
  if (q.trim() !== '')
    void query.where((either) => void either.where('name', 'ilike', part).orWhere('subject', 'ilike', part));
  return query;
}

/** Returns one template. @throws AppError not_found */
export async function readTemplate(ctx: Ctx, id: string): Promise<ReplyTemplateRow> {
  const template = isUuid(id) ? await reader(ctx).query(ReplyTemplates).findById(id) : undefined;
  if (!template) throw notFound('template');
  return template;
}

/** Adds a template at the end of the list. @throws AppError bad_request at the workspace's limit of templates */
export async function createTemplate(ctx: Ctx, text: TemplateText): Promise<ReplyTemplateRow> {
  return transact(ctx, async (tx) => append(tx, text));
}

/**
 * Changes the given fields of a template.
 * @param options.expectedUpdatedAt the `updated_at` that the caller has seen
 * @throws AppError not_found, conflict if `updated_at` has changed
 */
export async function updateTemplate(
  ctx: Ctx,
  id: string,
  edit: Partial<TemplateText>,
  { expectedUpdatedAt }: { expectedUpdatedAt?: Date | undefined } = {},
): Promise<ReplyTemplateRow> {
  return transact(ctx, async (tx) => {
    const before = isUuid(id) ? await tx.org.query(ReplyTemplates).findById(id).forNoKeyUpdate() : undefined;
    if (!before) throw notFound('template');
    assertUnchanged('template', before.updated_at, expectedUpdatedAt);
    if (Object.keys(edit).length > 0) {
      await tx.org
        .query(ReplyTemplates)
        .where({ id })
        .patch({ ...edit, updated_at: tx.now });
      tx.audit({ action: 'update', entityType: 'reply_template', entityId: id, changes: changed(before, edit) });
    }
    return readTemplate({ ...ctx, trx: tx.trx }, id);
  });
}

/** Deletes a template, and moves later templates up by one position. @throws AppError not_found */
export async function deleteTemplate(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const rows = await lockTemplates(tx);
    const template = rows.find((row) => row.id === id.toLowerCase());
    if (!template) throw notFound('template');
    await tx.org.query(ReplyTemplates).where({ id: template.id }).delete();
    await storePositions(
      tx,
      'reply_templates',
      rows.flatMap((row) => (row.id === template.id ? [] : [row.id])),
    );
    tx.audit({
      action: 'delete',
      entityType: 'reply_template',
      entityId: template.id,
      changes: deleted({ name: template.name }),
    });
  });
}

/** Copies a template to the end of the list. @throws AppError not_found, bad_request as in {@link createTemplate} */
export async function duplicateTemplate(ctx: Ctx, id: string): Promise<ReplyTemplateRow> {
  return transact(ctx, async (tx) => {
    const { name, subject, body_html, body_plain } = await readTemplate({ ...ctx, trx: tx.trx }, id);
    return append(tx, { name: `${name.slice(0, MAX_NAME - COPY.length)}${COPY}`, subject, body_html, body_plain });
  });
}

/** Lists problems of a new order: repeated ids, and ids without a template. */
export async function orderProblems(ctx: Ctx, ids: readonly string[]): Promise<Problem[]> {
  const known = new Set((await listTemplates(ctx)).map(({ id }) => id));
  return ids.flatMap((id, index) => {
    const named = id.toLowerCase();
    if (ids.findIndex((other) => other.toLowerCase() === named) < index)
      return [{ path: `body.ids.${index}`, message: message('campaigns.listed_twice') }];
    return known.has(named) ? [] : [{ path: `body.ids.${index}`, message: message('templates.unknown') }];
  });
}

/**
 * Reorders templates. The named templates take the same positions as before, in the given order. The other templates
 * keep their positions. Returns all templates.
 * @throws AppError bad_request for repeated ids and for ids without a template
 */
export async function reorderTemplates(ctx: Ctx, ids: readonly string[]): Promise<ReplyTemplateRow[]> {
  return transact(ctx, async (tx) => {
    const rows = await lockTemplates(tx);
    const inside: Ctx = { ...ctx, trx: tx.trx };
    const problems = await orderProblems(inside, ids);
    if (problems.length > 0) throw badRequest(message('templates.order_wrong'), problems);
    const next = ids.map((id) => id.toLowerCase());
    const named = new Set(next);
    await storePositions(
      tx,
      'reply_templates',
      rows.map(({ id }) => (named.has(id) ? next.shift()! : id)),
    );
    tx.audit({ action: 'update', entityType: 'reply_template', metadata: { reordered: ids.length } });
    return listTemplates(inside);
  });
}

/**
 * Renders a template with its placeholders filled in; placeholders without a value are empty. @throws AppError
 * not_found
 */
export async function renderReply(
  ctx: Ctx,
  id: string,
  variables: Readonly<Record<string, string>>,
): Promise<Pick<TemplateText, 'subject' | 'body_html' | 'body_plain'>> {
  const template = await readTemplate(ctx, id);
  const fill = (source: string, html = false) =>
    renderTemplate(parseTemplate(source, { html }), variables, { escapeHtml: html }).text;
  return {
    subject: fill(template.subject),
    body_html: fill(template.body_html, true),
    body_plain: fill(template.body_plain),
  };
}

async function append(tx: Tx, text: TemplateText): Promise<ReplyTemplateRow> {
  const rows = await lockTemplates(tx);
  assertNotFull(rows.length, { most: MAX_TEMPLATES, what: message('templates.most') });
  const template = await tx.org.create(ReplyTemplates, {
    id: newId(),
    user_id: tx.actor.userId,
    ...text,
    position: rows.length + 1,
    created_at: tx.now,
    updated_at: tx.now,
  });
  tx.audit({
    action: 'create',
    entityType: 'reply_template',
    entityId: template.id,
    changes: created({ name: template.name }),
  });
  return template;
}

/** Locks and lists the templates in order. Only one transaction at a time can change the order. */
async function lockTemplates(tx: Tx): Promise<ReplyTemplateRow[]> {
  await tx.org.lock(`templates/${tx.org.organizationId}`);
  return tx.org.query(ReplyTemplates).orderBy(['position', 'id']);
}
