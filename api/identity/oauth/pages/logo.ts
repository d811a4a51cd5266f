import { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Ctx } from '../../../../domain/platform/kernel/context.ts';
import { findClient, type Client } from '../../../../domain/identity/oauth/clients.ts';
import type { Egress } from '../../../../lib/egress/index.ts';
import { AppError, notFound } from '../../../../lib/errors.ts';
import { readImageFacts } from '../../../../lib/image-size.ts';
import type { StreamReply } from '../../../http/route.ts';
import { shownPage } from '../../../pages/declare.ts';
import { html } from '../../../http/html.ts';
import { PAGE_HEADERS } from '../../../pages/layout.ts';
import { message } from '../../../../messages/index.ts';

const LOGO_PATH = '/oauth/logo';
const MAX_BYTES = 128 * 1024;
/** Maximum number of pixels of a logo, which is shown as a small square. */
const MAX_PIXELS = 4_000_000;
const TIMEOUT_MS = 5_000;
const FRESH_MS = 3600_000;
const RETRY_MS = 5 * 60_000;
const MAX_CACHED = 64;

interface Image {
  type: string;
  bytes: Buffer;
}
/**
 * Caches of the most recently fetched logos, including failures. There is one cache per egress, and a process has one
 * egress.
 */
const caches = new WeakMap<Egress, LRUCache<string, { image: Image | null; until: number }>>();

/**
 * Returns the path from which the pages load an application's logo. Null for applications without a logo and for
 * self-registered ones.
 */
export function logoSource(app: Pick<Client, 'client_id' | 'logo_url' | 'self_registered'>): string | null {
  return app.logo_url !== '' && !app.self_registered
    ? `${LOGO_PATH}?${new URLSearchParams({ client_id: app.client_id }).toString()}`
    : null;
}

/**
 * Route of logos. This server fetches them: an image loaded from the application's site would tell that site who views
 * the page, when and from where.
 */
export const logoRoutes = [
  shownPage({
    operationId: 'pages.logo',
    path: LOGO_PATH,
    summary: 'Logo of an application, for the pages of a signed-in person',
    query: z.object({ client_id: z.string().meta({ description: 'Client id of the application' }) }),
    contentType: 'image/*',
    show: async (visit, { client_id }) => {
      if (!visit.signedIn) throw new AppError('unauthorized', message('session.none'));
      const app = await findClient(visit.ctx, client_id);
      if (!app || logoSource(app) === null) throw notFound('logo');
      const image = await loadLogo(visit.ctx, app);
      return image
        ? imageReply(image.type, Readable.from([image.bytes]))
        : imageReply('image/svg+xml', initialTile(app.name));
    },
  }),
];

function imageReply(contentType: string, stream: Readable | string): StreamReply {
  return { stream, contentType, headers: { ...PAGE_HEADERS, 'Cache-Control': 'private, max-age=600' } };
}

async function loadLogo(ctx: Ctx, { logo_url: url }: Client): Promise<Image | null> {
  const cache =
    caches.get(ctx.egress) ?? new LRUCache<string, { image: Image | null; until: number }>({ max: MAX_CACHED });
  caches.set(ctx.egress, cache);
  const now = ctx.clock.now().getTime();
  const kept = cache.get(url);
  if (kept && kept.until > now) return kept.image;
  const image = await fetchImage(ctx, url);
  cache.set(url, { image, until: now + (image ? FRESH_MS : RETRY_MS) });
  return image;
}

/**
 * Fetches the image at a URL. Returns null if it cannot be fetched, is too large, or is no bitmap: an SVG can contain a
 * document of its own.
 */
async function fetchImage(ctx: Ctx, url: string): Promise<Image | null> {
  try {
    const answer = await ctx.egress.request({
      method: 'GET',
      url,
      headers: { accept: 'image/png,image/jpeg,image/webp,image/gif', 'user-agent': 'Heron' },
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_BYTES,
    });
    const facts = answer.status === 200 && !answer.truncated ? readImageFacts(answer.body) : undefined;
    return facts && facts.pixels <= MAX_PIXELS ? { type: facts.type, bytes: answer.body } : null;
  } catch {
    return null;
  }
}

/** Renders the replacement for a logo that cannot be fetched. */
function initialTile(name: string): string {
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 52 52"><text x="26" y="35" text-anchor="middle" font-family="system-ui,sans-serif" font-size="25" font-weight="700" fill="#1c5fb8">${initial(name)}</text></svg>`
    .text;
}

/** Returns the initial for the tile of an application without a logo. */
export function initial(name: string): string {
  return [...name.trim()][0]?.toUpperCase() ?? '?';
}
