import { z } from 'zod';
import { listSent, type SentRow } from '../../../domain/inbox/threads/sent.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { iso, presentPage } from '../../http/schemas.ts';
import { snippetOf } from './routes.ts';
import { sentListQuery, sentPage } from './schemas.ts';

/** Routes of sent emails that were written in Heron. */
export const sentRoutes: readonly AnyRoute[] = [
  route({
    area: 'threads',
    scope: ['READ_UNIBOX'],
    permission: 'view_campaigns',
    operationId: 'unibox.listSent',
    method: 'get',
    path: '/unibox/sent',
    summary: 'List sent emails of people and agents, newest first',
    description:
      "One row per email, including those that may have been sent (`uncertain`) and those that were returned (`bounced`). `GET /unibox/thread` shows an email's conversation. Campaign emails are not listed.",
    query: sentListQuery,
    success: { status: 200, body: sentPage },
    handler: async (ctx, { query: { limit, cursor, email_id, email_ids, ...filters } }) => {
      const mailboxIds = email_id === undefined ? email_ids : [email_id, ...(email_ids ?? [])];
      return presentPage(await listSent(ctx, { limit, cursor }, { ...filters, mailboxIds }), presentSent);
    },
  }),
];

function presentSent({
  number: _number,
  mailbox_id,
  from_email,
  to_emails,
  cc_emails,
  bcc_emails,
  sent_at,
  ...row
}: SentRow): z.input<typeof sentPage>['data'][number] {
  return {
    ...row,
    state: row.state as 'sent',
    snippet: snippetOf(row.snippet),
    email_id: mailbox_id,
    from_addr: from_email === null ? [] : [from_email],
    to_addr: to_emails,
    cc_addr: cc_emails,
    bcc_addr: bcc_emails,
    internal_date: iso(sent_at),
  };
}
