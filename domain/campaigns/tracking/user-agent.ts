import { BROWSER_MAP, parse } from 'bowser';
import { isbot } from 'isbot';

/**
 * Client and device derived from the user agent that opened an email or followed a link (EngagementOrigin in the API).
 */
interface Origin {
  /** Mail program or browser; null when unknown. */
  client: string | null;
  deviceType: 'desktop' | 'mobile' | 'tablet' | null;
}

/**
 * Mail programs, which browser lists do not contain. The order matters, because the user agents of earlier programs
 * also contain later names.
 */
const MAIL_PROGRAMS: readonly [RegExp, string][] = [
  [/GoogleImageProxy|ggpht\.com/i, 'Gmail'],
  [/YahooMailProxy|YahooMobile/i, 'Yahoo Mail'],
  [/Thunderbird/i, 'Thunderbird'],
  [/Outlook-iOS|Outlook-Android/i, 'Outlook Mobile'],
  [/Microsoft Outlook|ms-office|MSOffice|OutlookMobile/i, 'Outlook'],
];

/** Short names of browsers, by the name that the package `bowser` returns. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  'Microsoft Edge': 'Edge',
  'Samsung Internet for Android': 'Samsung Internet',
};
/** Browser names that `bowser` knows. For an unknown browser it returns an arbitrary word of the user agent. */
const BROWSERS: ReadonlySet<string> = new Set(Object.values(BROWSER_MAP));

/**
 * Programs that load images for a human reader, although `isbot` reports them as robots. These are the image proxies of
 * Gmail and Yahoo, and mail programs without "Mozilla" in their user agent.
 */
const READERS =
  /GoogleImageProxy|ggpht\.com|YahooMailProxy|Outlook-iOS|Outlook-Android|Microsoft Outlook|DuckDuckGo\/|^(?:Airmail|BlackBerry|eM Client|Lotus-Notes|Postbox|Spark|Superhuman)\b/i;

/**
 * Words that scanners of mail gateways, previewers and similar programs add to a browser's user agent. `isbot` does not
 * know them.
 */
const SCANNERS =
  /barracuda|mimecast|proofpoint|ironport|symantec|trendmicro|fortiguard|safelinks|virustotal|urlscan|slurp|lighthouse|preview|python-requests|facebookexternalhit|whatsapp\//i;

/** Image proxies of Gmail and Yahoo. */
const PROXIES = /GoogleImageProxy|ggpht\.com|YahooMailProxy/i;
/** Apple's privacy proxy fetches every image with exactly this user agent, even if nobody reads the email. */
const APPLE_PRIVACY_PROXY = /^Mozilla\/5\.0$/;
/** User agent of a browser of 2015, with which Gmail's proxy prefetches images. */
const GMAIL_PREFETCH = /Chrome\/42\.0\.2311\.135 Safari\/537\.36 Edge\/12\.246/;

/**
 * Returns true if the user agent belongs to a program with which nobody reads email. Mail programs identify themselves,
 * so an empty user agent is treated as a machine.
 */
export function isMachineAgent(userAgent: string): boolean {
  const agent = userAgent.trim();
  if (agent === '' || APPLE_PRIVACY_PROXY.test(agent) || GMAIL_PREFETCH.test(agent) || SCANNERS.test(agent))
    return true;
  return isbot(agent) && !READERS.test(agent);
}

/**
 * Returns the client and device of a user agent, if they are known. Mail programs come from Heron's own list, browsers
 * and devices from a maintained package.
 */
export function originOf(userAgent: string): Origin {
  const agent = userAgent.trim();
  if (APPLE_PRIVACY_PROXY.test(agent)) return { client: 'Apple Mail', deviceType: null };
  if (GMAIL_PREFETCH.test(agent)) return { client: 'Gmail', deviceType: null };
  if (agent === '') return { client: null, deviceType: null };
  const { browser, platform } = parse(agent);
  return { client: clientOf(agent, browser.name), deviceType: deviceOf(agent, platform.type) };
}

/**
 * Returns the reader's country, if known. Returns null for a mail provider's proxy, whose IP address shows only the
 * proxy's country.
 */
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

function clientOf(agent: string, browser: string | undefined): string | null {
  const program = MAIL_PROGRAMS.find(([pattern]) => pattern.test(agent));
  if (program) return program[1];
  // Recognizes Apple Mail by WebKit's user agent without "Safari".
  if (
    /AppleWebKit/.test(agent) &&
    /Macintosh|iPhone|iPad/.test(agent) &&
    browser === 'Safari' &&
    !/Safari\//.test(agent)
  )
    return 'Apple Mail';
  return browser !== undefined && BROWSERS.has(browser) ? (SHORT_NAMES[browser] ?? browser) : null;
}

function deviceOf(agent: string, platform: string | undefined): Origin['deviceType'] {
  // Returns null for image proxies, whose user agent does not show the reader's device.
  if (PROXIES.test(agent)) return null;
  // The user agent of Outlook on a desktop contains no operating system.
  if (/MSOffice|ms-office/i.test(agent)) return 'desktop';
  return platform === 'desktop' || platform === 'mobile' || platform === 'tablet' ? platform : null;
}
