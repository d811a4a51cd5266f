/** The page to which applications send people. */
export const AUTHORIZE_PATH = '/oauth/authorize';
/** The page of a person's authorized apps. */
export const APPS_PATH = '/account/apps';

/**
 * Where a form leads when it is done: the authorization request it came from, or the list of authorized apps. The path is
 * always ours; only query parameters of the form's value are used, encoded anew.
 */
export function returnTo(request: string): string {
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
