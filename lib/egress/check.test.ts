import test from 'ava';
import { createEgress, EgressError } from './index.ts';

const outcome = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'passed',
    (error: unknown) => (error instanceof EgressError ? `${error.kind} in ${error.phase}` : String(error)),
  );

test('a URL is checked by itself and by every address of its host, without connecting', async (t) => {
  const asked: string[] = [];
  const addresses: Record<string, string[]> = {
    'a.example.com': ['93.184.216.34', '2606:2800:220:1::1'],
    'mixed.example.com': ['93.184.216.34', '10.0.0.1'],
  };
  const egress = createEgress({
    allowUnsafe: false,
    lookup: async (host) => (asked.push(host), addresses[host] ?? []),
  });
  t.teardown(() => egress.close());
  t.is(await outcome(egress.check('https://a.example.com/x', 1000)), 'passed');
  t.is(await outcome(egress.check('https://mixed.example.com/', 1000)), 'blocked in dns');
  t.is(await outcome(egress.check('https://nobody.example.com/', 1000)), 'dns in dns');
  t.is(await outcome(egress.check('https://93.184.216.34/', 1000)), 'passed');
  t.deepEqual(asked, ['a.example.com', 'mixed.example.com', 'nobody.example.com']);
  for (const url of [
    'http://a.example.com/',
    'https://a.example.com:8443/',
    'https://127.0.0.1/',
    'https://0177.1/',
    'https://u:p@a.example.com/',
    'nonsense',
  ]) {
    t.is(await outcome(egress.check(url, 1000)), 'blocked in check', url);
  }
  t.is(asked.length, 3, 'what is refused by itself is not looked up');
});

test('a name server that does not answer is not waited for longer than said', async (t) => {
  const egress = createEgress({ allowUnsafe: false, lookup: () => new Promise(() => {}) });
  t.teardown(() => egress.close());
  t.is(await outcome(egress.check('https://slow.example.com/', 50)), 'timeout in dns');
});
