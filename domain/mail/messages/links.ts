import { findHtmlLinks, replaceLinks } from './html.ts';
import { findTextLinks, type FoundLink } from './text-links.ts';
import { htmlToText } from './to-text.ts';
import { clickUrl } from './tracking-urls.ts';
import { createContentNamer, tagUrl } from './utm.ts';
import type { UtmValues } from './utm.ts';

/** A tracked link of a message: what its click ticket must remember. */
export interface TrackedLink {
  readonly ticketId: string;
  /** Where the ticket redirects to, UTM parameters included. */
  readonly url: string;
  /** Anchor text; empty for a bare URL in plain text. */
  readonly label: string;
  /** Counts the message's links from 1. */
  readonly position: number;
}

/** Changes to the links of a message. */
interface LinkTreatment {
  readonly utm?: UtmValues;
  readonly tracking?: { readonly base: string; readonly ticketId: (index: number) => string };
}

/** Rewrites the links of one message, part by part. */
interface LinkRewriter {
  /** An HTML source with its links treated. */
  rewriteHtml(html: string): string;
  /** An authored plain text with its links treated. One that the HTML has too is the same link, with the same ticket. */
  rewriteText(text: string): string;
  /** The plain text of an HTML source that was rewritten: its links stay as they are, URLs in its words are treated. */
  toText(rewrittenHtml: string): string;
  /** The tracked links so far. */
  readonly links: readonly TrackedLink[];
}

/**
 * Decides the URL of every link of a message: UTM parameters first, then the click ticket that redirects there. A link
 * that stands in both parts is one link with one ticket, so the HTML comes first.
 */
export function createLinkRewriter({ utm, tracking }: LinkTreatment): LinkRewriter {
  const nameContent = createContentNamer();
  const links: TrackedLink[] = [];
  /** New URLs of the HTML's links, by the URL of the author, until a plain text has the same link. */
  const unmatched = new Map<string, string[]>();
  /** URLs of authors, by the new ones. */
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
