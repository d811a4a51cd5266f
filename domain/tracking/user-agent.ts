/** What a user agent says about where a mail was read or a link followed (supplement, EngagementOrigin). */
export interface Origin {
  /** Mail program or browser; null when unknown. */
  client: string | null;
  deviceType: 'desktop' | 'mobile' | 'tablet' | null;
}

/** Longest user agent that is kept. */
export const MAX_USER_AGENT = 512;

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

/** Programs no person reads mail with: link scanners, previewers, HTTP libraries. */
const MACHINES = new RegExp(
  [
    'bot\\b',
    'crawl',
    'spider',
    'slurp',
    'scanner',
    'preview',
    'monitor',
    'headless',
    'phantomjs',
    'lighthouse',
    'virustotal',
    'urlscan',
    'barracuda',
    'mimecast',
    'proofpoint',
    'ironport',
    'symantec',
    'trendmicro',
    'fortiguard',
    'safelinks',
    'skypeuripreview',
    '^curl/',
    '^wget/',
    'python-requests',
    'python-urllib',
    'aiohttp',
    'go-http-client',
    'okhttp',
    '^java/',
    'libwww',
    'apache-httpclient',
    'httpclient',
    'axios/',
    'node-fetch',
    '^node$',
    '^undici$',
    'guzzlehttp',
    '^ruby',
    'facebookexternalhit',
    'whatsapp/',
  ].join('|'),
  'i',
);

/** Apple's privacy proxy fetches every image with these bare words, whether or not anybody reads the mail. */
const APPLE_PRIVACY_PROXY = /^Mozilla\/5\.0$/;
/** Gmail's proxy poses as this browser of 2015 when it fetches ahead of the reader. */
const GMAIL_PREFETCH = /Chrome\/42\.0\.2311\.135 Safari\/537\.36 Edge\/12\.246/;

/** Whether a user agent belongs to a program that fetches by itself. None at all is no person's either. */
export function isMachineAgent(userAgent: string): boolean {
  const agent = userAgent.trim();
  return agent === '' || APPLE_PRIVACY_PROXY.test(agent) || GMAIL_PREFETCH.test(agent) || MACHINES.test(agent);
}

/** Client and device of a user agent, as far as they can be told. */
export function originOf(userAgent: string): Origin {
  const agent = userAgent.trim();
  if (APPLE_PRIVACY_PROXY.test(agent)) return { client: 'Apple Mail', deviceType: null };
  if (GMAIL_PREFETCH.test(agent)) return { client: 'Gmail', deviceType: null };
  return { client: clientOf(agent), deviceType: deviceOf(agent) };
}

function clientOf(agent: string): string | null {
  const known = CLIENTS.find(([pattern]) => pattern.test(agent));
  if (known) return known[1];
  if (!/AppleWebKit/.test(agent)) return null;
  // Apple Mail shows itself as WebKit without naming Safari.
  return /Safari\//.test(agent) ? 'Safari' : /Macintosh|iPhone|iPad/.test(agent) ? 'Apple Mail' : null;
}

function deviceOf(agent: string): Origin['deviceType'] {
  // Proxies fetch from their own machines: what they say of themselves is not the reader's device.
  if (/GoogleImageProxy|ggpht\.com|YahooMailProxy/i.test(agent)) return null;
  if (/iPad|Tablet|Kindle|Silk\/|Android(?!.*Mobile)/i.test(agent)) return 'tablet';
  if (/iPhone|iPod|Android|Mobile|Windows Phone/i.test(agent)) return 'mobile';
  return /Windows NT|Macintosh|X11|Linux|CrOS|MSOffice|ms-office/i.test(agent) ? 'desktop' : null;
}
