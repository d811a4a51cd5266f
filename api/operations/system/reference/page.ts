import { existsSync, readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import type { Context } from 'koa';
import { html } from '../../../http/html.ts';

/** Path of the reference. Its two scripts are served at paths below it. */
const PATH = '/docs';
const SCRIPT = `${PATH}/scalar.js`;
const START = `${PATH}/start.js`;

/**
 * Content-Security-Policy: scripts and requests of this server only. The script creates styles while it renders, so
 * styles cannot be bound to a hash.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const CONFIGURATION = {
  url: '/openapi.json',
  authentication: { preferredSecurityScheme: 'bearer' },
  // The following options disable all services of Scalar's vendor: fonts, proxy, statistics, assistant, editor.
  withDefaultFonts: false,
  proxyUrl: '',
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true, hideAddApi: true },
  mcp: { disabled: true },
  documentDownloadType: 'json',
  defaultOpenFirstTag: false,
  hideModels: true,
  operationTitleSource: 'summary',
  metaData: { title: 'Heron API' },
};

const START_TEXT = `Scalar.createApiReference('#reference', ${JSON.stringify(CONFIGURATION)});\n`;

const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Heron API</title><link rel="icon" href="data:,"><style>body{margin:0;font-family:system-ui,sans-serif}noscript p{max-width:40rem;margin:3rem auto;padding:0 1rem}</style></head>
<body><div id="reference"></div><noscript><p>This page draws the API reference with a script. Without one, the OpenAPI document has all of it:
<a href="/openapi.json">/openapi.json</a></p></noscript><script src="${SCRIPT}"></script><script src="${START}"></script></body></html>`;

/**
 * Names of two files: Scalar's bundle, and a text that explains why the bundle is missing. Neither is in Git. A build
 * or a start from source writes one of them.
 */
const BUNDLE = 'scalar.js.br';
const REASON = 'scalar.missing.txt';

let compressed: Buffer | undefined;
let plain: Buffer | undefined;

const FOLDER = new URL('.', import.meta.url);

/**
 * Answers a GET for the API reference or one of its parts. Returns false for any other path.
 * @param folder folder of the bundle
 */
export function serveReference(koa: Context, folder = FOLDER): boolean {
  switch (koa.path) {
    case PATH:
      koa.type = 'text/html';
      koa.set({ 'Content-Security-Policy': POLICY, 'Referrer-Policy': 'no-referrer', 'X-Frame-Options': 'DENY' });
      koa.body = existsSync(new URL(BUNDLE, folder)) ? PAGE : missingPage(folder);
      return true;
    case START:
      koa.type = 'text/javascript';
      koa.body = START_TEXT;
      return true;
    case SCRIPT:
      if (!existsSync(new URL(BUNDLE, folder))) return false;
      serveScript(koa, folder);
      return true;
    default:
      return false;
  }
}

/**
 * Explains why the reference is missing. If Heron runs from source, the bundle is fetched at start, so it may still be
 * downloading.
 */
function missingPage(folder: URL): string {
  const file = new URL(REASON, folder);
  const state = existsSync(file)
    ? `The reference could not be fetched: ${readFileSync(file, 'utf8').trim()};`
    : 'The reference has not been fetched yet; `npm start` and `npm run build` fetch it;';
  return html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Heron API</title></head>
<body><p>${state} the document is at <a href="/openapi.json">/openapi.json</a>.</p></body></html>`.text;
}

/** Serves Scalar's bundle as stored, brotli-compressed, or decompressed for clients that do not accept Brotli. */
function serveScript(koa: Context, folder: URL): void {
  compressed ??= readFileSync(new URL(BUNDLE, folder));
  koa.type = 'text/javascript';
  koa.set('Cache-Control', 'public, max-age=3600');
  koa.vary('Accept-Encoding');
  if (koa.acceptsEncodings('br', 'identity') === 'br') {
    koa.set('Content-Encoding', 'br');
    koa.body = compressed;
    return;
  }
  plain ??= brotliDecompressSync(compressed);
  koa.body = plain;
}
