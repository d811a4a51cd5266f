import type { PageTexts } from '../../../pages/texts.ts';
import { html, type Html, type Part } from '../../../http/html.ts';
import { initial, logoSource } from './logo.ts';

/**
 * Data of an application that the pages show. Everything except the owner is written by the application's developers.
 */
interface ShownApp {
  client_id: string;
  name: string;
  website_url: string;
  logo_url: string;
  self_registered: boolean;
}

/**
 * Renders an application's website as a link, if it is an http(s) URL. The value is untrusted and could be a
 * `javascript:` URL.
 */
export function websiteLink(app: ShownApp): Html | null {
  if (!URL.canParse(app.website_url)) return null;
  const url = new URL(app.website_url);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
  return html`<a href="${url.href}" target="_blank" rel="noopener noreferrer nofollow">${url.host}</a>`;
}

/** Renders the header of an application: logo or initial, title and further lines. */
export function appCard(app: ShownApp, title: Part, lines: Part, action?: Part): Html {
  const logo = logoSource(app);
  const tile =
    logo === null
      ? html`<div class="logo" aria-hidden="true">${initial(app.name)}</div>`
      : html`<div class="logo"><img src="${logo}" alt=""></div>`;
  return html`<div class="app">${tile}<div class="about">${title}${lines}</div>${action}</div>`;
}

/** Describes the target of an application's redirect URI so that a person can judge it. */
export function destination({ consent }: PageTexts, redirectUri: string): Html {
  const url = new URL(redirectUri);
  if (url.protocol === 'https:') return html`<strong>${url.host}</strong>`;
  if (url.protocol === 'http:') return consent.onComputer(url.host);
  return consent.onDevice(url.protocol.slice(0, -1));
}
