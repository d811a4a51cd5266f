/** Path of the page to which applications send people for authorization. */
export const AUTHORIZE_PATH = '/oauth/authorize';
/** Path of the page of a person's authorized apps. */
export const APPS_PATH = '/account/apps';

/** Path of the sign-in form, if no other request is to be continued afterwards. */
export const SIGN_IN_PATH = '/account/sign-in';

/** Placeholder origin. A path is resolved against it to check that the result has the same origin. */
const NOWHERE = 'http://heron.invalid';

/**
 * Returns the form request that leads to a page of the dashboard, or to its first page if `path` is not a path of this
 * server.
 */
export function dashboardRequest(path: string): string {
  return new URLSearchParams({ to: ownPath(path) ?? '/' }).toString();
}

/** Returns the path of a {@link dashboardRequest}; undefined for any other request. */
export function dashboardIn(request: string): string | undefined {
  const params = [...new URLSearchParams(request)];
  return params.length === 1 && params[0]![0] === 'to' ? ownPath(params[0]![1]) : undefined;
}

function ownPath(path: string): string | undefined {
  if (!path.startsWith('/') || path.length > 2_000 || !URL.canParse(path, NOWHERE)) return undefined;
  const url = new URL(path, NOWHERE);
  // Browsers read a path such as //evil.example or /\evil.example as another host.
  return url.origin === NOWHERE && !url.pathname.startsWith('//') ? url.pathname + url.search : undefined;
}

/** Path of the invitation page, without its token. */
export const INVITATION_PATH = '/invitations';

/** Returns the form request that leads back to the page of an invitation. */
export function invitationRequest(token: string): string {
  return new URLSearchParams({ invitation: token }).toString();
}

/** Returns the token of an {@link invitationRequest}; undefined for any other request. */
export function invitationIn(request: string): string | undefined {
  return /^invitation=([\w-]{1,128})$/.exec(request)?.[1];
}

/** Path of the page that decides an approval, without its id. */
export const APPROVAL_PATH = '/approvals';

/** Returns the form request that leads back to the page of an approval. */
export function approvalRequest(id: string): string {
  return new URLSearchParams({ approval: id }).toString();
}

/** Returns the id of an {@link approvalRequest}; undefined for any other request. */
export function approvalIn(request: string): string | undefined {
  return /^approval=([\w-]{1,128})$/.exec(request)?.[1];
}

/**
 * Returns the path that follows a completed form: invitation, approval, dashboard page or authorization request; by
 * default the authorized apps. The path is always one of this server. Only the query parameters of `request` are used,
 * and encoded again.
 */
export function returnTo(request: string): string {
  const invitation = invitationIn(request);
  if (invitation !== undefined) return `${INVITATION_PATH}/${invitation}`;
  const approval = approvalIn(request);
  if (approval !== undefined) return `${APPROVAL_PATH}/${approval}`;
  const dashboard = dashboardIn(request);
  if (dashboard !== undefined) return dashboard;
  return request === '' ? APPS_PATH : `${AUTHORIZE_PATH}?${new URLSearchParams(request).toString()}`;
}

/** Encodes an authorization request's parameters for a form, including repeated ones. */
export function requestText(query: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) params.append(name, String(one));
  }
  return params.toString();
}
