import test from 'ava';
import fc from 'fast-check';
import { redirectUriMatches, redirectUriProblem, RESERVED_SCHEMES } from './redirect-uris.ts';

const stands = (uri: string, privateUse = false) => redirectUriProblem(uri, { privateUse }) === undefined;

test('what can be registered', (t) => {
  for (const uri of [
    'https://app.example.com/callback',
    'https://app.example.com',
    'https://app.example.com/cb?tenant=1&x=%20',
    'https://app.example.com:8443/cb',
    'https://10.0.0.1/cb',
    'http://127.0.0.1/cb',
    'http://127.0.0.1:3000/cb',
    'http://localhost:1/',
    'http://localhost',
    'http://[::1]:5000/cb',
    'https://xn--bcher-kva.example/cb',
  ]) {
    t.is(redirectUriProblem(uri, { privateUse: false }), undefined, uri);
    t.true(stands(uri, true), uri);
  }
  for (const uri of [
    'com.example.app:/callback',
    'com.example.app://callback/x',
    'com.example.app:callback',
    'io.x-y.z:/',
    'cursor://anysphere.cursor-retrieval/oauth/callback',
    'vscode://vscode.github-authentication/did-authenticate',
    'myapp:/callback',
  ]) {
    t.true(stands(uri, true), uri);
    t.false(stands(uri), `${uri} for a client that did not register itself`);
  }
});

test('what no client can register', (t) => {
  for (const uri of [
    '',
    'callback',
    '/callback',
    '//app.example.com/cb',
    'http://app.example.com/cb',
    'http://127.0.0.2/cb',
    'http://127.1/cb',
    'http://0x7f.1/cb',
    'http://localhost.example.com/cb',
    'http://127.0.0.1.example.com/',
    'http://localhost@evil.example.com/',
    'https://user@app.example.com/cb',
    'https://user:pw@app.example.com/cb',
    'https://@app.example.com/cb',
    'https://app.example.com/cb#x',
    'https://app.example.com/cb#',
    'https://*.example.com/cb',
    'https://app.example.com/*',
    'https://app.example.com/a/../b',
    'https://app.example.com/%2e%2e/b',
    'https://APP.example.com/cb',
    'HTTPS://app.example.com/cb',
    'https://app.example.com:443/cb',
    'https://app.example.com/c b',
    'https://app.example.com\\@evil.example.com/',
    'https:\\\\app.example.com/',
    ' https://app.example.com/cb',
    'https://app.example.com/cb\n',
    'https://app.example.com/c\tb',
    'https:app.example.com/cb',
    'https:///app.example.com/cb',
    'https://bücher.example/cb',
    'https://app.example.com./\u0000',
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'vbscript:x',
    'about:blank',
    'blob:https://app.example.com/x',
    'ftp://app.example.com/',
    'ws://app.example.com/',
    'localhost:3000/cb',
    'mailto:a@example.com',
    'intent://x/#Intent;end',
    'chrome-extension://abc/cb',
    'view-source:https://app.example.com/',
    '.app:/cb',
    'com.example.app',
    `https://app.example.com/${'x'.repeat(2048)}`,
  ])
    t.false(stands(uri, true), uri);
});

test('a loopback URI matches on any port, and in nothing else', (t) => {
  const registered = 'http://127.0.0.1:8000/cb?a=1';
  for (const uri of [
    registered,
    'http://127.0.0.1/cb?a=1',
    'http://127.0.0.1:1/cb?a=1',
    'http://127.0.0.1:65535/cb?a=1',
  ])
    t.true(redirectUriMatches(registered, uri), uri);
  for (const uri of [
    'http://localhost:8000/cb?a=1',
    'http://[::1]:8000/cb?a=1',
    'http://127.0.0.2:8000/cb?a=1',
    'https://127.0.0.1:8000/cb?a=1',
    'http://127.0.0.1:8000/cb',
    'http://127.0.0.1:8000/cb?a=1&b=2',
    'http://127.0.0.1:8000/cb/?a=1',
    'http://127.0.0.1:8000/CB?a=1',
    'http://127.0.0.1:8000/%63b?a=1',
    'http://127.0.0.1:8000/x/../cb?a=1',
    'http://127.0.0.1:80@evil.example.com/cb?a=1',
    'http://127.0.0.1:8000@evil/cb?a=1',
    'http://127.0.0.1:/cb?a=1',
    'http://127.0.0.1:65536/cb?a=1',
    'http://127.0.0.1:08000/cb?a=1',
    'http://127.0.0.1:8000\\@evil.example.com/cb?a=1',
    'http://127.0.0.1.evil.example.com:8000/cb?a=1',
    'http://127.0.0.1:8000/cb?a=1#x',
    'HTTP://127.0.0.1:8000/cb?a=1',
    'http://2130706433:8000/cb?a=1',
    'http://0177.0.0.1:8000/cb?a=1',
    ' http://127.0.0.1:8000/cb?a=1',
  ])
    t.false(redirectUriMatches(registered, uri), uri);
  t.false(
    redirectUriMatches('https://app.example.com/cb', 'https://app.example.com:444/cb'),
    'other hosts have their port',
  );
  t.false(redirectUriMatches('com.example.app://127.0.0.1/cb', 'com.example.app://127.0.0.1:1/cb'));
  t.true(redirectUriMatches('http://localhost', 'http://localhost:5000'));
  t.false(redirectUriMatches('http://localhost', 'http://localhost:5000/'));
});

