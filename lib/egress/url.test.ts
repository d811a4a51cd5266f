import test from 'ava';
import { checkOutboundUrl, hostMatchesDomains, type OutboundUrlPolicy } from './url.ts';
import { render } from '../../messages/render.ts';

function problem(url: string, policy?: OutboundUrlPolicy): string | undefined {
  const check = checkOutboundUrl(url, policy);
  return check.ok ? undefined : render(check.problem);
}

test('lets https on the standard port of a public host pass', (t) => {
  const urls = [
    'https://hooks.example.com',
    'https://hooks.example.com:443/in?a=1#x',
    'https://EXAMPLE.com/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://bücher.example/',
    'https://under_score.example.com/',
    'https://local.example.com/',
    'https://internal.example.com/',
    `https://${'a'.repeat(63)}.example.com/`,
  ];
  for (const url of urls) t.is(problem(url), undefined, url);
  t.is(problem(new URL('https://hooks.example.com/').href), undefined);
});

test('gives the host in canonical form', (t) => {
  const check = checkOutboundUrl('https://BÜCHER.example:443/x');
  t.is(check.ok ? check.url.href : '', 'https://xn--bcher-kva.example/x');
});

test('refuses other schemes, ports and credentials', (t) => {
  for (const url of [
    'http://example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'data:,x',
    'wss://example.com/',
  ]) {
    t.is(problem(url), 'must use https', url);
  }
  for (const port of [1, 22, 25, 80, 8443, 65_535]) {
    t.is(problem(`https://example.com:${port}/`), 'must use the standard port 443');
  }
  for (const url of ['https://user@example.com/', 'https://:pass@example.com/', 'https://8.8.8.8@example.com/']) {
    t.is(problem(url), 'must not contain credentials', url);
  }
});

test('refuses what is no URL, or reads differently than it is called', (t) => {
  for (const url of [
    '',
    'example.com',
    '/path',
    'https://',
    'https://exa mple.com',
    'https://[::1',
    'https://1.2.3.4.5/',
    'https://256.256.256.256/',
    'https://[fe80::1%25eth0]/',
    'https://a..b.example:99999/',
    'https://%00.example.com/',
  ]) {
    t.truthy(problem(url), url);
  }
  for (const url of [
    ' https://example.com/',
    'https://example.com/ ',
    'https://exa\tmple.com/',
    'https://example.com/\n',
    'https://example.com\\@evil.example/',
    'https://example.com/\u0000',
    'https://example.com/\u0085',
  ]) {
    t.is(problem(url), 'must not contain whitespace, control characters or backslashes', JSON.stringify(url));
  }
  t.regex(problem(`https://example.com/${'a'.repeat(2048)}`) ?? '', /at most 2,048 characters/);
});

test('judges odd IPv4 literals by the address they stand for', (t) => {
  const loopbacks = [
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0177.0.0.1/',
    'https://0x7f.0.0.1/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://017700000001/',
    'https://127.0.0.1./',
    'https://%31%32%37.0.0.1/',
    'https://0/',
    'https://１２７.0.0.1/',
    'https://①②⑦.0.0.1/',
    'https://127。0。0。1/',
    'https://0x7f.1/',
  ];
  for (const url of loopbacks) t.is(problem(url), 'must name a host on the public Internet', url);
  const check = checkOutboundUrl('https://0x08080808/');
  t.is(check.ok ? check.url.hostname : '', '8.8.8.8');
});

test('refuses addresses that are not public', (t) => {
  const hosts = [
    '10.0.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '255.255.255.255',
    '[::1]',
    '[::]',
    '[fe80::1]',
    '[fd00::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b::8.8.8.8]',
    '[2002:7f00:1::]',
    '[2001::1]',
  ];
  for (const host of hosts) t.is(problem(`https://${host}/`), 'must name a host on the public Internet', host);
});

test('refuses names that are local or malformed', (t) => {
  const local = [
    'localhost',
    'LOCALHOST',
    'a.localhost',
    'printer.local',
    'metadata.google.internal',
    'vault',
    'nas.home.arpa',
    'db.lan',
    'x.corp',
    'localhost.localdomain',
    'ｌｏｃａｌｈｏｓｔ',
    'abc.onion',
  ];
  for (const host of local) t.is(problem(`https://${host}/`), 'must name a host on the public Internet', host);
  for (const host of ['example.com.', 'localhost.', 'a.local.']) {
    t.is(problem(`https://${host}/`), 'must name a host without a dot at its end', host);
  }
  const malformed = [
    'a..example.com',
    '.example.com',
    '-a.example.com',
    'a-.example.com',
    'a!.example.com',
    `${'a'.repeat(64)}.example.com`,
    `${'a.'.repeat(126)}example.com`,
  ];
  for (const host of malformed) t.regex(problem(`https://${host}/`) ?? '', /must (name|be) a valid/, host);
});

test('the unsafe mode relaxes scheme, host and port together, and nothing else', (t) => {
  const unsafe = { allowUnsafe: true };
  for (const url of [
    'http://localhost:3000/in',
    'https://127.0.0.1:8443/',
    'http://receiver/',
    'http://[::1]:1/',
    'https://app.internal/',
  ]) {
    t.is(problem(url, unsafe), undefined, url);
  }
  t.is(problem('ftp://localhost/', unsafe), 'must use https');
  t.is(problem('http://a:b@localhost/', unsafe), 'must not contain credentials');
  t.is(
    problem('http://localhost/', { ...unsafe, allowedDomains: ['example.com'] }),
    'must name a host of the allowed domains',
  );
});

test('app domain policy: a bare entry is that host, a leading dot is the apex and every subdomain', (t) => {
  t.true(hostMatchesDomains('example.com', ['example.com']));
  t.false(hostMatchesDomains('a.example.com', ['example.com']));
  t.true(hostMatchesDomains('example.com', ['.example.com']));
  t.true(hostMatchesDomains('a.b.example.com', ['other.test', '.example.com']));
  t.false(hostMatchesDomains('badexample.com', ['.example.com']));
  t.false(hostMatchesDomains('example.com.evil.test', ['.example.com', 'example.com']));
  t.true(hostMatchesDomains('xn--bcher-kva.example', [' BÜCHER.example ']));
  t.true(hostMatchesDomains('8.8.8.8', ['8.8.8.8']));
  for (const entry of ['', '.', ' ', '..', '*', '*.example.com']) {
    t.false(hostMatchesDomains('a.example.com', [entry]), entry);
  }
  t.false(hostMatchesDomains('8.8.8.8', ['.8.8.8', '.8']));
  t.false(hostMatchesDomains('example.com', []));
  t.is(problem('https://example.com/', { allowedDomains: [] }), 'must name a host of the allowed domains');
  t.is(problem('https://a.example.com/', { allowedDomains: ['.example.com'] }), undefined);
});
