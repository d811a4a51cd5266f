import { announceClicks, untilNextAnnouncement } from '../../domain/campaigns/tracking/announce-clicks.ts';
import { readInstallationId } from '../../domain/platform/installation-id.ts';
import type { Deps } from '../../domain/platform/kernel/context.ts';
import { newId } from '../../lib/ids.ts';
import { listenHttp, type Listening } from '../../lib/listen.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { openWorkTimeoutMs } from '../../lib/shutdown.ts';
import { createWakeable } from '../../lib/wakeable.ts';
import { createTrackingApp } from '../campaigns/tracking/app.ts';

/**
 * Interval (ms) of the search for unannounced clicks, such as those of a process that died. A click of this process
 * ends the pause.
 */
const SWEEP_MS = 10_000;
/** Minimum pause (ms) between two announcements, so that clicks close together are announced together. */
const GATHER_MS = 1_000;

/** Starts the tracking service (3000 by default). Closing it finishes open requests and announcements. */
export async function startTracking(deps: Deps, metrics: Metrics, options: { port?: number } = {}): Promise<Listening> {
  const clicks = createWakeable();
  const listening = await listenHttp(
    createTrackingApp(deps, metrics, await readInstallationId(deps.db), () => clicks.wake()).callback(),
    deps.config.LISTEN_HOST,
    options.port ?? deps.config.TRACKING_PORT,
  );
  const stopAnnouncing = startAnnouncing(deps, clicks);
  return {
    ...listening,
    async close() {
      await Promise.all([listening.close(openWorkTimeoutMs(deps.config)), stopAnnouncing()]);
    },
  };
}

/** Announces clicks as they become due. Returns a function that stops it after the current announcement. */
function startAnnouncing(deps: Deps, clicks: ReturnType<typeof createWakeable>): () => Promise<void> {
  const stopping = createWakeable();
  let running = true;
  const loop = (async () => {
    while (running) {
      clicks.clear();
      let pauseMs = SWEEP_MS;
      try {
        await announceClicks(deps, `announce/${newId()}`);
        pauseMs = Math.min((await untilNextAnnouncement(deps)) ?? SWEEP_MS, SWEEP_MS);
      } catch (error) {
        deps.log.error({ err: error }, 'clicks were not announced');
      }
      if (running) await stopping.pause(GATHER_MS);
      if (running && pauseMs > GATHER_MS) await clicks.pause(pauseMs - GATHER_MS);
    }
  })();
  return async () => {
    running = false;
    stopping.wake();
    clicks.wake();
    await loop;
  };
}
