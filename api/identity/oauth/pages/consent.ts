import { z } from 'zod';
import { readProfile } from '../../../../domain/identity/auth/profile.ts';
import {
  approveAuthorization,
  denyAuthorization,
  readAuthorizationRequest,
  type AuthorizationRefusal,
  type AuthorizationRequest,
} from '../../../../domain/identity/oauth/authorize.ts';
import { findClient, findOwner, type Client } from '../../../../domain/identity/oauth/clients.ts';
import { scopeName } from '../../../../domain/identity/scopes.ts';
import {
  listMyOrganizations,
  selectOrganization,
  type MyOrganization,
} from '../../../../domain/identity/organizations/organizations.ts';
import { grantableWith } from '../../../../lib/grantable.ts';
import { AppError, notFound } from '../../../../lib/errors.ts';
import { maskOf, type Permission } from '../../../../lib/permissions.ts';
import type { StreamReply } from '../../../http/route.ts';
import { appCard, destination, websiteLink } from './app-card.ts';
import { sentForm, shownPage } from '../../../pages/declare.ts';
import { html, type Html } from '../../../http/html.ts';
import { messagePage, page, redirect } from '../../../pages/layout.ts';
import { APPS_PATH, AUTHORIZE_PATH, requestText, returnTo } from '../../../pages/return-to.ts';
import { groupedScopes, scopeDescription } from './scopes.ts';
import { hiddenFields, signInPage } from '../../../pages/sign-in.ts';
import type { Visit } from '../../../pages/visit.ts';
import { joined, message } from '../../../../messages/index.ts';

/**
 * Documents a query parameter without validating it. An invalid value is reported on a page or to the application,
 * never in the error envelope.
 */
const parameter = (description: string) => z.unknown().optional().meta({ type: 'string', description });

const authorizeQuery = z.looseObject({
  response_type: parameter('`code`'),
  client_id: parameter('The application'),
  redirect_uri: parameter('One the application is registered with, exactly; a loopback one with any port'),
  scope: parameter('Scopes separated by spaces; all the application is registered for when absent'),
  state: parameter('Comes back as it was sent'),
  code_challenge: parameter('PKCE; required from clients without a secret'),
  code_challenge_method: parameter('`S256`'),
  resource: parameter('What the tokens are for (RFC 8707)'),
});

/** Consent page to which applications send people, and the form with their decision. */
export const consentRoutes = [
  shownPage({
    operationId: 'oauth.authorize',
    path: AUTHORIZE_PATH,
    summary: "Ask a person for an application's access",
    description:
      'A page for browsers, at the address of the dashboard. People sign in, choose a workspace, deselect scopes, and approve or deny. The browser then goes to `redirect_uri` with `code`, `state` and `iss`, or with `error`, `state` and `iss`.',
    query: authorizeQuery,
    show: async (visit, query) => {
      const request = requestText(query);
      const read = await readAuthorizationRequest(visit.ctx, new URLSearchParams(request));
      if (read.kind !== 'request') return refusedPage(visit, read, request);
      return visit.signedIn ? consentPage(visit, request, read) : signInPage(visit, { request });
    },
  }),
  sentForm({
    operationId: 'pages.decide',
    path: AUTHORIZE_PATH,
    summary: 'Submit the consent form: approve or deny',
    description: 'Each selected scope is sent as a field `scope_<name>`.',
    fields: { organization_id: z.string().default(''), decision: z.enum(['approve', 'deny']) },
    act: async (visit, body) => {
      const { request } = body;
      if (!visit.signedIn) return redirect(returnTo(request));
      const read = await readAuthorizationRequest(visit.ctx, new URLSearchParams(request));
      if (read.kind !== 'request') return refusedPage(visit, read, request, leavingPage);
      if (body.decision === 'deny') return leavingPage(visit, read.application, denyAuthorization(read).location);
      // The person may have switched the workspace in another tab. Access is granted only to the workspace that the
      // page showed.
      if (body.organization_id !== visit.ctx.actor.organizationId) {
        return consentPage(visit, request, read, new AppError('conflict', message('page.consent.changed')));
      }
      const scopes = read.scopes.filter((name) => (body as Record<string, unknown>)[fieldOf(name)] !== undefined);
      try {
        return leavingPage(visit, read.application, (await approveAuthorization(visit.ctx, read, scopes)).location);
      } catch (error) {
        if (error instanceof AppError && error.status < 500)
          return consentPage(visit, request, read, explained(error), scopes);
        throw error;
      }
    },
  }),
  sentForm({
    operationId: 'pages.chooseWorkspace',
    path: '/account/workspace',
    summary: 'Select the workspace of the browser session',
    fields: { organization_id: z.string().default('') },
    act: async (visit, { request, organization_id }) => {
      if (visit.signedIn) await selectOrganization(visit.ctx, organization_id);
      return redirect(returnTo(request));
    },
  }),
];

