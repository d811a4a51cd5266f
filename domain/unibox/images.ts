import pLimit from 'p-limit';
import { EgressError } from '../../lib/egress/index.ts';
import type { Ctx } from '../kernel/context.ts';
import { readMessage } from './message.ts';

/** An image of a message, as it is where the message says it is. */
export interface MessageImage {
  src: string;
  contentType: string;
  bytes: Buffer;
}

const MAX_IMAGES = 30;
const MAX_IMAGE_BYTES = 1024 * 1024;
/** Asked for at once, of one message. */
const AT_ONCE = 6;
/** For one address, its redirects not counted (ms). */
const TIMEOUT_MS = 5_000;
const MAX_REDIRECTS = 3;

/** Kinds of images that do nothing but look, by the bytes they begin with, in hexadecimal; what a server calls them does not count. */
const KINDS: readonly [contentType: string, beginning: RegExp][] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^47494638(?:37|39)61/],
  ['image/webp', /^52494646.{8}57454250/],
];

/**
 * Fetches the images that a received message names, the first 30 of at most 1 MiB each. The server fetches them, so the sender learns that
 * the message was read, but not who reads it, or from where. Those that cannot be had, or are something else, are left out.
 * @throws AppError not_found for a message that the caller may not read
 */
export async function fetchImages(ctx: Ctx, messageId: string): Promise<MessageImage[]> {
  const { body_html: html } = await readMessage(ctx, messageId);
  const limit = pLimit(AT_ONCE);
  const found = await Promise.all(imageSources(html ?? '').map((src) => limit(() => fetchImage(ctx, src))));
  return found.filter((image) => image !== null);
}

/** Where the images of HTML are that was made safe: it writes attributes between double quotes, with `<` and `>` escaped. */
function imageSources(html: string): string[] {
  const sources = [...html.matchAll(/<img [^>]*?data-src="([^"]*)"/g)].map(([, value]) =>
    value!.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  );
  return [...new Set(sources)].slice(0, MAX_IMAGES);
}

async function fetchImage({ egress, log }: Pick<Ctx, 'egress' | 'log'>, src: string): Promise<MessageImage | null> {
  try {
    let url = new URL(src);
    for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
      const { status, headers, body, truncated } = await egress.request({
        method: 'GET',
        url,
        headers: { accept: 'image/png, image/jpeg, image/gif, image/webp' },
        timeoutMs: TIMEOUT_MS,
        maxResponseBytes: MAX_IMAGE_BYTES,
      });
      const { location } = headers;
      if (status >= 300 && status < 400 && typeof location === 'string') {
        url = new URL(location, url);
        continue;
      }
      const beginning = body.subarray(0, 16).toString('hex');
      const kind = KINDS.find(([, pattern]) => pattern.test(beginning));
      return status === 200 && !truncated && kind ? { src, contentType: kind[0], bytes: body } : null;
    }
  } catch (error) {
    // A name that is none, and a server that does not answer; anything else is a fault of ours.
    if (!(error instanceof EgressError) && !(error instanceof TypeError)) throw error;
    log.debug({ err: error }, 'an image of a message was not fetched');
  }
  return null;
}
