import { z } from 'zod';
import { mailboxAllowance } from '../../domain/mailboxes/allowance.ts';
import { checkAuthentication } from '../../domain/mailboxes/auth-check.ts';
import { connectMailbox, prepareConnect, type ConnectInput } from '../../domain/mailboxes/connect.ts';
import { connectMailboxes, prepareConnects } from '../../domain/mailboxes/connect-many.ts';
import { readConsent, startConsent } from '../../domain/mailboxes/consent.ts';
import { dialMailbox, liveCheck } from '../../domain/mailboxes/live-check.ts';
import { getMailbox, listMailboxes } from '../../domain/mailboxes/read.ts';
import { prepareUpdate, removeMailbox, tagProblems } from '../../domain/mailboxes/update.ts';
import { changeMailbox } from '../../domain/mailboxes/warmup/settings.ts';
import { readStanding } from '../../domain/mailboxes/warmup/standing.ts';
import { reader } from '../../domain/platform/kernel/transact.ts';
import { AppError } from '../../lib/errors.ts';
import { route } from '../http/route.ts';
import { expectedVersion, idParams, pageQuery, presentPage } from '../http/schemas.ts';
import {
  presentAllowance,
  presentAuthCheck,
  presentConnected,
  presentConsent,
  presentDetail,
  presentLiveCheck,
  presentMailbox,
  presentStartedConsent,
} from './present.ts';
import * as schemas from './schemas.ts';
import { message } from '../../messages/index.ts';

const area = 'mailboxes';
const read = { area, scope: ['READ_EMAILS'], permission: 'view_campaigns' } as const;
const write = { area, scope: ['WRITE_EMAILS'], permission: 'manage_settings' } as const;
const one = { params: idParams, mailboxParam: 'id' } as const;

/** @throws AppError mailbox_provider_requires_oauth for Google and Microsoft */
function smtpOnly(body: z.output<typeof schemas.connectMailbox>): ConnectInput {
  if (body.provider === 'smtp_imap') return body;
  throw new AppError('mailbox_provider_requires_oauth', message('mailboxes.needs_consent'), {
    fix: message('mailboxes.needs_consent.fix'),
  });
}

