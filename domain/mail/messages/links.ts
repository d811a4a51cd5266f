import { findHtmlLinks, replaceLinks } from './html.ts';
import { findTextLinks, type FoundLink } from './text-links.ts';
import { htmlToText } from './to-text.ts';
import { clickUrl } from './tracking-urls.ts';
import { createContentNamer, tagUrl } from './utm.ts';
import type { UtmValues } from './utm.ts';

/** A tracked link of a message, which is stored as a click ticket. */
export interface TrackedLink {
  readonly ticketId: string;
  /** Target of the redirect, UTM parameters included. */
  readonly url: string;
  /** Anchor text. Empty for a bare URL in plain text. */
  readonly label: string;
  /** Position among the message's links, from 1. */
  readonly position: number;
}

/** Settings for rewriting the links of a message. */
interface LinkTreatment {
  readonly utm?: UtmValues;
  readonly tracking?: { readonly base: string; readonly ticketId: (index: number) => string };
}

/** Rewrites the links of one message, part by part. */
interface LinkRewriter {
  /** Returns an HTML source with rewritten links. */
  rewriteHtml(html: string): string;
  /** Returns an authored plain text with rewritten links. A link that also occurs in the HTML gets the same ticket. */
  rewriteText(text: string): string;
  /** Converts a rewritten HTML source to plain text. Keeps its links, and rewrites URLs in its text. */
  toText(rewrittenHtml: string): string;
  /** Tracked links that were found until now. */
  readonly links: readonly TrackedLink[];
}

/**
 * Creates a rewriter for the links of a message: first adds UTM parameters, then replaces the URL by a click ticket
 * that redirects there. A link in both parts is one link with one ticket, so the HTML must be rewritten first.
 */
export function createLinkRewriter({ utm, tracking }: LinkTreatment): LinkRewriter {
  const nameContent = createContentNamer();
  const links: TrackedLink[] = [];
  /** New URLs of links in the HTML, by original URL. A URL is removed when the same link in the plain text gets it. */
  const unmatched = new Map<string, string[]>();
  /** Original URLs, by new URL. */
  const originals = new Map<string, string>();
  const clickBase = tracking && clickUrl(tracking.base, '');
  let count = 0;

  const treat = ({ url, label }: FoundLink): string | undefined => {
    if ((!utm && !tracking) || originals.has(url) || (clickBase && url.startsWith(clickBase))) return undefined;
    count += 1;
    const hasLabel = label !== '' && !/^https?:\/\//i.test(label);
    const target = utm ? tagUrl(url, utm, nameContent(hasLabel ? label : '', count)) : url;
    if (!tracking) return target;
    const ticketId = tracking.ticketId(count - 1);
    links.push({ ticketId, url: target, label, position: count });
    return clickUrl(tracking.base, ticketId);
  };
  const rewriteText = (text: string): string => {
    const found = findTextLinks(text);
    const urls = found.map((link) => unmatched.get(link.url)?.shift() ?? treat(link));
    return replaceLinks(text, found, urls, 'text');
  };

  return {
    links,
    rewriteText,
    rewriteHtml(html) {
      const found = findHtmlLinks(html);
      const urls = found.map((link) => {
        const url = treat(link);
        if (url === undefined) return undefined;
        originals.set(url, link.url);
        const sameUrl = unmatched.get(link.url);
        if (sameUrl) sameUrl.push(url);
        else unmatched.set(link.url, [url]);
        return url;
      });
      return replaceLinks(html, found, urls, 'html');
    },
    toText: (rewrittenHtml) => rewriteText(htmlToText(rewrittenHtml, originals)),
  };
}
