import { z } from 'zod';
import { readProfile } from '../../../../domain/identity/auth/profile.ts';
import { listAuthorizedApps, revokeGrant, type AuthorizedApp } from '../../../../domain/identity/oauth/grants.ts';
import { namesOf } from '../../../../lib/permissions.ts';
import type { StreamReply } from '../../../http/route.ts';
import { appCard, websiteLink } from './app-card.ts';
import { sentForm, shownPage } from '../../../pages/declare.ts';
import { html, type Html } from '../../../http/html.ts';
import { page, redirect } from '../../../pages/layout.ts';
import { APPS_PATH } from '../../../pages/return-to.ts';
import { groupedScopes, scopeDescription } from './scopes.ts';
import { hiddenFields, signInPage } from '../../../pages/sign-in.ts';
import type { Visit } from '../../../pages/visit.ts';

/** Pages of a person's authorized apps. */
export const appsRoutes = [
  shownPage({
    operationId: 'pages.authorizedApps',
    path: APPS_PATH,
    summary: 'Applications that a person has authorized, over all their workspaces',
    show: async (visit) => (visit.signedIn ? appsPage(visit) : signInPage(visit, { request: '' })),
  }),
  sentForm({
    operationId: 'pages.revokeApp',
    path: APPS_PATH,
    summary: "Revoke an application's access",
    description:
      'Every token of the grant stops working. A member revokes their own grant; an owner of the workspace revokes any grant there.',
    fields: { grant_id: z.string().default('') },
    errors: ['not_found'],
    act: async (visit, { grant_id }) => {
      if (visit.signedIn) await revokeGrant(visit.ctx, grant_id);
      return redirect(APPS_PATH);
    },
  }),
];

async function appsPage(visit: Visit): Promise<StreamReply> {
  const { text } = visit;
  const words = text.apps;
  const [{ user }, apps] = await Promise.all([
    readProfile(visit.ctx),
    listAuthorizedApps(visit.ctx, visit.ctx.actor.userId!),
  ]);
  const signOut = html`<form method="post" action="/account/sign-out">${hiddenFields(visit, '')}<button class="quiet">${words.signOut}</button></form>`;
  const list =
    apps.length === 0
      ? html`<div class="note">${words.none}</div>`
      : html`<ul class="apps">${apps.map((app) => item(visit, app))}</ul>`;
  return page(text, {
    title: words.title,
    wide: true,
    top: signOut,
    body: html`<h1>${words.title}</h1><p class="soft">${words.actFor(user.email)}</p>${list}`,
  });
}

function item(visit: Visit, app: AuthorizedApp): Html {
  const { text } = visit;
  const words = text.apps;
  const day = (date: Date) => html`<time datetime="${date.toISOString()}">${text.day(date)}</time>`;
  const website = websiteLink(app);
  const scopes = groupedScopes(text, namesOf(app.scopes)).flatMap(({ entries }) => entries);
  const facts = html`<p class="soft">${app.organization_name} · ${words.since} ${day(app.created_at)} · ${app.last_used_at ? html`${words.lastUsed} ${day(app.last_used_at)}` : words.notUsed}${app.people > 1 ? html` · ${words.people(app.people)}` : null}${website ? html` · ${website}` : null}${app.self_registered ? html` <span class="mark">${words.notVerified}</span>` : null}</p>
<details><summary>${words.may(scopes.length)}</summary><ul>${scopes.map((entry) => html`<li>${scopeDescription(text, entry)}</li>`)}</ul></details>`;
  const revoke = html`<form method="post" action="${APPS_PATH}">${hiddenFields(visit, '')}<input type="hidden" name="grant_id" value="${app.grant_id}"><button class="danger quiet" aria-label="${words.revokeLabel(app.name, app.organization_name)}">${app.for_all ? words.revokeForAll : words.revoke}</button></form>`;
  return html`<li>${appCard(app, html`<h2>${app.name}</h2>`, facts, revoke)}</li>`;
}