/** Parts of URIs that parsers have interpreted differently. */
const piece = fc.constantFrom(
  'http',
  'https',
  'com.example.app',
  ':',
  '/',
  '//',
  '\\',
  '@',
  '?',
  '#',
  '%',
  '%2f',
  '%00',
  '..',
  '.',
  '*',
  '&',
  '=',
  ';',
  ' ',
  '\t',
  '\n',
  '[',
  ']',
  '[::1]',
  '::',
  '127.0.0.1',
  '127.1',
  '0x7f000001',
  '2130706433',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'app.example.com',
  'evil.example.com',
  'cb',
  'CB',
  '80',
  '443',
  '8000',
  '65536',
  'user',
  '。',
  '％',
  'ⓛocalhost',
  '\u00ad',
  '\u200b',
  '\u202e',
);
const confusing = fc.array(piece, { minLength: 1, maxLength: 10 }).map((parts) => parts.join(''));
const usual = fc.constantFrom(
  'https://app.example.com/cb',
  'https://app.example.com/cb?x=1',
  'http://127.0.0.1/cb',
  'http://127.0.0.1:8000/cb',
  'http://localhost:3000/cb?x=1',
  'http://[::1]/cb',
  'http://localhost',
  'com.example.app:/cb',
);
/** Mutates a registered URI by an insertion, deletion or replacement. */
const mutated = fc
  .tuple(usual, fc.nat(40), fc.nat(4), confusing)
  .map(([uri, at, cut, text]) => uri.slice(0, at) + text + uri.slice(at + cut));

test('whatever matches leads a browser where a registered URI leads, on another port at most', (t) => {
  let matched = 0;
  fc.assert(
    fc.property(usual, fc.oneof(mutated, mutated, usual, confusing), (registered, requested) => {
      if (!redirectUriMatches(registered, requested)) return;
      matched += 1;
      const [a, b] = [new URL(registered), new URL(requested)];
      const loopback = a.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(a.hostname);
      if (!loopback) return void (requested === registered || t.fail(requested));
      for (const part of ['protocol', 'hostname', 'pathname', 'search', 'hash', 'username', 'password'] as const) {
        if (a[part] !== b[part]) throw new Error(`${requested} for ${registered}: ${part} is ${b[part]}`);
      }
    }),
    { numRuns: 100_000 },
  );
  t.true(matched > 1000, `${matched} matched`);
});

test('whatever can be registered has one spelling, and no place to hide another host or scheme in', (t) => {
  let stood = 0;
  fc.assert(
    fc.property(fc.oneof(mutated, mutated, usual, confusing), fc.boolean(), (uri, privateUse) => {
      if (!stands(uri, privateUse)) return;
      stood += 1;
      const url = new URL(uri);
      const faults = [
        url.href !== uri && url.href !== `${uri}/`,
        url.hash !== '' || url.username !== '' || url.password !== '',
        url.protocol === 'http:' && !['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname),
        !['https:', 'http:'].includes(url.protocol) && (!privateUse || RESERVED_SCHEMES.has(url.protocol.slice(0, -1))),
      ];
      if (faults.some(Boolean)) throw new Error(`${uri} could be registered (${faults.join(', ')})`);
    }),
    { numRuns: 100_000 },
  );
  t.true(stood > 1000, `${stood} could be registered`);
});
