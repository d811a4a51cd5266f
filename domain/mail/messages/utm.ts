import { slugify } from './text.ts';

/** UTM settings of a campaign. The default replaces a blank or missing value. */
export interface UtmSettings {
  readonly source?: string | null;
  readonly medium?: string | null;
  readonly campaign?: string | null;
}

/** Resolved UTM values shared by all links of a campaign. */
export interface UtmValues {
  readonly source: string;
  readonly medium: string;
  readonly campaign: string;
}

/** Maximum length (characters) of a UTM value. */
export const MAX_UTM_LENGTH = 128;

const MAX_CONTENT_LENGTH = 60;

/** Name of the service in lower case: the default utm_source. */
const SERVICE_NAME = 'heron';

/** Fills in the defaults of a campaign's UTM settings: service name, `email`, the campaign's name as a slug. */
export function resolveUtm(settings: UtmSettings, campaignName: string): UtmValues {
  return {
    source: settings.source?.trim() || SERVICE_NAME,
    medium: settings.medium?.trim() || 'email',
    campaign: settings.campaign?.trim() || slugify(campaignName, MAX_UTM_LENGTH) || 'campaign',
  };
}

/**
 * Adds the UTM parameters to an http or https URL. Other URLs are returned unchanged. Parameters already in the URL
 * keep their values, and the rest of the URL (order, encoding, fragment) is kept byte for byte. A second call changes
 * nothing.
 */
export function tagUrl(url: string, utm: UtmValues, content: string): string {
  if (!/^https?:\/\//i.test(url)) return url;
  const fragmentStart = url.indexOf('#');
  const fragment = fragmentStart < 0 ? '' : url.slice(fragmentStart);
  const address = fragmentStart < 0 ? url : url.slice(0, fragmentStart);
  const queryStart = address.indexOf('?');
  const query = queryStart < 0 ? '' : address.slice(queryStart + 1);
  const present = new Set([...new URLSearchParams(query).keys()].map((name) => name.toLowerCase()));
  const added = [
    ['utm_source', utm.source],
    ['utm_medium', utm.medium],
    ['utm_campaign', utm.campaign],
    ['utm_content', content],
  ]
    .filter(([name]) => !present.has(name!))
    .map(([name, value]) => `${name}=${encodeURIComponent(value!.replace(/\p{Surrogate}/gu, ''))}`);
  if (added.length === 0) return url;
  const separator = queryStart < 0 ? '?' : query === '' || query.endsWith('&') ? '' : '&';
  return `${address}${separator}${added.join('&')}${fragment}`;
}

/**
 * Returns a function that names the links of one message for utm_content: the label's slug, or `link-<position>`
 * without a label. A name in use gets a numeric suffix. Call it once per link, in order.
 */
export function createContentNamer(): (label: string, position: number) => string {
  const taken = new Set<string>();
  const lastNumber = new Map<string, number>();
  return (label, position) => {
    const name = slugify(label, MAX_CONTENT_LENGTH) || `link-${position}`;
    let unique = name;
    for (let number = lastNumber.get(name) ?? 2; taken.has(unique); number += 1) {
      unique = `${name}-${number}`;
      lastNumber.set(name, number + 1);
    }
    taken.add(unique);
    return unique;
  };
}
