/** The page to which applications send people. */
export const AUTHORIZE_PATH = '/oauth/authorize';
/** The page of a person's authorized apps. */
export const APPS_PATH = '/account/apps';

/** The sign-in form that stands by itself. */
export const SIGN_IN_PATH = '/account/sign-in';

/** Any origin: paths are resolved against it to see that they stay on it. */
const NOWHERE = 'http://heron.invalid';

/** A form's request that leads to a page of the dashboard; to its first page where `path` is none of this server. */
export function dashboardRequest(path: string): string {
  return new URLSearchParams({ to: ownPath(path) ?? '/' }).toString();
}

/** The path of {@link dashboardRequest}; undefined for any other request. */
export function dashboardIn(request: string): string | undefined {
  const params = [...new URLSearchParams(request)];
  return params.length === 1 && params[0]![0] === 'to' ? ownPath(params[0]![1]) : undefined;
}

function ownPath(path: string): string | undefined {
  if (!path.startsWith('/') || path.length > 2_000 || !URL.canParse(path, NOWHERE)) return undefined;
  const url = new URL(path, NOWHERE);
  // A path such as //evil.example or /\evil.example is another host to a browser.
  return url.origin === NOWHERE && !url.pathname.startsWith('//') ? url.pathname + url.search : undefined;
}

/** The page of a mailed invitation, before its token. */
export const INVITATION_PATH = '/invitations';

/** A form's request that leads back to the page of an invitation. */
export function invitationRequest(token: string): string {
  return new URLSearchParams({ invitation: token }).toString();
}

/** The token of {@link invitationRequest}; undefined for any other request. */
export function invitationIn(request: string): string | undefined {
  return /^invitation=([\w-]{1,128})$/.exec(request)?.[1];
}

/** The page on which a person decides on an approval, before its id. */
export const APPROVAL_PATH = '/approvals';

/** A form's request that leads back to the page of an approval. */
export function approvalRequest(id: string): string {
  return new URLSearchParams({ approval: id }).toString();
}

/** The id of {@link approvalRequest}; undefined for any other request. */
export function approvalIn(request: string): string | undefined {
  return /^approval=([\w-]{1,128})$/.exec(request)?.[1];
}

/**
 * Where a form leads when it is done: the invitation, the approval, the page of the dashboard or the authorization request it came from, or the authorized apps. The
 * path is always ours; only query parameters of the form's value are used, encoded anew.
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

/** An authorization request's parameters as a form carries them, repeated ones repeated. */
export function requestText(query: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) params.append(name, String(one));
  }
  return params.toString();
}
