import { z } from 'zod';
import { createNote, deleteNote, listNotes, updateNote } from '../../domain/crm/notes.ts';
import { route } from '../http/route.ts';
import { idParams, paged, pageQuery, presentPage } from '../http/schemas.ts';
import { presentNote } from './present.ts';
import { note, noteCreate, noteParams, noteUpdate } from './schemas.ts';

const area = 'crm';
const read = { area, scope: ['READ_CONTACTS'], permission: 'view_contacts' } as const;
const write = { area, scope: ['WRITE_CONTACTS'], permission: 'manage_contacts' } as const;

/** Routes of notes about contacts. */
export const noteRoutes = [
  route({
    ...read,
    operationId: 'contacts.listNotes',
    method: 'get',
    path: '/contacts/:id/notes',
    summary: 'List the notes about a contact, newest first',
    params: idParams,
    query: z.object(pageQuery(100)),
    success: { status: 200, body: paged(note) },
    handler: async (ctx, { params, query }) => presentPage(await listNotes(ctx, params.id, query), presentNote),
  }),
  route({
    ...write,
    operationId: 'contacts.createNote',
    method: 'post',
    path: '/contacts/:id/notes',
    summary: 'Write a note about a contact',
    description: 'People of the workspace see it; it is never sent. It is deleted with the contact.',
    params: idParams,
    body: noteCreate,
    success: { status: 201, body: note },
    handler: async (ctx, { params, body }) => presentNote(await createNote(ctx, params.id, body.content)),
  }),
  route({
    ...write,
    operationId: 'contacts.updateNote',
    method: 'patch',
    path: '/contacts/:id/notes/:noteId',
    summary: 'Change a note about a contact',
    params: noteParams,
    body: noteUpdate,
    success: { status: 200, body: note },
    handler: async (ctx, { params, body }) =>
      presentNote(await updateNote(ctx, params.id, params.noteId, body.content)),
  }),
  route({
    ...write,
    operationId: 'contacts.deleteNote',
    method: 'delete',
    path: '/contacts/:id/notes/:noteId',
    summary: 'Delete a note about a contact',
    params: noteParams,
    success: { status: 204 },
    handler: async (ctx, { params }) => {
      await deleteNote(ctx, params.id, params.noteId);
    },
  }),
];
