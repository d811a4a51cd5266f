import { createBrowserCookie, type Tenant } from '../harness/factories.ts';
import type { World } from '../harness/world.ts';

/** State of a browser on Heron's pages: cookies, and the hidden fields in the forms of the current page. */
export interface Browser {
  cookie: string;
  csrf: string;
  /** HTML of the current page. */
  html: string;
}

/** Path of a page with a form, for a browser without a session. */
const A_FORM = '/account/forgotten-password';
/** Path of a page with a form, for a signed-in person. */
const OWN_FORM = '/account/apps';

/** Opens a browser without a session, on a page with a form. */
export function openBrowser(world: World): Promise<Browser> {
  return show(world, A_FORM, { cookie: '' });
}

/** Opens a browser in which the owner of a tenant is signed in, on a page with a form. */
export async function openSignedIn(world: World, tenant: Tenant): Promise<Browser> {
  return show(world, OWN_FORM, { cookie: await createBrowserCookie(world.deps, tenant.userId) });
}

/** Sends a form from the browser's current page, and returns the browser with the next page. */
export function sendForm(
  world: World,
  browser: Browser,
  path: string,
  fields: Record<string, string>,
): Promise<Browser> {
  return show(world, path, browser, { method: 'POST', body: new URLSearchParams({ csrf: browser.csrf, ...fields }) });
}

/** Returns the value of a hidden field of the browser's current page. */
export function hiddenField({ html }: Browser, name: string): string {
  const value = new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1];
  if (value === undefined) throw new Error(`the page has no field ${name}: ${html.slice(0, 2_000)}`);
  return value;
}

/** Returns the headers by which the server recognizes its own form. */
export function formHeaders(world: World, { cookie }: Pick<Browser, 'cookie'>): Record<string, string> {
  return { cookie, origin: world.deps.config.APP_URL };
}

async function show(
  world: World,
  path: string,
  before: Pick<Browser, 'cookie'> & Partial<Browser>,
  init: RequestInit = {},
): Promise<Browser> {
  const answer = await fetch(world.url + path, {
    ...init,
    headers: formHeaders(world, before),
    redirect: 'manual',
  });
  const html = await answer.text();
  const cookies = new Map(
    [...before.cookie.split('; '), ...answer.headers.getSetCookie().map((line) => line.split(';')[0]!)]
      .filter((pair) => pair !== '')
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair]),
  );
  const csrf = /name="csrf" value="([^"]*)"/.exec(html)?.[1] ?? before.csrf ?? '';
  return { cookie: [...cookies.values()].join('; '), csrf, html };
}
