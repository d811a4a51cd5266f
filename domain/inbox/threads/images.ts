import pLimit from 'p-limit';
import { EgressError } from '../../../lib/egress/index.ts';
import { tooManyRequests } from '../../../lib/errors.ts';
import { readImageFacts, type ImageFacts } from '../../../lib/image-size.ts';
import { TargetLimits } from '../../../lib/target-limits.ts';
import { organizationOf, type Ctx } from '../../platform/kernel/context.ts';
import { readMessage } from './message.ts';
import { message } from '../../../messages/index.ts';

/** An image of a message, by the URL in the message. */
interface MessageImage {
  src: string;
  contentType: string;
  bytes: Buffer;
}

const MAX_IMAGES = 30;
const MAX_IMAGE_BYTES = 1024 * 1024;
/**
 * Maximum total size (bytes) of a message's images. The response holds them in memory several times, and base64 adds a
 * third.
 */
const MAX_BYTES = 8 * 1024 * 1024;
/**
 * Maximum number of pixels of all images of a message. The reader's browser uses four bytes for each pixel. A photo of
 * a phone has 12 to 24 million pixels.
 */
const MAX_PIXELS = 50_000_000;
/** Maximum number of concurrent requests for the images of one message. */
const AT_ONCE = 6;
/** Timeout (ms) of one URL, redirects not counted. */
const TIMEOUT_MS = 5_000;
const MAX_REDIRECTS = 3;
/** Timeout (ms) for all images of a message. */
const MESSAGE_TIMEOUT_MS = 20_000;
/** Maximum time (ms) for which a message waits for a free slot to fetch its images. */
const PATIENCE_MS = 5_000;
/**
 * Limits the number of messages whose images are fetched concurrently, in total and per workspace. This limits the
 * memory that the process needs.
 */
const messagesAtOnce = new TargetLimits({ total: 8, perTarget: 2, perTenant: 2 });

/**
 * Fetches the images in a received message: the first 30, at most 1 MiB each, 8 MiB and 50 million pixels together. The
 * server fetches them, so the sender learns that the message was read, but not by whom or from where. Unavailable
 * images and other content are omitted.
 * @throws AppError not_found for a message that the caller may not read, rate_limit_exceeded while the workspace has
 * too many requests in progress
 */
export async function fetchImages(ctx: Ctx, messageId: string): Promise<MessageImage[]> {
  const { body_html: html } = await readMessage(ctx, messageId);
  const sources = imageSources(html ?? '');
  if (sources.length === 0) return [];
  const workspace = organizationOf(ctx);
  const permit = await messagesAtOnce.acquireSoon(workspace, workspace, PATIENCE_MS);
  if ('retryInMs' in permit) throw tooManyRequests(permit.retryInMs, message('threads.images_busy'));
  try {
    return await fetchAll(ctx, sources);
  } finally {
    permit.release('answered');
  }
}

async function fetchAll(ctx: Ctx, sources: readonly string[]): Promise<MessageImage[]> {
  const limit = pLimit(AT_ONCE);
  const signal = AbortSignal.timeout(MESSAGE_TIMEOUT_MS);
  let room = MAX_BYTES;
  let pixelRoom = MAX_PIXELS;
  const found = await Promise.all(
    sources.map((src) =>
      limit(async () => {
        if (room <= 0 || signal.aborted) return null;
        const image = await fetchImage(ctx, src, signal);
        if (!image || image.pixels > pixelRoom) return null;
        room -= image.bytes.length;
        if (room < 0) return null;
        pixelRoom -= image.pixels;
        return { src, contentType: image.type, bytes: image.bytes };
      }),
    ),
  );
  return found.filter((image) => image !== null);
}

/**
 * Returns the URLs of images in sanitized HTML. In such HTML, attributes have double quotes, and `<` and `>` are
 * escaped.
 */
function imageSources(html: string): string[] {
  const sources = [...html.matchAll(/<img [^>]*?data-src="([^"]*)"/g)].map(([, value]) =>
    value!.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  );
  return [...new Set(sources)].slice(0, MAX_IMAGES);
}

async function fetchImage(
  { egress, log }: Pick<Ctx, 'egress' | 'log'>,
  src: string,
  signal: AbortSignal,
): Promise<(ImageFacts & { bytes: Buffer }) | null> {
  try {
    let url = new URL(src);
    for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
      const { status, headers, body, truncated } = await egress.request({
        method: 'GET',
        url,
        headers: { accept: 'image/png, image/jpeg, image/gif, image/webp' },
        timeoutMs: TIMEOUT_MS,
        maxResponseBytes: MAX_IMAGE_BYTES,
        signal,
      });
      const { location } = headers;
      if (status >= 300 && status < 400 && typeof location === 'string') {
        url = new URL(location, url);
        continue;
      }
      const facts = status === 200 && !truncated ? readImageFacts(body) : undefined;
      return facts ? { ...facts, bytes: body } : null;
    }
  } catch (error) {
    // Ignores invalid host names and servers that do not respond. Throws other errors, because they are defects of
    // Heron.
    if (!(error instanceof EgressError) && !(error instanceof TypeError)) throw error;
    log.debug({ err: error }, 'an image of a message was not fetched');
  }
  return null;
}
