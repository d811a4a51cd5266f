import { z } from 'zod';
import { recordsOfBulkEdit, updateContacts } from '../../../domain/audience/contacts/bulk.ts';
import {
  actionProblems,
  applyBulkEdit,
  getBulkEdit,
  undoBulkEdit,
} from '../../../domain/audience/contacts/bulk-edits.ts';
import { createContacts, recordsOfContacts, statedProblems } from '../../../domain/audience/contacts/create.ts';
import { getContact, lookupContact } from '../../../domain/audience/contacts/read.ts';
import { createReferredContact } from '../../../domain/audience/contacts/refer.ts';
import { deleteContact, deleteContacts } from '../../../domain/audience/contacts/remove.ts';
import { readSelection } from '../../../domain/audience/contacts/selection.ts';
import { listContacts, searchContacts } from '../../../domain/audience/contacts/search.ts';
import { recordsOfEdit, updateContact } from '../../../domain/audience/contacts/update.ts';
import { reader } from '../../../domain/platform/kernel/transact.ts';
import { unknownProblems } from '../../../domain/sending/leads/membership.ts';
import { filterProblems } from '../../../domain/directory/contact-filters.ts';
import { answerOrAwait, awaitingApproval } from '../../approvals/awaiting-approval.ts';
import { route } from '../../http/route.ts';
import { expectedVersion, idParams, pageQuery, presentPage } from '../../http/schemas.ts';
import { presentBulkEdit, presentContact, presentDetail, presentFound, presentVerification } from './present.ts';
import {
  bulkDelete,
  bulkEdit,
  bulkEditBody,
  bulkUpdate,
  contact,
  contactCreate,
  contactDetail,
  contactPage,
  contactSearch,
  contactUpdate,
  FILTER_ERRORS,
  foundContactPage,
  selection,
  SELECTION_BODY,
  verificationBody,
  verificationRequested,
} from './schemas.ts';

const area = 'contacts';
const inCategory = z.uuid().optional().meta({ description: 'Only contacts in this category' });
const read = { area, scope: ['READ_CONTACTS'], permission: 'view_contacts' } as const;
const write = { area, scope: ['WRITE_CONTACTS'], permission: 'manage_contacts' } as const;
const bulk = { area, scope: ['BULK_CONTACTS'], permission: 'manage_contacts' } as const;
const SELECTION_ERRORS = ['too_many_contacts', 'selection_too_large', ...FILTER_ERRORS] as const;

