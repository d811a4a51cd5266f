import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import Koa from 'koa';
import { loadConfig } from '../../lib/config/index.ts';
import { listenHttp } from '../../lib/listen.ts';
import { dashboardFallback, dashboardFiles } from './dashboard.ts';

const SCRIPT = 'console.log("heron")';
const config = loadConfig({ PRIMARY_DB: 'postgres://localhost/none', REALTIME_PUBLIC_URL: 'https://live.example.com' });

async function serve(t: ExecutionContext, options: { isBuilt: boolean }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'heron-dashboard-'));
  if (options.isBuilt) {
    await mkdir(join(directory, 'assets'));
    await writeFile(
      join(directory, 'index.html'),
      '<meta name="heron-nonce" content="%NONCE%"><meta name="heron-realtime" content="%REALTIME%"><script type="module" src="/assets/a-1.js"></script>',
    );
    await writeFile(join(directory, 'assets', 'a-1.js'), SCRIPT);
    await writeFile(join(directory, 'assets', 'a-1.js.br'), brotliCompressSync(SCRIPT));
  }
  const app = new Koa();
  app.use(dashboardFiles(directory));
  app.use(dashboardFallback(config, directory));
  const { url, close } = await listenHttp(app.callback(), '127.0.0.1', 0);
  t.teardown(async () => {
    await close();
    await rm(directory, { recursive: true });
  });
  return url;
}

const asPage = { headers: { accept: 'text/html,*/*;q=0.8' } };

test('an address of the dashboard is its page, with a policy that lets no inline script in', async (t) => {
  const url = await serve(t, { isBuilt: true });
  const [first, second] = [await fetch(`${url}/campaigns/1/sequence`, asPage), await fetch(`${url}/inbox`, asPage)];
  t.is(first.status, 200);
  t.is(first.headers.get('cache-control'), 'no-store');
  const policy = first.headers.get('content-security-policy')!;
  const directives = new Map(policy.split('; ').map((one) => [one.split(' ')[0]!, one.split(' ').slice(1)]));
  t.deepEqual(directives.get('default-src'), ["'none'"]);
  t.deepEqual(directives.get('script-src'), ["'self'"]);
  t.deepEqual(directives.get('connect-src'), ["'self'", 'wss://live.example.com']);
  t.false(directives.get('style-src')!.includes("'unsafe-inline'"));
  const nonce = /'nonce-([\w-]+)'/.exec(policy)![1]!;
  const page = await first.text();
  t.true(page.includes(`content="${nonce}"`));
  t.true(page.includes('content="wss://live.example.com/v1/realtime"'));
  t.false(second.headers.get('content-security-policy')!.includes(nonce), 'a nonce is good for one answer');
});

test('what belongs to the API, files that are not there, and what no browser asks for, are not swallowed', async (t) => {
  const url = await serve(t, { isBuilt: true });
  for (const path of [
    '/v1',
    '/v1/nothing',
    '/oauth/nothing',
    '/account/nothing',
    '/assets/gone.js',
    '/favicon.ico',
    '/docs/x',
  ])
    t.is((await fetch(url + path, asPage)).status, 404, path);
  t.is((await fetch(`${url}/campaigns`, { headers: { accept: 'application/json' } })).status, 404);
  t.is((await fetch(`${url}/campaigns`, { ...asPage, method: 'POST' })).status, 404);
});

test('files are kept for ever under their names, compressed where the client takes that, and not sent twice', async (t) => {
  const url = await serve(t, { isBuilt: true });
  const packed = await fetch(`${url}/assets/a-1.js`, { headers: { 'accept-encoding': 'br' } });
  t.is(packed.headers.get('content-encoding'), 'br');
  t.is(packed.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  t.is(packed.headers.get('vary'), 'Accept-Encoding');
  t.is(await packed.text(), SCRIPT);
  const plain = await fetch(`${url}/assets/a-1.js`, { headers: { 'accept-encoding': 'identity' } });
  t.is(plain.headers.get('content-encoding'), null);
  t.not(plain.headers.get('etag'), packed.headers.get('etag'));
  const again = await fetch(`${url}/assets/a-1.js`, {
    headers: { 'accept-encoding': 'br', 'if-none-match': packed.headers.get('etag')!, 'cache-control': 'max-age=0' },
  });
  t.is(again.status, 304);
  t.is(await again.text(), '');
  for (const path of ['/assets/..%2f..%2fetc%2fpasswd', '/assets/../index.html', '/index.html'])
    t.is((await fetch(url + path)).status, 404, path);
});

test('without a build there is no dashboard, and nothing else changes', async (t) => {
  const url = await serve(t, { isBuilt: false });
  t.is((await fetch(`${url}/campaigns`, asPage)).status, 404);
});
