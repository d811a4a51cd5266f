/** The page to which applications send people. */
export const AUTHORIZE_PATH = '/oauth/authorize';
/** The page of a person's authorized apps. */
export const APPS_PATH = '/account/apps';

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
 * Where a form leads when it is done: the invitation, the approval or the authorization request it came from, or the authorized apps. The
 * path is always ours; only query parameters of the form's value are used, encoded anew.
 */
export function returnTo(request: string): string {
  const invitation = invitationIn(request);
  if (invitation !== undefined) return `${INVITATION_PATH}/${invitation}`;
  const approval = approvalIn(request);
  if (approval !== undefined) return `${APPROVAL_PATH}/${approval}`;
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
