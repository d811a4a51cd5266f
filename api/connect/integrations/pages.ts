import { Readable } from 'node:stream';
import { z } from 'zod';
import { INBOUND_PATH } from '../../../domain/connect/integrations/connections.ts';
import { receiveBooking } from '../../../domain/connect/integrations/inbound.ts';
import { CALLBACK_PATH, finishProviderConsent } from '../../../domain/connect/integrations/oauth.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { readBytes } from '../../http/raw-body.ts';
import { shownPage } from '../../pages/declare.ts';
import { html } from '../../http/html.ts';
import { messagePage } from '../../pages/layout.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';

const MAX_WEBHOOK_BYTES = 512 * 1024;
/**
 * Text that a provider sends in a redirect. Only visible ASCII is accepted, so that the maximum length keeps the URL
 * within the server's limit.
 */
const visible = (most: number, description: string) =>
  z
    .string()
    .max(most)
    .regex(/^[\x20-\x7e]*$/, ruleMessage('connect.visible_ascii'))
    .default('')
    .meta({ description });

/** Routes to which providers redirect people, and to which scheduling providers report bookings. */
export const integrationPageRoutes: readonly AnyRoute[] = [
  shownPage({
    operationId: 'pages.integrationConsent',
    path: CALLBACK_PATH,
    summary: 'OAuth callback of integration providers: connects the account for the person who started it',
    query: z.object({
      state: visible(200, 'As Heron sent it'),
      code: visible(4096, 'The code that the provider gives for the consent'),
      error: visible(200, 'Why there is no consent, in place of a code'),
    }),
    errors: ['unauthorized', 'forbidden', 'not_found', 'service_unavailable'],
    show: async (visit, query) => {
      const connection = await finishProviderConsent(visit.ctx, query);
      const { integration: words } = visit.text;
      return messagePage(
        visit.text,
        200,
        words.connected,
        html`<div class="note good"><p>${words.usable(connection.label)}</p></div>`,
      );
    },
  }),
  route({
    operationId: 'integrations.receiveBooking',
    atRoot: true,
    method: 'post',
    path: `${INBOUND_PATH}/:token`,
    area: 'integrations',
    scope: 'public',
    permission: null,
    organization: false,
    summary: 'Receive signed webhooks of scheduling providers',
    description:
      'Each connection has its own URL. The signature is verified over the bytes of the body. A body is applied once; a late one does not undo newer changes.',
    consumes: 'raw',
    params: z.object({ token: z.string() }),
    body: z.instanceof(Readable).meta({ description: 'Message of the provider as JSON' }),
    success: {
      status: 200,
      body: z.strictObject({
        received: z.literal(true),
        outcome: z.string().meta({
          description:
            'Effect of the webhook; `duplicate`, `ignored` and `stale` changed nothing. `kept` means that the body could not be parsed and is a dead letter that can be replayed',
        }),
      }),
    },
    errors: ['bad_request', 'unauthorized', 'not_found'],
    handler: async (ctx, { body, params, headers }) => ({
      received: true as const,
      outcome: await receiveBooking(ctx, {
        token: params.token,
        headers,
        rawBody: await readBytes(body, MAX_WEBHOOK_BYTES),
      }),
    }),
  }),
];
