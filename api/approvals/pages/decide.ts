import { z } from 'zod';
import { decideApproval } from '../../../domain/approvals/decide.ts';
import { approvalPlace, type ApprovalPlace } from '../../../domain/approvals/place.ts';
import { approvalStatus, endReason, findApproval, type ApprovalRow } from '../../../domain/approvals/view.ts';
import { may } from '../../../domain/platform/kernel/actor.ts';
import { reader } from '../../../domain/platform/kernel/transact.ts';
import { badRequest, notFound } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import type { AnyRoute, StreamReply } from '../../http/route.ts';
import { tokenParams } from '../../pages/fields.ts';
import { sentForm, shownPage } from '../../pages/declare.ts';
import { html } from '../../http/html.ts';
import { messagePage, page, redirect } from '../../pages/layout.ts';
import { APPROVAL_PATH, approvalRequest } from '../../pages/return-to.ts';
import { hiddenFields, signInPage } from '../../pages/sign-in.ts';
import type { Visit } from '../../pages/visit.ts';
import type { PageTexts } from '../../pages/texts.ts';
import { MAX_LEADS_PER_DAY } from '../schemas.ts';
import { contentView } from './content.ts';
import { emailPage } from './email.ts';

const path = (id: string) => `${APPROVAL_PATH}/${encodeURIComponent(id)}`;

/**
 * Pages of an approval link: the held content as it would be sent, and the form for the decision. Viewing a page makes
 * no decision.
 */
export const approvalPageRoutes: readonly AnyRoute[] = [
  shownPage({
    operationId: 'pages.approval',
    path: `${APPROVAL_PATH}/:token`,
    params: tokenParams,
    summary: 'Show what an agent wants to do, with the form to approve or deny it',
    errors: ['not_found', 'forbidden'],
    show: (visit, _query, id) => withApproval(visit, id, (approval, place) => approvalPage(visit, approval, place)),
  }),
  shownPage({
    operationId: 'pages.approvalSample',
    path: `${APPROVAL_PATH}/:token/sample`,
    params: tokenParams,
    query: z.object({
      n: z.unknown().optional().meta({ type: 'string', description: 'Index of the sample, from 0' }),
    }),
    summary: 'One sample email of an approval, without scripts or external resources',
    errors: ['not_found', 'forbidden'],
    show: (visit, { n }, id) =>
      withApproval(visit, id, async ({ payload }) => {
        const sample = /^\d$/.test(String(n)) ? payload.samples[Number(n)] : undefined;
        if (!sample) throw notFound('sample');
        return emailPage(sample.html);
      }),
  }),
  sentForm({
    operationId: 'pages.decideApproval',
    path: `${APPROVAL_PATH}/:token`,
    params: tokenParams,
    summary: 'Approve or deny, with a reason',
    fields: {
      decision: z.enum(['approved', 'denied']),
      reason: z.string().max(2000).default(''),
      leads_per_day: z.string().default('').meta({ description: 'Allowance of further leads a day; empty for none' }),
    },
    errors: ['bad_request', 'not_found', 'forbidden', 'conflict'],
    back: path,
    act: async (visit, { decision, reason, leads_per_day: leads }, id) => {
      if (!visit.signedIn) return signInPage(visit, { request: approvalRequest(id) });
      const leadsPerDay = decision === 'approved' ? leadsIn(leads) : undefined;
      await decideApproval(visit.ctx, id, { decision, reason: reason.trim(), leadsPerDay });
      return redirect(path(id));
    },
  }),
];

/**
 * Shows a page of an approval to a person who may decide it. Sends anyone else through sign-in or to the right
 * workspace.
 */
async function withApproval(
  visit: Visit,
  id: string,
  show: (approval: ApprovalRow, place: ApprovalPlace) => Promise<StreamReply>,
): Promise<StreamReply> {
  if (!visit.signedIn) return signInPage(visit, { request: approvalRequest(id) });
  const place = await approvalPlace(visit.ctx, id);
  if (!place) throw notFound('approval');
  if (place.id !== visit.ctx.actor.organizationId) return otherWorkspacePage(visit, id, place);
  if (!may(visit.ctx.actor, [], ['send_campaigns']))
    return messagePage(
      visit.text,
      403,
      visit.text.approval.notYours,
      html`<div class="note bad" role="alert">${visit.text.approval.needsSending(place.name)}</div>`,
    );
  return show(await findApproval(reader(visit.ctx), id), place);
}

