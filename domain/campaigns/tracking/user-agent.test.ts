import test from 'ava';
import { machineReason } from './machine.ts';
import { isMachineAgent, originOf } from './user-agent.ts';

const IPHONE_MAIL =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148';
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
const GMAIL_PROXY = 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)';
const GMAIL_AHEAD =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0';
const OUTLOOK = 'Mozilla/4.0 (compatible; ms-office; MSOffice 16)';
const ANDROID_TABLET =
  'Mozilla/5.0 (Linux; Android 14; SM-X710) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
const ANDROID_PHONE =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36';
const EDGE = `${CHROME} Edg/126.0.0.0`;
const SAFARI =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15';
const MAC_MAIL = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const THUNDERBIRD = 'Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Thunderbird/115.12.0';

const SCANNERS = [
  'facebookexternalhit',
  'FortiGuard',
  'IronPort',
  'Mimecast-URL-Scanner',
  'Proofpoint',
  'SafeLinks',
  'SkypeUriPreview',
  'Symantec',
  'TrendMicro',
  'urlscan.io',
  'virustotal',
];
const READERS = [
  'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html',
  'Outlook-iOS/2.0',
  'Outlook-Android/2.0',
  'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17628; Pro)',
  'Microsoft Outlook 16.0',
  'Airmail 5.6',
  'eM Client/9.2',
  'Postbox/7.0',
  'Mozilla/5.0 (Linux; Android 9; CUBOT) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/80.0.0.0 Mobile Safari/537.36',
];

test('clients and devices are recognised', (t) => {
  const told: [string, string | null, string | null][] = [
    [IPHONE_MAIL, 'Apple Mail', 'mobile'],
    [MAC_MAIL, 'Apple Mail', 'desktop'],
    [SAFARI, 'Safari', 'desktop'],
    [CHROME, 'Chrome', 'desktop'],
    [EDGE, 'Edge', 'desktop'],
    [ANDROID_PHONE, 'Chrome', 'mobile'],
    [ANDROID_TABLET, 'Chrome', 'tablet'],
    [GMAIL_PROXY, 'Gmail', null],
    [OUTLOOK, 'Outlook', 'desktop'],
    [THUNDERBIRD, 'Thunderbird', 'desktop'],
    ['Mozilla/5.0', 'Apple Mail', null],
    ['something else', null, null],
    ['', null, null],
    ['Whatever/1.0 (somebody wrote this)', null, null],
    [`${ANDROID_PHONE.replace('Chrome', 'SamsungBrowser/23.0 Chrome')}`, 'Samsung Internet', 'mobile'],
    [
      'Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
      'Apple Mail',
      'tablet',
    ],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox', 'desktop'],
  ];
  for (const [agent, client, deviceType] of told) t.deepEqual(originOf(agent), { client, deviceType }, agent);
});

test('proxies that fetch ahead, scanners and HTTP libraries are machines; mail programs and browsers are not', (t) => {
  for (const agent of [
    '',
    '  ',
    'Mozilla/5.0',
    GMAIL_AHEAD,
    'curl/8.5.0',
    'python-requests/2.32',
    'node',
    'Go-http-client/1.1',
    'Mozilla/5.0 (compatible; bingbot/2.0)',
    'Mozilla/5.0 (compatible; BarracudaSentinel/1.0)',
    `${CHROME} HeadlessChrome/126.0.0.0`,
    ...SCANNERS.flatMap((name) => [name, `${CHROME} ${name}/1.0`, `Mozilla/5.0 (compatible; ${name}/1.0)`]),
  ]) {
    t.true(isMachineAgent(agent), agent);
  }
  for (const agent of [
    ...READERS,
    IPHONE_MAIL,
    CHROME,
    EDGE,
    GMAIL_PROXY,
    OUTLOOK,
    ANDROID_PHONE,
    SAFARI,
    MAC_MAIL,
    THUNDERBIRD,
  ])
    t.false(isMachineAgent(agent), agent);
});

test('a hit is judged by its method, its word for itself and the time since the send', (t) => {
  const sentAt = new Date('2026-03-02T09:00:00Z');
  const later = (ms: number) => new Date(sentAt.getTime() + ms);
  const hit = { method: 'GET', userAgent: CHROME, purpose: '' };
  t.is(machineReason(hit, later(10_000), sentAt, 10_000), null);
  t.is(machineReason(hit, later(9_999), sentAt, 10_000), 'instant');
  t.is(machineReason(hit, later(0), sentAt, 0), null, 'the rule can be switched off');
  t.is(machineReason(hit, later(60_000), null, 10_000), 'instant', 'the mail is still being handed over');
  t.is(machineReason({ ...hit, method: 'HEAD' }, later(60_000), sentAt, 10_000), 'burst');
  t.is(machineReason({ ...hit, purpose: 'prefetch;prerender' }, later(60_000), sentAt, 10_000), 'prefetch');
  t.is(
    machineReason({ ...hit, userAgent: GMAIL_PROXY }, later(2_000), sentAt, 10_000),
    'instant',
    'the Gmail proxy ahead of its reader',
  );
  t.is(
    machineReason({ ...hit, userAgent: GMAIL_PROXY }, later(60_000), sentAt, 10_000),
    null,
    'the Gmail proxy for its reader',
  );
});
