import { z } from 'zod';
import {
  createDraft,
  deleteDraft,
  draftProblems,
  listDrafts,
  readDraft,
  replaceDraft,
  replacementProblems,
  sendDraft,
  type Draft,
} from '../../../domain/inbox/direct-sends/drafts.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { idParams, iso, presentPage } from '../../http/schemas.ts';
import { presentAccepted } from './routes.ts';
import {
  accepted,
  draft,
  draftBody,
  draftListQuery,
  draftPage,
  draftReplaceBody,
  draftSendBody,
  MAX_REQUEST_BYTES,
} from './schemas.ts';

const read = { area: 'direct-sends', scope: ['READ_UNIBOX'], permission: 'view_campaigns' } as const;
const write = { area: 'direct-sends', scope: ['WRITE_UNIBOX'], permission: 'send_campaigns' } as const;

function present({
  mailbox_id,
  to_emails,
  cc_emails,
  bcc_emails,
  body_html,
  attachments,
  ...rest
}: Draft): z.input<typeof draft> {
  return {
    ...rest,
    email_account_id: mailbox_id,
    to: to_emails,
    cc: cc_emails,
    bcc: bcc_emails,
    ...(body_html === null ? {} : { body_html }),
    attachments: attachments.map(({ blob_id: id, filename, content_type, size_bytes }) => ({
      id,
      filename,
      content_type,
      size_bytes,
    })),
    created_at: iso(rest.created_at),
    updated_at: iso(rest.updated_at),
  };
}

/** Routes of drafts: emails that are not sent yet. */
export const draftRoutes: readonly AnyRoute[] = [
  route({
    ...read,
    operationId: 'unibox.listDrafts',
    method: 'get',
    path: '/unibox/drafts',
    summary: 'Drafts of the workspace, last changed first',
    query: draftListQuery,
    success: { status: 200, body: draftPage },
    handler: async (ctx, { query }) => presentPage(await listDrafts(ctx, query), present),
  }),
  route({
    ...write,
    operationId: 'unibox.createDraft',
    method: 'post',
    path: '/unibox/drafts',
    summary: 'Save an unfinished email as a draft',
    description:
      'A new email, or a reply if `thread_id` is set. Only its mailbox and its files, which are stored with it, are checked before it is sent.',
    body: draftBody,
    bodyLimit: MAX_REQUEST_BYTES,
    furtherProblems: (ctx, body) => draftProblems(ctx, body),
    success: { status: 201, body: draft },
    errors: ['not_found', 'storage_limit_reached'],
    handler: async (ctx, { body }) => present(await createDraft(ctx, body)),
  }),
  route({
    ...read,
    operationId: 'unibox.getDraft',
    method: 'get',
    path: '/unibox/drafts/:id',
    summary: 'A draft',
    params: idParams,
    success: { status: 200, body: draft },
    errors: ['not_found'],
    handler: async (ctx, { params }) => present(await readDraft(ctx, params.id)),
  }),
  route({
    ...write,
    operationId: 'unibox.replaceDraft',
    method: 'put',
    path: '/unibox/drafts/:id',
    summary: "Replace a draft's content",
    description:
      'Omitted fields become empty. Files in `kept_attachments` are kept, and new ones are added. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409.',
    params: idParams,
    body: draftReplaceBody,
    bodyLimit: MAX_REQUEST_BYTES,
    furtherProblems: (ctx, { expected_updated_at: _seen, ...body }, { id }) => replacementProblems(ctx, id!, body),
    success: { status: 200, body: draft },
    errors: ['not_found', 'conflict', 'storage_limit_reached'],
    handler: async (ctx, { params, body: { expected_updated_at: expectedUpdatedAt, ...body } }) =>
      present(await replaceDraft(ctx, params.id, body, { expectedUpdatedAt })),
  }),
  route({
    ...write,
    operationId: 'unibox.deleteDraft',
    method: 'delete',
    path: '/unibox/drafts/:id',
    summary: 'Delete a draft',
    params: idParams,
    success: { status: 204 },
    errors: ['not_found'],
    handler: async (ctx, { params }) => {
      await deleteDraft(ctx, params.id);
    },
  }),
  route({
    area: 'direct-sends',
    scope: ['SEND_DIRECT_EMAIL', 'SEND_INBOX_REPLY'],
    permission: 'send_campaigns',
    operationId: 'unibox.sendDraft',
    method: 'post',
    path: '/unibox/drafts/:id/send',
    summary: 'Send a draft',
    description:
      'Sent like POST /unibox/compose, or like POST /unibox/reply if it has a conversation, with the same rules; the draft is then deleted. A draft that may not be sent is kept.',
    params: idParams,
    body: draftSendBody,
    bodyLimit: MAX_REQUEST_BYTES,
    success: { status: 200, body: accepted },
    errors: ['not_found', 'storage_limit_reached'],
    handler: async (ctx, { params, body }) => presentAccepted(await sendDraft(ctx, params.id, body), ctx),
  }),
];
