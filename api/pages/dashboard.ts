import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Middleware } from 'koa';
import type { Config } from '../../lib/config/index.ts';
import { newSecret } from '../../lib/crypto.ts';
import type { StreamReply } from '../http/route.ts';

/**
 * Folder of the dashboard, which `npm run build` or `npm start` builds. The relative path is the same from the source
 * and from the compiled code.
 */
const BUILD = fileURLToPath(new URL('../../web/dist', import.meta.url));

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/** Paths that belong to the API and its pages. An unknown path below them is a 404. */
const NOT_OURS = /^\/(v1|oauth|account|\.well-known|mcp|docs|assets|metrics|health|setup|invitations|approvals)(\/|$)/;

interface AssetFile {
  type: string;
  /** Bytes by content encoding; `identity` is always present. */
  bytes: Record<string, Buffer>;
  etag: string;
}

interface Build {
  page: string;
  files: Map<string, AssetFile>;
}

const builds = new Map<string, Build | null>();

/**
 * Returns the dashboard's page, which is the same for each of its addresses; null if web/ was not built. A nonce admits
 * the styles that its libraries create at run time. Scripts must be files of this server.
 */
export function dashboardPage(config: Config, directory = BUILD): StreamReply | null {
  const build = readBuild(directory);
  if (!build) return null;
  const nonce = newSecret();
  const stream = build.page
    .replaceAll('%NONCE%', nonce)
    .replaceAll('%REALTIME%', escapeAttribute(`${toWebSocket(config.REALTIME_PUBLIC_URL)}/v1/realtime`));
  return {
    stream,
    contentType: 'text/html; charset=utf-8',
    headers: {
      'Cache-Control': 'no-store',
      'Content-Security-Policy': policy(nonce, new URL(toWebSocket(config.REALTIME_PUBLIC_URL)).origin),
      'Referrer-Policy': 'same-origin',
      'X-Frame-Options': 'DENY',
      'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    },
  };
}

/** Allows resources of this server only, except for the event stream. */
function policy(nonce: string, realtime: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self' ${realtime}`,
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Serves the dashboard's files, whose names change with their content. */
export function dashboardFiles(directory = BUILD): Middleware {
  return (koa, next) => {
    if (koa.method !== 'GET' && koa.method !== 'HEAD') return next();
    const file = readBuild(directory)?.files.get(koa.path);
    if (!file) return next();
    const encoding = koa.acceptsEncodings(...Object.keys(file.bytes)) || 'identity';
    koa.set({
      'Cache-Control': koa.path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'public, max-age=3600',
      ETag: `"${file.etag}${encoding === 'identity' ? '' : `-${encoding}`}"`,
      'Content-Type': file.type,
      'Cross-Origin-Resource-Policy': 'same-origin',
    });
    koa.vary('Accept-Encoding');
    koa.status = 200;
    if (koa.fresh) {
      koa.status = 304;
      return undefined;
    }
    if (encoding !== 'identity') koa.set('Content-Encoding', encoding);
    koa.body = file.bytes[encoding]!;
    return undefined;
  };
}

/**
 * Serves the dashboard's page for its own addresses, such as a link to a campaign. Paths of the API are not affected.
 */
export function dashboardFallback(config: Config, directory = BUILD): Middleware {
  return (koa, next) => {
    const isPage =
      (koa.method === 'GET' || koa.method === 'HEAD') &&
      koa.get('accept').includes('text/html') &&
      !NOT_OURS.test(koa.path) &&
      extname(koa.path) === '';
    const reply = isPage ? dashboardPage(config, directory) : null;
    if (!reply) return next();
    koa.status = 200;
    koa.type = reply.contentType;
    koa.set(reply.headers!);
    koa.body = reply.stream;
    return undefined;
  };
}

/** Reads the build only once, because a process serves the build with which it started. */
function readBuild(directory: string): Build | null {
  if (!builds.has(directory)) builds.set(directory, loadBuild(directory));
  return builds.get(directory)!;
}

function loadBuild(directory: string): Build | null {
  const files = new Map<string, AssetFile>();
  let names: string[];
  try {
    names = readdirSync(directory, { recursive: true }).map(String);
  } catch {
    return null;
  }
  for (const name of names) {
    const type = TYPES[extname(name)];
    if (!type) continue;
    const identity = readFileSync(join(directory, name));
    const bytes: Record<string, Buffer> = { identity };
    for (const [encoding, ending] of [
      ['br', '.br'],
      ['gzip', '.gz'],
    ] as const)
      if (names.includes(name + ending)) bytes[encoding] = readFileSync(join(directory, name + ending));
    const etag = createHash('sha256').update(identity).digest('base64url').slice(0, 22);
    files.set(`/${name.replaceAll('\\', '/')}`, { type, bytes, etag });
  }
  return names.includes('index.html') ? { page: readFileSync(join(directory, 'index.html'), 'utf8'), files } : null;
}

function toWebSocket(address: string): string {
  return address.replace(/^http/, 'ws').replace(/\/$/, '');
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
