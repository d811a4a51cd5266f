import test from 'ava';
import fc from 'fast-check';
import { loadConfig } from '../../../lib/config/index.ts';
import { createEgress, hostMatchesDomains } from '../../../lib/egress/index.ts';
import { checkAppWebhook, checkWebhookUrl, domainProblem, type PolicyDeps } from './policy.ts';

const addresses: Record<string, string[]> = {
  'hooks.example.com': ['93.184.216.34'],
  'inside.example.com': ['192.168.1.1'],
};
const egress = createEgress({
  allowUnsafe: false,
  lookup: async (host) => addresses[host] ?? (host.endsWith('.public.example') ? ['93.184.216.34'] : []),
});
const unsafeEgress = createEgress({ allowUnsafe: true, lookup: async () => [] });
test.after.always(() => Promise.all([egress.close(), unsafeEgress.close()]));

const strict: PolicyDeps = { config: loadConfig({}), egress };
const unsafe: PolicyDeps = { config: loadConfig({ ALLOW_UNSAFE_WEBHOOK_URLS: 'true' }), egress: unsafeEgress };

test('entries of the domain list are host names, and none covers a public suffix', (t) => {
  for (const entry of [
    'example.com',
    '.example.com',
    'hooks.example.co.uk',
    '.example.co.uk',
    'me.github.io',
    'bücher.example',
    'EXAMPLE.com',
  ]) {
    t.is(domainProblem(entry, { allowUnsafe: false }), undefined, entry);
  }
  const refused = [
    '',
    '.',
    '..',
    '.com',
    'com',
    'co.uk',
    '.co.uk',
    '.github.io',
    '.s3.amazonaws.com',
    '*.example.com',
    '*',
    'https://example.com',
    'example.com/',
    'example.com:443',
    'user@example.com',
    'exa mple.com',
    'example..com',
    'example.com.',
    '..example.com',
    '127.0.0.1',
    '0x7f.1',
    '2130706433',
    '[::1]',
    '::1',
    'localhost',
    '.local',
    'printer.local',
    'a\\b.com',
    'a%2eb.com',
    'ex?ample.com',
    `${'a'.repeat(64)}.com`,
    'a\n.com',
  ];
  for (const entry of refused)
    t.is(typeof domainProblem(entry, { allowUnsafe: false }), 'object', JSON.stringify(entry));
  for (const entry of ['localhost', '127.0.0.1'])
    t.is(domainProblem(entry, { allowUnsafe: true }), undefined, `${entry} in development`);
  for (const entry of ['.com', 'co.uk', '*.example.com', 'https://localhost'])
    t.is(typeof domainProblem(entry, { allowUnsafe: true }), 'object', `${entry} in development`);
});

test("every fault of an application's webhook settings is named at its place", async (t) => {
  const problems = await checkAppWebhook(strict, {
    url: 'http://hooks.example.com',
    domains: ['hooks.example.com', '.com'],
    events: ['contact.created', 'nope', 'webhook.test'],
  });
  t.deepEqual(
    problems.map((problem) => problem.path),
    ['body.allowed_webhook_domains.1', 'body.webhook_events.1', 'body.webhook_events.2', 'body.webhook_url'],
  );
});

test('a URL has to be inside the list, by https, and public; an empty one opts out', async (t) => {
  const check = async (url: string, domains: string[], deps = strict) =>
    (await checkAppWebhook(deps, { url, domains, events: [] })).map((problem) => problem.path);
  t.deepEqual(await check('', []), []);
  t.deepEqual(await check('', ['example.com']), []);
  t.deepEqual(await check('https://hooks.example.com/x', ['.example.com']), []);
  t.deepEqual(await check('https://hooks.example.com/x', ['hooks.example.com']), []);
  for (const [url, domains] of [
    ['https://hooks.example.com/x', []],
    ['https://hooks.example.com/x', ['example.com']],
    ['https://hooks.example.com.evil.test/', ['.example.com']],
    ['https://hooks.example.com@evil.test/', ['.example.com']],
    ['https://evil.test/#hooks.example.com', ['.example.com']],
    ['http://hooks.example.com/', ['.example.com']],
    ['https://hooks.example.com:8443/', ['.example.com']],
    ['https://inside.example.com/', ['.example.com']],
    ['https://nowhere.example.com/', ['.example.com']],
  ] as [string, string[]][])
    t.deepEqual(await check(url, domains), ['body.webhook_url'], url);
  t.deepEqual(await check('http://127.0.0.1:9/', ['127.0.0.1'], unsafe), []);
  t.deepEqual(
    await check('http://127.0.0.1:9/', ['example.com'], unsafe),
    ['body.webhook_url'],
    'the list holds in development too',
  );
});

const label = fc
  .stringMatching(/^[a-z]([a-z0-9-]{0,6}[a-z0-9])?$/)
  .filter((text) => !text.startsWith('xn--') && text.slice(2, 4) !== '--');
const host = fc
  .array(label, { minLength: 1, maxLength: 4 })
  .map((labels) => [...labels, 'public', 'example'].join('.'));

/** Reference implementation of the rule, which compares labels instead of text. */
function covered(name: string, entries: readonly string[]): boolean {
  const labels = name.split('.');
  return entries.some((entry) => {
    const wanted = entry.replace(/^\./, '').split('.');
    const tail = labels.slice(-wanted.length);
    const isTail = wanted.length <= labels.length && wanted.every((part, index) => part === tail[index]);
    return isTail && (entry.startsWith('.') || wanted.length === labels.length);
  });
}

test('property: a URL passes exactly when its host is covered label by label', async (t) => {
  // Derives many entries from the host itself, so that they are often its parents, children or siblings.
  const scene = fc
    .tuple(host, fc.array(fc.tuple(fc.nat(6), fc.boolean(), fc.constantFrom('', 'x', 'x.'), host), { maxLength: 4 }))
    .map(([name, drafts]) => ({
      name,
      entries: drafts
        .map(([cut, dotted, prefix, other]) => {
          const parts = name.split('.');
          const base = cut < parts.length - 1 ? parts.slice(cut).join('.') : other;
          return (dotted ? '.' : '') + prefix + base;
        })
        .filter((entry) => entry !== 'example' && entry !== '.example'),
    }));
  let passed = 0;
  await fc.assert(
    fc.asyncProperty(scene, async ({ name, entries }) => {
      const url = `https://${name}/hook`;
      const problems = await checkWebhookUrl(strict, url, 'body.webhook_url', entries);
      const wanted = covered(name, entries);
      passed += wanted ? 1 : 0;
      t.is(problems.length === 0, wanted, `${name} in ${JSON.stringify(entries)}`);
      t.is(hostMatchesDomains(name, entries), wanted);
    }),
    { numRuns: 1000 },
  );
  t.true(passed > 100 && passed < 900, `${passed} of 1000 covered: both answers occur`);
});
