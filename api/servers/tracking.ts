import { announceClicks, untilNextAnnouncement } from '../../domain/campaigns/tracking/announce-clicks.ts';
import { createClickRecorder } from '../../domain/campaigns/tracking/clicks.ts';
import { createOpenRecorder } from '../../domain/campaigns/tracking/opens.ts';
import { readInstallationId } from '../../domain/platform/installation-id.ts';
import type { Deps } from '../../domain/platform/kernel/context.ts';
import { newId } from '../../lib/ids.ts';
import { listenHttp, type Listening } from '../../lib/listen.ts';
import { startLoop, type Loop } from '../../lib/loop.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { openWorkTimeoutMs } from '../../lib/shutdown.ts';
import { createTrackingApp } from '../campaigns/tracking/app.ts';

/**
 * Interval (ms) of the search for clicks without an event, such as clicks recorded by a process that died. A click
 * recorded by this process starts the search earlier.
 */
const SWEEP_MS = 10_000;
/** Minimum pause (ms) between two writes of click events, so that clicks in quick succession are handled together. */
const GATHER_MS = 1_000;

/**
 * Starts the tracking service (3000 by default). When closed, it first finishes open requests and writes of click
 * events.
 */
export async function startTracking(deps: Deps, metrics: Metrics, options: { port?: number } = {}): Promise<Listening> {
  const instance = await readInstallationId(deps.db);
  const announcing = startAnnouncing(deps);
  const [opens, clicks] = [createOpenRecorder(deps), createClickRecorder(deps)];
  const listening = await listenHttp(
    createTrackingApp(deps, metrics, { instance, opens, clicks, onClick: () => announcing.wake() }).callback(),
    deps.config.LISTEN_HOST,
    options.port ?? deps.config.TRACKING_PORT,
  ).catch(async (error: unknown) => {
    await announcing.stop();
    throw error;
  });
  return {
    ...listening,
    async close() {
      await Promise.all([listening.close(openWorkTimeoutMs(deps.config)), announcing.stop()]);
      await Promise.all([opens.close(), clicks.close()]);
    },
  };
}

/** Starts a loop that writes the events of recorded clicks when they are due. */
function startAnnouncing(deps: Deps): Loop {
  return startLoop({
    name: 'clicks',
    async iterate() {
      await announceClicks(deps, `announce/${newId()}`);
      const nextMs = Math.min((await untilNextAnnouncement(deps)) ?? SWEEP_MS, SWEEP_MS);
      return { leastMs: GATHER_MS, mostMs: Math.max(0, nextMs - GATHER_MS) };
    },
    failedMs: SWEEP_MS,
    onError: (error) => deps.log.error({ err: error }, 'clicks were not announced'),
  });
}
