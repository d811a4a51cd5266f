import { gt, valid } from 'semver';
import { z } from 'zod';
import { VERSION } from '../../../lib/version.ts';
import type { Deps } from '../../platform/kernel/context.ts';

/** The newest release according to the feed. */
interface Release {
  version: string;
  /** URL of its release notes. */
  url: string | null;
  publishedAt: string | null;
}

interface Update {
  running: { version: string; node: string };
  newest: Release | null;
  /** `off` when no feed is configured. */
  state: 'off' | 'current' | 'available' | 'unreachable';
}

/** Schema of the newest release, in the format of the APIs of code hosts (`/releases/latest`). */
const feed = z.object({
  tag_name: z.string().max(100),
  html_url: z.url().max(2_000).nullish(),
  published_at: z.iso.datetime({ offset: true }).nullish(),
});

const REQUEST_MS = 5_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
/**
 * Times (ms) for which a result and a failure are cached, so that repeated page views do not query the feed each time.
 */
const ANSWER_MS = 3_600_000;
const FAILURE_MS = 60_000;

/**
 * Returns the version of this build, and a newer version if UPDATE_FEED_URL names one. Sends no request without this
 * setting. Never throws.
 */
export async function readUpdate({
  config,
  egress,
  cache,
}: Pick<Deps, 'config' | 'egress' | 'cache'>): Promise<Update> {
  const running = { version: VERSION, node: process.versions.node };
  const { UPDATE_FEED_URL: url } = config;
  if (url === undefined) return { running, newest: null, state: 'off' };
  const newest = await cache.remember<Release | null>(
    `update/${url}`,
    (release) => (release ? ANSWER_MS : FAILURE_MS),
    () => askFor(egress, url).catch(() => null),
  );
  if (!newest) return { running, newest: null, state: 'unreachable' };
  return { running, newest, state: gt(newest.version, VERSION) ? 'available' : 'current' };
}

/** @throws Error when there is no response, or it contains no version */
async function askFor(egress: Deps['egress'], url: string): Promise<Release> {
  const { status, body } = await egress.request({
    method: 'GET',
    url,
    headers: { accept: 'application/json', 'user-agent': `heron/${VERSION}` },
    timeoutMs: REQUEST_MS,
    maxResponseBytes: MAX_ANSWER_BYTES,
  });
  if (status !== 200) throw new Error(`the feed answers ${status}`);
  const { tag_name: tag, html_url: notes, published_at: at } = feed.parse(JSON.parse(body.toString('utf8')));
  const version = valid(tag);
  if (version === null) throw new Error('the feed names no version');
  return { version, url: notes ?? null, publishedAt: at ?? null };
}
