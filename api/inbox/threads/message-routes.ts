import { z } from 'zod';
import { fetchImages } from '../../../domain/inbox/threads/images.ts';
import { correctReading } from '../../../domain/inbox/threads/correct.ts';
import { openFile, readMessage, type StoredMessage } from '../../../domain/inbox/threads/message.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { idParams, iso } from '../../http/schemas.ts';
import { presentAnswer, presentFiles } from './routes.ts';
import { correctionBody, imageList, receivedMessage } from './schemas.ts';

const read = { area: 'threads', scope: ['READ_UNIBOX'], permission: 'view_campaigns' } as const;
const write = { area: 'threads', scope: ['WRITE_UNIBOX'], permission: 'send_campaigns' } as const;
/** Maximum number of characters of a message text in an answer. */
const MAX_TEXT = 64 * 1024;

/** Headers that make a browser save a received file instead of displaying it. */
const NEVER_SHOWN = {
  'Content-Security-Policy': "sandbox; default-src 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'private, no-store',
} as const;

/** Routes of single received messages and of message files. */
export const messageRoutes: readonly AnyRoute[] = [
  route({
    ...read,
    operationId: 'unibox.get',
    method: 'get',
    path: '/unibox/:id',
    summary: 'Get a message with its text, received or sent',
    description: 'A sent message is shown as it was sent, before tracking was added.',
    params: idParams,
    success: { status: 200, body: receivedMessage },
    errors: ['not_found'],
    handler: async (ctx, { params }) => presentMessage(await readMessage(ctx, params.id)),
  }),
  route({
    ...write,
    operationId: 'unibox.correctReading',
    method: 'patch',
    path: '/unibox/:id',
    summary: 'Correct the classification of a received message',
    description:
      'A person says what kind of message it is, or that it does not ask to stop. Suppressions, tasks, automations, figures and holds are updated; a sequence that has ended stays ended. `opt_out` suppresses the address that wrote, and its recipient where they are the same person or a decision about them is open. Another kind reverts an opt-out that was detected by mistake. Later classifications in the workspace take corrections into account.',
    params: idParams,
    body: correctionBody,
    success: { status: 200, body: receivedMessage },
    errors: ['not_found', 'conflict'],
    handler: async (ctx, { params, body }) => {
      await correctReading(ctx, params.id, body.intent ? { kind: body.intent } : { asksToStop: false });
      return presentMessage(await readMessage(ctx, params.id));
    },
  }),
  route({
    ...read,
    operationId: 'unibox.getImages',
    method: 'get',
    path: '/unibox/:id/images',
    summary: 'Fetch the images referenced by a received message',
    description:
      'Images are not loaded with a message, because its sender would learn that it was read. This fetches the images whose URLs are `data-src` in `body_html`: the first 30, at most 1 MiB each and 8 MiB in total, PNG, JPEG, GIF and WebP. The server fetches them, so the sender sees its address and no reader. Images that cannot be fetched are omitted.',
    params: idParams,
    success: { status: 200, body: imageList },
    errors: ['not_found'],
    prepare: (ctx, { params }) => fetchImages(ctx, params.id),
    handler: async (_ctx, { prepared }) => ({
      data: prepared.map(({ src, contentType, bytes }) => ({
        src,
        content_type: contentType as 'image/png',
        content: bytes.toString('base64'),
      })),
    }),
  }),
  route({
    ...read,
    operationId: 'unibox.downloadFile',
    method: 'get',
    path: '/unibox/:id/attachments/:fileId',
    summary: 'Download a file of a message',
    description:
      "Works for received messages and for emails written here; the list of a message's files has the `url`. The file is always sent as a download: it comes from a stranger and was not scanned for viruses.",
    params: z.object({ id: z.string(), fileId: z.string() }),
    success: { status: 200, body: 'stream', contentType: 'application/octet-stream' },
    errors: ['not_found'],
    handler: async (ctx, { params }) => {
      const { filename, sizeBytes, bytes } = await openFile(ctx, params.id, params.fileId);
      return {
        stream: bytes,
        contentType: 'application/octet-stream',
        headers: {
          ...NEVER_SHOWN,
          'Content-Disposition': contentDisposition(filename),
          'Content-Length': String(sizeBytes),
        },
      };
    },
  }),
];

function presentMessage({ body_html, files, ...row }: StoredMessage): z.input<typeof receivedMessage> {
  return {
    id: row.id,
    direction: row.direction,
    email_id: row.mailbox_id,
    thread_id: row.thread_id,
    message_id: row.message_id,
    in_reply_to: row.in_reply_to === null ? [] : [row.in_reply_to],
    from: row.from_email === '' ? [] : [row.from_email],
    from_name: row.from_name,
    to: row.to_emails,
    cc: row.cc_emails,
    bcc: row.bcc_emails,
    reply_to: row.reply_to_emails,
    subject: row.subject,
    size: row.size,
    internal_date: iso(row.received_at),
    body_plain: row.body_plain,
    ...(body_html === null ? {} : { body_html }),
    body_truncated: row.error !== null || row.body_plain.length >= MAX_TEXT,
    attachments: presentFiles(row.id, files),
    kind: row.kind,
    intent: row.intent,
    answer: presentAnswer(row),
    asks_to_stop: row.asks_to_stop,
    contact_id: row.contact_id,
    campaign_id: row.campaign_id,
  };
}

/**
 * Builds the header of a download with any file name (RFC 6266). Quotes, line breaks and non-ASCII characters appear
 * only in encoded form.
 */
function contentDisposition(filename: string): string {
  const ascii = filename.replace(/[^\w.() -]/g, '_');
  const encoded = encodeURIComponent(filename).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