/** Routes of contacts: single, search and bulk. */
export const contactRoutes = [
  route({
    ...read,
    operationId: 'contacts.list',
    method: 'get',
    path: '/contacts',
    summary: 'Contacts, newest first',
    description: 'Use POST /contacts/search for other conditions.',
    query: z.object({
      ...pageQuery(100),
      q: z.string().max(200).optional().meta({ description: 'Part of name, email or company' }),
      category: inCategory,
    }),
    success: { status: 200, body: contactPage },
    handler: async (ctx, { query: { limit, cursor, ...narrow } }) =>
      presentPage(await listContacts(ctx, { limit, cursor }, narrow), presentContact),
  }),
  route({
    ...read,
    operationId: 'contacts.search',
    method: 'post',
    path: '/contacts/search',
    readOnly: true,
    isQuestion: true,
    summary: 'Contacts that match filters',
    description:
      'A cursor is valid only with the same filters and order. lead_status and engagement need exactly one campaign id.',
    query: z.object({ ...pageQuery(100), category: inCategory }),
    body: contactSearch,
    furtherProblems: async (_ctx, body) => filterProblems(body),
    success: { status: 200, body: foundContactPage },
    errors: FILTER_ERRORS,
    handler: async (ctx, { query: { limit, cursor, category }, body }) => {
      const search = category ? { ...body, category_ids: [...(body.category_ids ?? []), category] } : body;
      return presentPage(await searchContacts(ctx, { limit, cursor }, search), (found) => presentFound(found, ctx));
    },
  }),
  route({
    ...write,
    operationId: 'contacts.create',
    method: 'post',
    path: '/contacts',
    summary: 'Add contacts',
    description:
      'The body is always an array of 1 to 1000. A known address is updated with the sent non-empty fields, never duplicated. More than 100 contacts count as a bulk import, which emits no contact.created. A `verification_status` is stored for contacts without a verdict. ' +
      'Leads that a key or application adds beyond its policy to a campaign that sends are held until a person approves them: the answer is 202, and the contacts are stored.',
    body: z.array(contactCreate),
    furtherProblems: async (ctx, body) => [
      ...(await unknownProblems(reader(ctx), recordsOfContacts(body))),
      ...statedProblems(body),
    ],
    bodyLimit: 8 * 1024 * 1024,
    success: { status: 200, body: z.array(contact), description: 'Each distinct contact once, in the order sent' },
    errors: ['too_many_contacts', 'unknown_verification_status', 'unknown_verification_provider'],
    awaiting: awaitingApproval,
    handler: (ctx, { body }) =>
      answerOrAwait(ctx, async (held) => (await createContacts(ctx, body, held)).map(presentContact)),
  }),
  route({
    ...write,
    scope: ['WRITE_CONTACTS', 'READ_UNIBOX'],
    operationId: 'contacts.createReferred',
    method: 'post',
    path: '/unibox/:id/contact',
    summary: 'Add the person whom a received message names',
    description:
      'The `person` of its `answer`: somebody to write to instead, or a deputy. Their `source` is `referral`, and `source_detail` names the message. A known contact only gets what it lacks.',
    params: idParams,
    success: { status: 200, body: contact },
    errors: ['not_found', 'conflict'],
    handler: async (ctx, { params }) => presentContact(await createReferredContact(ctx, params.id)),
  }),
  route({
    ...bulk,
    operationId: 'contacts.updateMany',
    method: 'patch',
    path: '/contacts',
    summary: 'Edit many contacts',
    description:
      'Select contacts with `contacts` (at most 1000 ids) or with `all` and `filters` (at most 50000 matches), minus `exclude`. `verify` queues the addresses for verification, at most EMAIL_VERIFICATIONS_PER_MINUTE per minute; it changes no other field.',
    body: bulkUpdate,
    furtherProblems: (ctx, body) => unknownProblems(reader(ctx), recordsOfBulkEdit(body)),
    bodyLimit: SELECTION_BODY,
    success: { status: 200, body: z.array(contact) },
    errors: SELECTION_ERRORS,
    awaiting: awaitingApproval,
    handler: (ctx, { body }) =>
      answerOrAwait(ctx, async (held) => (await updateContacts(ctx, body, held)).map(presentContact)),
  }),
  route({
    ...bulk,
    operationId: 'contacts.deleteMany',
    method: 'delete',
    path: '/contacts',
    summary: 'Delete many contacts',
    body: bulkDelete,
    bodyLimit: SELECTION_BODY,
    success: { status: 204 },
    errors: SELECTION_ERRORS,
    handler: async (ctx, { body }) => {
      await deleteContacts(ctx, body);
    },
  }),
  route({
    ...read,
    operationId: 'contacts.count',
    method: 'post',
    path: '/contacts/count',
    readOnly: true,
    isQuestion: true,
    summary: 'Count the contacts of a selection',
    description: 'Selects contacts as PATCH /contacts does.',
    body: z.strictObject(selection),
    bodyLimit: SELECTION_BODY,
    success: { status: 200, body: z.strictObject({ count: z.int() }) },
    errors: SELECTION_ERRORS,
    handler: async (ctx, { body }) => ({
      count: (await readSelection(reader(ctx), body, ctx.clock.now())).length,
    }),
  }),
  route({
    ...bulk,
    operationId: 'contacts.createBulkEdit',
    method: 'post',
    path: '/contacts/bulk-edits',
    summary: 'Change many contacts so that it can be undone',
    description:
      'Selects contacts as PATCH /contacts does, applies one action, and answers how many it has changed. It can be undone for a day. Leads that a key or application adds beyond its policy are held until a person approves them: the answer is 202.',
    body: bulkEditBody,
    furtherProblems: async (ctx, { action }) => (action ? actionProblems(reader(ctx), action) : []),
    bodyLimit: SELECTION_BODY,
    success: { status: 200, body: bulkEdit },
    errors: SELECTION_ERRORS,
    awaiting: awaitingApproval,
    handler: (ctx, { body: { action, ...selected } }) =>
      answerOrAwait(ctx, async (held) => presentBulkEdit(await applyBulkEdit(ctx, selected, action, held))),
  }),
  route({
    ...bulk,
    operationId: 'contacts.verify',
    method: 'post',
    path: '/contacts/verification',
    summary: 'Verify many addresses, or set their verdict',
    description:
      'A bulk edit: selects contacts as PATCH /contacts does, and can be undone for a day. `verify` checks addresses in the background, also those with a verdict, which is kept until then. `mark_deliverable` and `mark_undeliverable` set the verdict as stated by a person. GET /contacts/bulk-edits/{id} has the progress, and bulk_operation.completed is emitted at the end.',
    body: verificationBody,
    bodyLimit: SELECTION_BODY,
    refusal: ({ path }) => (path === 'body.action' ? 'invalid_action' : 'bad_request'),
    success: { status: 200, body: verificationRequested },
    errors: ['invalid_action', 'no_contacts', ...SELECTION_ERRORS],
    handler: async (ctx, { body: { action: type, ...selected } }) => {
      const action = type === 'verify' ? { type, again: true } : { type };
      return presentVerification(await applyBulkEdit(ctx, selected, action, { ifNone: 'no_contacts' }));
    },
  }),
  route({
    ...read,
    operationId: 'contacts.getBulkEdit',
    method: 'get',
    path: '/contacts/bulk-edits/:id',
    summary: 'Get a bulk edit with its progress',
    description: 'It is kept for a day, and as long as addresses wait for their check.',
    params: idParams,
    success: { status: 200, body: bulkEdit },
    handler: async (ctx, { params }) => presentBulkEdit(await getBulkEdit(ctx, params.id)),
  }),
  route({
    ...bulk,
    operationId: 'contacts.undoBulkEdit',
    method: 'post',
    path: '/contacts/bulk-edits/:id/undo',
    summary: 'Undo a bulk edit',
    description:
      'Restores what the edit has changed: memberships, categories, suppressions, planned verifications. Emails that left in the meantime stay sent. A lead that was removed starts again, without the steps that it already got. Answers 409 if it was undone before, or is older than a day.',
    params: idParams,
    success: { status: 200, body: bulkEdit },
    errors: ['not_found', 'conflict'],
    awaiting: awaitingApproval,
    handler: (ctx, { params }) =>
      answerOrAwait(ctx, async (held) => presentBulkEdit(await undoBulkEdit(ctx, params.id, held))),
  }),
  route({
    ...read,
    operationId: 'contacts.lookUp',
    method: 'get',
    path: '/contacts/lookup',
    summary: 'Find the contact of an address',
    description: 'Accepts `Name <addr>`. Answers 200 with null when no contact has the address.',
    query: z.object({ email: z.string().meta({ description: 'Address, also as `Name <address>`' }) }),
    success: { status: 200, body: z.strictObject({ contact: contact.nullable() }) },
    handler: async (ctx, { query }) => {
      const found = await lookupContact(ctx, query.email);
      return { contact: found ? presentContact(found) : null };
    },
  }),
  route({
    ...read,
    operationId: 'contacts.get',
    method: 'get',
    path: '/contacts/:id',
    summary: 'Get one contact with its engagement and suppression',
    description: 'Includes campaigns, categories and custom fields.',
    params: idParams,
    success: { status: 200, body: contactDetail },
    handler: async (ctx, { params }) => presentDetail(await getContact(ctx, params.id), ctx),
  }),
  route({
    ...write,
    operationId: 'contacts.update',
    method: 'patch',
    path: '/contacts/:id',
    summary: 'Change a contact',
    description:
      'Omitted fields keep their values. A new address resets the verification verdict. add_categories and remove_categories are ignored if categories is given. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409.',
    params: idParams,
    body: contactUpdate.extend(expectedVersion),
    furtherProblems: (ctx, { expected_updated_at: _seen, ...body }) =>
      unknownProblems(reader(ctx), recordsOfEdit(body)),
    stops: ({ subscribed }) => subscribed === false,
    success: { status: 200, body: contact },
    errors: ['contact_email_taken', 'conflict'],
    awaiting: awaitingApproval,
    handler: (ctx, { params, body: { expected_updated_at: expectedUpdatedAt, ...edit } }) =>
      answerOrAwait(ctx, async (held) =>
        presentContact(await updateContact(ctx, params.id, edit, { ...held, expectedUpdatedAt })),
      ),
  }),
  route({
    ...write,
    operationId: 'contacts.delete',
    method: 'delete',
    path: '/contacts/:id',
    summary: 'Delete a contact',
    description:
      'Campaigns first stop emailing the contact. Emails already sent are kept without the contact, and a suppression of the address stays.',
    params: idParams,
    success: { status: 204 },
    handler: async (ctx, { params }) => {
      await deleteContact(ctx, params.id);
    },
  }),
];