function otherWorkspacePage(visit: Visit, id: string, place: { id: string; name: string }): StreamReply {
  const { approval: words } = visit.text;
  return page(visit.text, {
    title: words.elsewhere(place.name),
    body: html`<h1>${words.elsewhere(place.name)}</h1>
<p>${words.belongs(place.name)}</p>
<form method="post" action="/account/workspace">${hiddenFields(visit, approvalRequest(id))}<input type="hidden" name="organization_id" value="${place.id}">
<button class="main wide">${words.goTo(place.name)}</button></form>`,
  });
}

async function approvalPage(visit: Visit, approval: ApprovalRow, place: ApprovalPlace): Promise<StreamReply> {
  const { ctx, text } = visit;
  const title = text.plainly(approval.payload.title);
  const now = ctx.clock.now();
  const status = approvalStatus(approval, now);
  return page(text, {
    title,
    wide: true,
    frames: true,
    body: html`<h1>${title}</h1>
<p class="soft">${text.approval.asked(approval.requester_name, approval.api_key_id !== null, text.moment(approval.created_at))}</p>
${state(text, status, approval, now)}
${contentView(text, approval, `${path(approval.id)}/sample`)}
${status === 'pending' ? decisionForm(visit, approval) : null}
<form method="post" action="/account/sign-out" class="who">${hiddenFields(visit, approvalRequest(approval.id))}<p class="soft">${text.signedInAs(place.person_email)}</p><button class="link">${text.notYou}</button></form>`,
  });
}

function state(text: PageTexts, status: ApprovalRow['status'], approval: ApprovalRow, now: Date) {
  const { approval: words, moment } = text;
  const at = () => moment(approval.decided_at!);
  const said = endReason(approval, now);
  const reason = said ? html`<p>${text.plainly(said)}</p>` : null;
  switch (status) {
    case 'pending':
      return html`<div class="note warn"><p>${words.waits(moment(approval.expires_at))}</p>
<ul class="plain">${approval.reasons.map(({ message }) => html`<li>${text.plainly(message)}.</li>`)}</ul></div>`;
    case 'approved':
      return html`<div class="note good" role="status"><p>${words.approved(at())}</p>${reason}</div>`;
    case 'executed':
      return html`<div class="note good" role="status"><p>${words.executed(at())}</p>${reason}</div>`;
    case 'denied':
      return html`<div class="note bad" role="status"><p>${words.denied(at())}</p>${reason}</div>`;
    case 'expired':
      return html`<div class="note bad" role="status"><p><strong>${words.expired}</strong></p>${reason}</div>`;
  }
}

function decisionForm(visit: Visit, approval: ApprovalRow) {
  const { approval: words } = visit.text;
  return html`<h2 class="part">${words.decision}</h2><form method="post" action="${path(approval.id)}">${hiddenFields(visit, approvalRequest(approval.id))}
${
  approval.subject_type === 'campaign_leads'
    ? html`<label class="field">${words.leadsPerDay(approval.requester_name)}<input class="text" type="number" name="leads_per_day" min="1" max="${String(MAX_LEADS_PER_DAY)}" inputmode="numeric"></label><p class="soft">${words.leadsPerDayWhy}</p>`
    : null
}
<label class="field">${words.reason}<textarea class="text" name="reason" rows="3" maxlength="2000"></textarea></label>
<div class="actions"><button class="danger" name="decision" value="denied">${words.deny}</button><button class="main" name="decision" value="approved">${words.approve}</button></div></form>`;
}

/**
 * Returns the number in an optional form field.
 * @throws AppError bad_request unless it is a whole number in range
 */
function leadsIn(text: string): number | undefined {
  if (text.trim() === '') return undefined;
  const leads = Number(text);
  if (Number.isInteger(leads) && leads >= 1 && leads <= MAX_LEADS_PER_DAY) return leads;
  throw badRequest(message('approval.leads_per_day', { max: MAX_LEADS_PER_DAY }));
}