function fieldOf(scope: Permission): string {
  return `scope_${scopeName(scope)}`;
}

/** Moves an error's problems into its fix text, because they name no field of this form. */
function explained({ code, said, fix, problems = [] }: AppError): AppError {
  if (fix || problems.length === 0) return new AppError(code, said, fix ? { fix } : {});
  const faults = joined(problems.map((problem) => problem.message));
  return new AppError(code, said, { fix: message('page.consent.faults', { faults }) });
}

/**
 * Answers an invalid authorization request. An application of the person's own workspace gets the error by redirect.
 * For any other application the person must click a link. Anybody can register a client, so an automatic redirect would
 * make this server an open redirector.
 * @param leave sends the browser to an application of the person's own workspace
 */
async function refusedPage(
  visit: Visit,
  refusal: AuthorizationRefusal,
  request: string,
  leave: (visit: Visit, app: Client, location: string) => StreamReply = (_visit, _app, location) => redirect(location),
): Promise<StreamReply> {
  const { text } = visit;
  const words = text.consent;
  if (refusal.kind === 'page') {
    return messagePage(
      text,
      400,
      words.refused,
      html`<div class="note bad" role="alert">${text.plainly(refusal.said)}.</div>
<p class="soft">${words.appMistake}</p>`,
    );
  }
  const app = await findClient(visit.ctx, new URLSearchParams(request).get('client_id') ?? '');
  if (!app) throw notFound('application');
  if (await isOwn(visit, app)) return leave(visit, app, refusal.location);
  return messagePage(
    text,
    400,
    words.refused,
    html`<div class="note bad" role="alert">${text.plainly(refusal.said)}.</div>
<p>${words.callsItself(app.name)} ${app.self_registered ? words.registeredItself : words.notOwn} ${words.leadsTo(destination(text, refusal.location))}</p>
<p><a class="button" href="${refusal.location}" rel="noreferrer">${words.goBack}</a></p>`,
  );
}

/** Returns true if a workspace of the person owns the application. */
async function isOwn({ ctx, signedIn }: Visit, { organization_id: owner }: Client): Promise<boolean> {
  if (!signedIn || owner === null) return false;
  return (await listMyOrganizations(ctx)).some(({ id }) => id === owner);
}

/**
 * Returns the browser to the application by a page instead of a redirect. Browsers apply the `form-action` of the
 * form's page to all redirects after it, and the application may redirect to any site.
 */
function leavingPage({ text }: Visit, { name }: Pick<Client, 'name'>, location: string): StreamReply {
  const { consent, goOn } = text;
  return page(text, {
    title: consent.backTo(name),
    refreshTo: location,
    body: html`<h1>${consent.backTo(name)}</h1><p role="status">${consent.onYourWay(destination(text, location))}</p>
<p><a class="button main" href="${location}" rel="noreferrer">${goOn}</a></p>`,
  });
}

