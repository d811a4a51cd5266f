import { isbot } from 'isbot';

/** What a user agent says about where a mail was read or a link followed (EngagementOrigin in the API). */
export interface Origin {
  /** Mail program or browser; null when unknown. */
  client: string | null;
  deviceType: 'desktop' | 'mobile' | 'tablet' | null;
}

/** In this order: later names also occur inside the user agents of earlier ones. */
const CLIENTS: readonly [RegExp, string][] = [
  [/GoogleImageProxy|ggpht\.com/i, 'Gmail'],
  [/YahooMailProxy|YahooMobile/i, 'Yahoo Mail'],
  [/DuckDuckGo/i, 'DuckDuckGo'],
  [/Thunderbird/i, 'Thunderbird'],
  [/Outlook-iOS|Outlook-Android/i, 'Outlook Mobile'],
  [/Microsoft Outlook|ms-office|MSOffice|OutlookMobile/i, 'Outlook'],
  [/SamsungBrowser/i, 'Samsung Internet'],
  [/OPR\/|Opera/i, 'Opera'],
  [/Edg(?:e|A|iOS)?\//i, 'Edge'],
  [/Firefox|FxiOS/i, 'Firefox'],
  [/Chrome|CriOS/i, 'Chrome'],
];

/**
 * Programs that fetch for a person who reads, though `isbot` counts them as robots: the image proxies of Gmail and Yahoo, and
 * mail programs that do not say "Mozilla".
 */
const READERS =
  /GoogleImageProxy|ggpht\.com|YahooMailProxy|Outlook-iOS|Outlook-Android|Microsoft Outlook|DuckDuckGo\/|^(?:Airmail|BlackBerry|eM Client|Lotus-Notes|Postbox|Spark|Superhuman)\b/i;

/** Scanners of mail gateways, previewers and others that add a word to a browser's user agent, which `isbot` does not know. */
const SCANNERS =
  /barracuda|mimecast|proofpoint|ironport|symantec|trendmicro|fortiguard|safelinks|virustotal|urlscan|slurp|lighthouse|preview|python-requests|facebookexternalhit|whatsapp\//i;

/** Image proxies of Gmail and Yahoo. */
const PROXIES = /GoogleImageProxy|ggpht\.com|YahooMailProxy/i;
/** Apple's privacy proxy fetches every image with exactly this text, also when no one reads the mail. */
const APPLE_PRIVACY_PROXY = /^Mozilla\/5\.0$/;
/** Gmail's proxy uses the user agent of this browser of 2015 when it prefetches. */
const GMAIL_PREFETCH = /Chrome\/42\.0\.2311\.135 Safari\/537\.36 Edge\/12\.246/;

/** Whether a user agent is that of a program without a reader. Mail programs of people name themselves, so an empty one is a machine. */
export function isMachineAgent(userAgent: string): boolean {
  const agent = userAgent.trim();
  if (agent === '' || APPLE_PRIVACY_PROXY.test(agent) || GMAIL_PREFETCH.test(agent) || SCANNERS.test(agent))
    return true;
  return isbot(agent) && !READERS.test(agent);
}

/** Client and device of a user agent, as far as they are known. */
export function originOf(userAgent: string): Origin {
  const agent = userAgent.trim();
  if (APPLE_PRIVACY_PROXY.test(agent)) return { client: 'Apple Mail', deviceType: null };
  if (GMAIL_PREFETCH.test(agent)) return { client: 'Gmail', deviceType: null };
  return { client: clientOf(agent), deviceType: deviceOf(agent) };
}

/** The country that a reader is in, where it is known: what a mail provider's proxy fetched for them comes from the proxy's. */
export function countryOf({
  userAgent,
  country = null,
}: {
  userAgent: string;
  country?: string | null;
}): string | null {
  return isProxyAgent(userAgent.trim()) ? null : country;
}

function isProxyAgent(agent: string): boolean {
  return PROXIES.test(agent) || APPLE_PRIVACY_PROXY.test(agent) || GMAIL_PREFETCH.test(agent);
}

function clientOf(agent: string): string | null {
  const known = CLIENTS.find(([pattern]) => pattern.test(agent));
  if (known) return known[1];
  if (!/AppleWebKit/.test(agent)) return null;
  // Apple Mail's user agent is WebKit's, without Safari.
  return /Safari\//.test(agent) ? 'Safari' : /Macintosh|iPhone|iPad/.test(agent) ? 'Apple Mail' : null;
}

function deviceOf(agent: string): Origin['deviceType'] {
  // Proxies fetch from their own machines: their user agent is not the reader's device.
  if (PROXIES.test(agent)) return null;
  if (/iPad|Tablet|Kindle|Silk\/|Android(?!.*Mobile)/i.test(agent)) return 'tablet';
  if (/iPhone|iPod|Android|Mobile|Windows Phone/i.test(agent)) return 'mobile';
  return /Windows NT|Macintosh|X11|Linux|CrOS|MSOffice|ms-office/i.test(agent) ? 'desktop' : null;
}