/** Routes of mailboxes. */
export const mailboxRoutes = [
  route({
    ...read,
    operationId: 'mailboxes.list',
    method: 'get',
    path: '/emails',
    summary: 'Mailboxes, newest first',
    description: 'Includes status, hold and daily cap; never a password.',
    query: z.object({
      ...pageQuery(100),
      q: z.string().max(200).optional().meta({ description: 'Part of the address or name' }),
      tag: z.uuid().optional().meta({ description: 'Only mailboxes with this tag' }),
    }),
    success: { status: 200, body: schemas.mailboxPage },
    handler: async (ctx, { query: { limit, cursor, ...filter } }) =>
      presentPage(await listMailboxes(ctx, { limit, cursor }, filter), (row) => presentMailbox(row, ctx)),
  }),
  route({
    ...write,
    operationId: 'mailboxes.connect',
    method: 'post',
    path: '/emails',
    summary: 'Connect an SMTP/IMAP mailbox',
    description:
      'A worker signs in to both servers and tests everything that reading needs before anything is stored; `problems` names the server and stage of a failure, or what the IMAP server lacks. A known address is reconnected: it gets the new credentials and keeps everything else.',
    body: schemas.connectMailbox,
    success: { status: 201, body: schemas.mailbox },
    errors: [
      'mailbox_auth_failed',
      'mailbox_provider_requires_oauth',
      'mailbox_allowance_reached',
      'mailbox_worker_unreachable',
      'service_unavailable',
    ],
    prepare: (ctx, { body }) => prepareConnect(ctx, smtpOnly(body)),
    handler: async (ctx, { body, prepared }) =>
      presentMailbox(await connectMailbox(ctx, smtpOnly(body), prepared), ctx),
  }),
  route({
    ...write,
    operationId: 'mailboxes.connectMany',
    method: 'post',
    path: '/emails/bulk',
    summary: 'Connect several SMTP/IMAP mailboxes',
    description:
      'Checks and connects each as POST /emails does. A mailbox that is refused, or exceeds the allowance, does not affect the others: its row has the error.',
    body: schemas.connectMailboxes,
    success: { status: 200, body: schemas.mailboxConnections },
    errors: ['mailbox_worker_unreachable', 'service_unavailable'],
    prepare: (ctx, { body }) => prepareConnects(ctx, body.mailboxes),
    handler: async (ctx, { prepared }) => {
      const connected = await connectMailboxes(ctx, prepared);
      return { results: connected.map((one, index) => presentConnected(one, index, ctx)) };
    },
  }),
  route({
    area,
    scope: 'any',
    permission: null,
    operationId: 'mailboxes.getAllowance',
    method: 'get',
    path: '/emails/allowance',
    summary: 'Get the number of mailboxes the workspace may still connect',
    description: 'Returns the limit and the number of mailboxes.',
    success: { status: 200, body: schemas.allowance },
    handler: async (ctx) => presentAllowance(await mailboxAllowance(ctx)),
  }),
  route({
    ...write,
    operationId: 'mailboxes.startConsent',
    method: 'post',
    path: '/emails/onboarding/oauth/cli-start',
    summary: 'Start connecting a Gmail or Outlook mailbox by consent',
    description:
      'Open `url` in a browser, grant access there and confirm the workspace on the following page. Meanwhile poll the result with `session`. The link is valid for 15 minutes. With an exhausted limit it is refused, unless the workspace has a mailbox of this provider that could be reconnected.',
    body: schemas.startConsent,
    success: { status: 200, body: schemas.startedConsent },
    errors: ['mailbox_provider_not_configured', 'mailbox_allowance_reached'],
    handler: async (ctx, { body }) => presentStartedConsent(await startConsent(ctx, body.provider)),
  }),
  route({
    ...write,
    operationId: 'mailboxes.getConsent',
    method: 'get',
    path: '/emails/onboarding/oauth/session/:session',
    summary: 'Get the result of a consent',
    description:
      'Poll about every two seconds until it is `done` or `failed`. After a failure `error` has the reason, and nothing is connected.',
    params: schemas.consentParams,
    success: { status: 200, body: schemas.consentResult },
    errors: ['mailbox_consent_expired'],
    handler: async (ctx, { params }) => presentConsent(await readConsent(ctx, params.session), ctx),
  }),
  route({
    ...read,
    ...one,
    operationId: 'mailboxes.get',
    method: 'get',
    path: '/emails/:id',
    summary: 'One mailbox with the campaigns it sends for and recent errors',
    description: 'Includes its servers and its hold; never a password.',
    success: { status: 200, body: schemas.mailboxDetail },
    handler: async (ctx, { params }) => presentDetail(await getMailbox(ctx, params.id), ctx),
  }),
  route({
    ...write,
    ...one,
    operationId: 'mailboxes.update',
    method: 'patch',
    path: '/emails/:id',
    summary: 'Change a mailbox',
    description:
      'Omitted fields keep their values. New servers are tested before anything is stored. Disabling a mailbox releases its reserved slots. `warmup` starts and stops its warmup; new warmup settings replan the rest of its day. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409.',
    body: schemas.updateMailbox.extend(expectedVersion),
    furtherProblems: (ctx, { tags = [] }) => tagProblems(reader(ctx), tags),
    stops: ({ status }) => status !== undefined && status !== 'active',
    success: { status: 200, body: schemas.mailboxDetail },
    errors: [
      'conflict',
      'mailbox_auth_failed',
      'mailbox_provider_requires_oauth',
      'mailbox_send_as_unsupported',
      'mailbox_send_as_unknown',
      'warmup_enable_failed',
      'mailbox_worker_unreachable',
      'service_unavailable',
    ],
    prepare: (ctx, { params, body }) => prepareUpdate(ctx, params.id, body),
    handler: async (ctx, { params, body: { expected_updated_at: expectedUpdatedAt, ...edit }, prepared: facts }) =>
      presentDetail(await changeMailbox(ctx, params.id, edit, { expectedUpdatedAt, facts }), ctx),
  }),
  route({
    ...write,
    ...one,
    operationId: 'mailboxes.delete',
    method: 'delete',
    path: '/emails/:id',
    summary: 'Disconnect and delete a mailbox',
    description:
      'Deletes its credentials, imported mail, warmup history and sender links. Records of sent emails are kept; an email being sent is completed. A consent at Google is revoked a little later, with retries until that succeeds.',
    stops: true,
    success: { status: 204 },
    handler: (ctx, { params }) => removeMailbox(ctx, params.id),
  }),
  route({
    ...write,
    ...one,
    operationId: 'mailboxes.test',
    method: 'post',
    path: '/emails/:id/test',
    summary: 'Test the stored credentials',
    description:
      'Always 200 with a checklist; `error` names the problem. The IMAP server must do all that reading needs. Refused credentials hold the mailbox, working ones release such a hold.',
    success: { status: 200, body: schemas.liveCheck },
    prepare: (ctx, { params }) => dialMailbox(ctx, params.id),
    handler: async (ctx, { params, prepared }) =>
      presentLiveCheck(await liveCheck(ctx, params.id, prepared), await readStanding(ctx, params.id), ctx),
  }),
  route({
    ...read,
    ...one,
    operationId: 'mailboxes.checkAuthentication',
    method: 'get',
    path: '/emails/:id/auth-check',
    summary: 'Check SPF, DKIM and DMARC of the sending domain',
    description: 'DKIM is searched under common selectors, because DNS cannot list them.',
    success: { status: 200, body: schemas.authCheck },
    handler: async (ctx, { params }) => presentAuthCheck(await checkAuthentication(ctx, params.id), ctx),
  }),
];
