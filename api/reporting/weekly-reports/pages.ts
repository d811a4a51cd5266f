import { z } from 'zod';
import {
  findReportOptOut,
  setReportOptOut,
  type ReportOptOut,
} from '../../../domain/reporting/weekly-reports/opt-out.ts';
import { html } from '../../http/html.ts';
import { messagePage, page } from '../../pages/layout.ts';
import { textsFor, type PageTexts } from '../../pages/texts.ts';
import { route, type StreamReply } from '../../http/route.ts';

const link = {
  atRoot: true,
  area: 'pages',
  path: '/weekly-report/:token',
  scope: 'public',
  permission: null,
  organization: false,
  params: z.object({ token: z.string() }),
  success: { status: 200, body: 'stream', contentType: 'text/html' },
  otherAnswers: { 404: { description: 'Error page', contentType: 'text/html' } },
} as const;

/** Pages of the unsubscribe link in a weekly report. They need no sign-in, and opening a page changes nothing. */
export const weeklyReportPages = [
  route({
    ...link,
    operationId: 'pages.weeklyReport',
    method: 'get',
    summary: "Show whether a member gets a workspace's weekly report",
    description: 'Page of the link in a report. Opening it changes nothing.',
    handler: async (ctx, { params, headers }) =>
      optOutPage(textsFor(headers['accept-language']), await findReportOptOut(ctx, params.token)),
  }),
  route({
    ...link,
    operationId: 'pages.setWeeklyReport',
    method: 'post',
    summary: 'Stop or resume the weekly report',
    description:
      "Used by the page's buttons and by the one-click request of mail programs (RFC 8058), for the member and workspace of the link. Repeating it changes nothing.",
    consumes: 'form',
    bodyLimit: 4 * 1024,
    idempotency: 'none',
    body: z.looseObject({
      action: z.string().max(20).optional().meta({ description: '`resume` resumes; any other value stops' }),
    }),
    handler: async (ctx, { params, body, headers }) => {
      const found = await findReportOptOut(ctx, params.token);
      if (found) await setReportOptOut(ctx, found, body.action === 'resume' ? 'resume' : 'stop', ctx.requestId);
      return optOutPage(textsFor(headers['accept-language']), found && { ...found, done: body.action !== 'resume' });
    },
  }),
];

function optOutPage(text: PageTexts, found: ReportOptOut | undefined): StreamReply {
  const { weeklyReport: words } = text;
  if (!found) return messagePage(text, 404, words.badLink, html`<p>${words.badLinkWhy}</p>`);
  const { organizationName: name, done } = found;
  return page(text, {
    title: words.title,
    body: html`<h1>${words.of(name)}</h1>
<p>${done ? words.stopped : words.comes}</p>
<form method="post"><input type="hidden" name="action" value="${done ? 'resume' : 'stop'}"><button>${done ? words.resume : words.stop}</button></form>`,
  });
}
