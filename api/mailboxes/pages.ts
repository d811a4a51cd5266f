import { z } from 'zod';
import {
  confirmConsent,
  declineConsent,
  receiveConsent,
  type OfferedConsent,
} from '../../domain/mailboxes/give-consent.ts';
import { AppError } from '../../lib/errors.ts';
import type { AnyRoute, StreamReply } from '../http/route.ts';
import { sentForm, shownPage } from '../pages/declare.ts';
import { html } from '../http/html.ts';
import { messagePage, page } from '../pages/layout.ts';
import { hiddenFields, problem } from '../pages/sign-in.ts';
import type { Visit } from '../pages/visit.ts';
import { ruleMessage } from '../../lib/issue-message.ts';

const PATH = '/mailboxes/consent';
const text = z.string().max(4096).default('');
/**
 * Text that a provider sends in a redirect. Only visible ASCII is accepted, so that the maximum length keeps the URL
 * within the server's limit.
 */
const visible = (most: number, description: string) =>
  z
    .string()
    .max(most)
    .regex(/^[\x20-\x7e]*$/, ruleMessage('mailboxes.visible_ascii'))
    .default('')
    .meta({ description });

type Shown = Pick<OfferedConsent, 'secret'> & Partial<OfferedConsent>;

/** Pages on which a person confirms the use of their mailbox after the provider's redirect. */
export const consentPageRoutes: readonly AnyRoute[] = [
  shownPage({
    operationId: 'pages.mailboxConsent',
    path: PATH,
    summary: 'OAuth callback of mail providers: shows the workspace that the mailbox would be connected to',
    query: z.object({
      state: visible(200, 'As Heron sent it'),
      code: visible(4096, 'The code that the provider gives for the consent'),
      error: visible(200, 'Why there is no consent, in place of a code'),
    }),
    errors: ['mailbox_consent_expired', 'mailbox_auth_failed', 'service_unavailable'],
    show: async (visit, query) => confirmPage(visit, await receiveConsent(visit.ctx, query)),
  }),
  sentForm({
    operationId: 'pages.confirmMailboxConsent',
    path: PATH,
    summary: 'Connect the mailbox, or discard the consent',
    fields: { consent: text, answer: z.enum(['connect', 'decline']).default('decline') },
    errors: ['mailbox_consent_expired', 'mailbox_auth_failed', 'mailbox_allowance_reached', 'service_unavailable'],
    act: async (visit, { consent, answer }) => {
      const { mailbox: words } = visit.text;
      if (answer === 'decline') {
        await declineConsent(visit.ctx, consent);
        return messagePage(visit.text, 200, words.declined, html`<p>${words.declinedWhy}</p>`);
      }
      try {
        const { email } = await confirmConsent(visit.ctx, consent);
        return messagePage(
          visit.text,
          200,
          words.connected,
          html`<div class="note good"><p>${words.usable(email)}</p></div>`,
        );
      } catch (error) {
        // No data is lost while no worker responds, because the person can try again.
        if (error instanceof AppError && error.status === 503) return confirmPage(visit, { secret: consent }, error);
        throw error;
      }
    },
    back: () => '/',
  }),
];

function confirmPage(
  visit: Visit,
  { secret, email, organization, provider, askedBy }: Shown,
  refused?: AppError,
): StreamReply {
  const { mailbox: words } = visit.text;
  const asked = askedBy ? words.askedBy(askedBy) : null;
  const what = email
    ? html`<p>${words.would(organization ?? '', email, provider ?? '')}${asked}</p>
<p class="soft">${words.warning}</p>`
    : null;
  return page(visit.text, {
    title: words.title,
    status: refused?.status ?? 200,
    headers: refused?.headers,
    body: html`<h1>${words.question}</h1>${problem(visit, refused)}${what}
<form method="post" action="${PATH}">${hiddenFields(visit, '')}<input type="hidden" name="consent" value="${secret}">
<button class="main wide" name="answer" value="connect">${words.connect}</button>
<button class="wide" name="answer" value="decline">${words.decline}</button></form>`,
  });
}
