import type { Deps } from '../../domain/kernel/context.ts';
import { announceClicks } from '../../domain/tracking/announce-clicks.ts';
import { every } from '../../lib/every.ts';
import { newId } from '../../lib/ids.ts';
import { listenHttp, type Listening } from '../../lib/listen.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { openWorkMayTakeMs } from '../../lib/shutdown.ts';
import { createTrackingApp } from '../tracking/app.ts';

/** How often (ms) clicks that were judged are announced as events. */
const ANNOUNCE_EVERY_MS = 1_000;

/** Starts the tracking service (3000 by default). Closing it finishes open requests and announcements. */
export async function startTracking(deps: Deps, metrics: Metrics, options: { port?: number } = {}): Promise<Listening> {
  const listening = await listenHttp(
    createTrackingApp(deps, metrics).callback(),
    deps.config.LISTEN_HOST,
    options.port ?? deps.config.TRACKING_PORT,
  );
  const announcing = every(
    ANNOUNCE_EVERY_MS,
    async () => void (await announceClicks(deps, `announce/${newId()}`)),
    (error) => deps.log.error({ err: error }, 'clicks were not announced'),
  );
  return {
    ...listening,
    async close() {
      await Promise.all([listening.close(openWorkMayTakeMs(deps.config)), announcing.stop()]);
    },
  };
}
