import type { FoundLink } from './html.ts';
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

/** What happens to the links of a message. */
export interface LinkTreatment {
  readonly utm?: UtmValues;
  readonly tracking?: { readonly base: string; readonly ticketId: (index: number) => string };
  /** URLs that are Heron's own, such as the unsubscribe link: never tagged, never tracked. */
  readonly ownUrls: readonly string[];
}

/** New URLs for the links of both parts, `undefined` where a link stays as it is. */
interface LinkPlan {
  readonly htmlUrls: readonly (string | undefined)[];
  readonly textUrls: readonly (string | undefined)[];
  readonly links: readonly TrackedLink[];
}

/**
 * Decides the URL of every link of a message: UTM parameters first, then the click ticket that redirects there. A link
 * that stands in both parts is one link with one ticket.
 */
export function planLinks(
  htmlLinks: readonly FoundLink[],
  textLinks: readonly FoundLink[],
  treatment: LinkTreatment,
): LinkPlan {
  const nameContent = createContentNamer();
  const links: TrackedLink[] = [];
  const unmatched = new Map<string, string[]>();
  let count = 0;

  const treat = ({ url, label }: FoundLink): string | undefined => {
    if (isOwnUrl(url, treatment)) return undefined;
    count += 1;
    const hasLabel = label !== '' && !/^https?:\/\//i.test(label);
    const target = treatment.utm ? tagUrl(url, treatment.utm, nameContent(hasLabel ? label : '', count)) : url;
    if (!treatment.tracking) return target;
    const ticketId = treatment.tracking.ticketId(count - 1);
    links.push({ ticketId, url: target, label, position: count });
    return clickUrl(treatment.tracking.base, ticketId);
  };

  const htmlUrls = htmlLinks.map((link) => {
    const replacement = treat(link);
    if (replacement === undefined) return undefined;
    const sameUrl = unmatched.get(link.url);
    if (sameUrl) sameUrl.push(replacement);
    else unmatched.set(link.url, [replacement]);
    return replacement;
  });
  const textUrls = textLinks.map((link) => unmatched.get(link.url)?.shift() ?? treat(link));
  return { htmlUrls, textUrls, links };
}

function isOwnUrl(url: string, { ownUrls, tracking }: LinkTreatment): boolean {
  return ownUrls.includes(url) || (tracking !== undefined && url.startsWith(clickUrl(tracking.base, '')));
}