async function consentPage(
  visit: Visit,
  request: string,
  read: AuthorizationRequest,
  refused?: AppError,
  ticked?: readonly Permission[],
): Promise<StreamReply> {
  const { application, redirectUri } = read;
  const { text } = visit;
  const words = text.consent;
  const [{ user }, workspaces, owner] = await Promise.all([
    readProfile(visit.ctx),
    listMyOrganizations(visit.ctx),
    findOwner(visit.ctx, application),
  ]);
  const workspace = workspaces.find((row) => row.id === visit.ctx.actor.organizationId);
  const grantable = workspace ? grantableWith(workspace.permissions) : 0;
  const website = websiteLink(application);
  const body = html`
${appCard(
  application,
  html`<h1>${words.title(application.name)}</h1>`,
  html`${website ? html`<p class="soft">${website}</p>` : null}
${application.description ? html`<p>${application.description}</p>` : null}`,
)}
${
  application.self_registered
    ? html`<div class="note warn"><p>${words.notVerified}</p><p>${destination(text, redirectUri)}</p></div>`
    : ownerNote(visit, owner, workspace, redirectUri)
}
${refused ? html`<div class="note bad" role="alert">${text.plainly(refused.said)}.${refused.fix ? html` ${text.plainly(refused.fix)}` : null}</div>` : null}
${workspaceChoice(visit, request, workspaces, workspace)}
${workspace ? decisionForm(visit, request, read, workspace, grantable, ticked) : null}
<form method="post" action="/account/sign-out" class="who">${hiddenFields(visit, request)}<p class="soft">${text.signedInAs(user.email)}</p><button class="link">${text.notYou}</button></form>`;
  return page(text, { title: words.title(application.name), status: refused?.status ?? 200, body });
}

/** Names the owner of an application, with a warning if it is not the workspace that would grant access. */
function ownerNote(
  { text }: Visit,
  owner: { id: string; name: string } | null,
  workspace: MyOrganization | undefined,
  redirectUri: string,
): Html {
  const { consent: words } = text;
  const place = destination(text, redirectUri);
  if (owner === null || owner.id === workspace?.id)
    return html`<p class="soft">${owner === null ? words.goneApp(place) : words.ownApp(owner.name, place)}</p>`;
  return html`<div class="note warn"><p>${words.foreignApp(owner.name)}</p><p>${place}</p></div>`;
}

function workspaceChoice(
  visit: Visit,
  request: string,
  workspaces: readonly MyOrganization[],
  chosen: MyOrganization | undefined,
): Html {
  const { consent: words, field } = visit.text;
  if (workspaces.length === 0) return html`<div class="note bad" role="alert">${words.noWorkspace}</div>`;
  if (workspaces.length === 1 && chosen) return html`<p>${words.workspace(chosen.name)}</p>`;
  const options = workspaces.map(
    ({ id, name, role_name }) =>
      html`<option value="${id}"${id === chosen?.id ? html` selected` : null}>${name} (${role_name})</option>`,
  );
  return html`<form method="post" action="/account/workspace" class="row">${hiddenFields(visit, request)}
<label class="field">${field.workspace}<select name="organization_id">${options}</select></label><button>${chosen ? words.change : words.choose}</button></form>`;
}

function decisionForm(
  visit: Visit,
  request: string,
  { scopes }: AuthorizationRequest,
  workspace: MyOrganization,
  grantable: number,
  ticked: readonly Permission[] = scopes,
): Html {
  const { text } = visit;
  const words = text.consent;
  const isOpen = (name: Permission) => (maskOf([name]) & grantable) !== 0;
  const isTicked = new Set<Permission>(ticked);
  const groups = groupedScopes(text, scopes).map(
    ({ title, entries }) =>
      html`<fieldset><legend>${title}</legend><ul class="scopes">${entries.map((entry) =>
        isOpen(entry.name)
          ? html`<li><label><input type="checkbox" name="${fieldOf(entry.name)}"${isTicked.has(entry.name) ? html` checked` : null}><span>${scopeDescription(text, entry)}</span></label></li>`
          : html`<li class="off"><label><input type="checkbox" disabled><span>${scopeDescription(text, entry)}<br>${words.notYours}</span></label></li>`,
      )}</ul></fieldset>`,
  );
  const isPossible = scopes.some(isOpen);
  return html`<form method="post" action="${AUTHORIZE_PATH}">${hiddenFields(visit, request)}<input type="hidden" name="organization_id" value="${workspace.id}">
<p>${words.could(workspace.name)}</p>
${groups}
<div class="actions"><button name="decision" value="deny">${words.deny}</button>${isPossible ? html`<button class="main" name="decision" value="approve">${words.approve}</button>` : null}</div>
<p class="soft">${words.takeBack(APPS_PATH)}</p></form>`;
}
