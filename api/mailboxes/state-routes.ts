import { z } from 'zod';
import { readIdentity, refreshIdentity, type SendIdentity } from '../../domain/mailboxes/send-as.ts';
import { readSyncState } from '../../domain/mailboxes/sync-state.ts';
import { render } from '../../messages/render.ts';
import { route } from '../http/route.ts';
import { idParams, iso, resource, timestamp } from '../http/schemas.ts';

const area = 'mailboxes';
const read = { area, scope: ['READ_EMAILS'], permission: 'view_campaigns' } as const;
const write = { area, scope: ['WRITE_EMAILS'], permission: 'manage_settings' } as const;
const one = { params: idParams, mailboxParam: 'id' } as const;

const syncState = resource('MailboxSync', {
  last_synced_at: timestamp.nullable().meta({ description: 'Time at which a folder was last read to its end' }),
  deferred: z.int().meta({ description: 'Messages that could not be read and wait for another attempt' }),
  folders: z
    .array(
      z.strictObject({
        folder: z.string().meta({ description: 'IMAP folder' }),
        last_id: z.int().meta({ description: 'Highest IMAP UID that was read' }),
        last_synced_at: timestamp.nullable(),
        failures: z.int().meta({ description: 'Successive failures to read it' }),
        retry_at: timestamp.nullable(),
        last_error: z.string().nullable(),
      }),
    )
    .meta({ description: 'Empty before the first reading' }),
});

const identity = resource('MailboxSendIdentity', {
  supported: z.boolean().meta({ description: 'True for Gmail' }),
  provider: z.enum(['gmail', 'outlook', 'smtp_imap']),
  mailbox_email: z.string(),
  send_as_email: z.string().meta({ description: 'Empty for its own address' }),
  identities: z.array(
    z.strictObject({
      email: z.string(),
      name: z.string(),
      is_primary: z.boolean(),
      is_default: z.boolean(),
      verified: z.boolean(),
    }),
  ),
  synced_at: timestamp.nullable(),
});

/** Routes of a mailbox's state at its provider: reading progress and send-as addresses. */
export const mailboxStateRoutes = [
  route({
    ...read,
    ...one,
    operationId: 'mailboxes.getSync',
    method: 'get',
    path: '/emails/:id/sync',
    summary: 'Show the reading state of a mailbox',
    success: { status: 200, body: syncState },
    errors: ['not_found'],
    handler: async (ctx, { params }) => {
      const { folders, deferred } = await readSyncState(ctx, params.id);
      const times = folders.flatMap(({ last_synced_at: at }) => (at ? [at.getTime()] : []));
      return {
        last_synced_at: times.length > 0 ? iso(new Date(Math.max(...times))) : null,
        deferred,
        folders: folders.map(({ last_uid, last_synced_at, retry_at, last_error, ...folder }) => ({
          ...folder,
          last_id: last_uid,
          last_synced_at: iso(last_synced_at),
          retry_at: iso(retry_at),
          last_error: last_error && render(last_error, ctx.language),
        })),
      };
    },
  }),
  route({
    ...read,
    ...one,
    operationId: 'mailboxes.getIdentity',
    method: 'get',
    path: '/emails/:id/identity',
    summary: 'List the sender addresses that a mailbox may use',
    description: 'The stored list; no provider is asked.',
    success: { status: 200, body: identity },
    errors: ['not_found'],
    handler: async (ctx, { params }) => presentIdentity(await readIdentity(ctx, params.id)),
  }),
  route({
    ...write,
    ...one,
    operationId: 'mailboxes.refreshIdentity',
    method: 'post',
    path: '/emails/:id/identity/refresh',
    idempotency: 'none',
    summary: 'Read the sender addresses of a mailbox from its provider',
    description: 'For Gmail. A chosen address that is no longer verified is cleared.',
    success: { status: 200, body: identity },
    errors: ['not_found', 'mailbox_send_as_unsupported', 'mailbox_identity_unavailable'],
    handler: async (ctx, { params }) => presentIdentity(await refreshIdentity(ctx, params.id)),
  }),
];

function presentIdentity({ mailbox, supported, identities, syncedAt }: SendIdentity): z.input<typeof identity> {
  return {
    supported,
    provider: mailbox.provider,
    mailbox_email: mailbox.email,
    send_as_email: mailbox.send_as_email,
    identities: identities.map(({ email, name, isPrimary, isDefault, verified }) => ({
      email,
      name,
      is_primary: isPrimary,
      is_default: isDefault,
      verified,
    })),
    synced_at: iso(syncedAt),
  };
}
