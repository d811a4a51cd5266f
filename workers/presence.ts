import type { Deps } from '../domain/platform/kernel/context.ts';
import { lastSearches } from '../domain/operations/system/reconcile.ts';
import { machineAheadMs } from '../lib/clock.ts';
import { every } from '../lib/every.ts';
import { newId } from '../lib/ids.ts';
import type { Metrics } from '../lib/metrics.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { codecKeyIds } from '../temporal/codec.ts';
import { PRESENCE_MS, recordPresence, removePresence } from '../temporal/presence.ts';

/** Number of heartbeats between two updates of gauges that are counted in PostgreSQL. */
const PULSES_PER_READING = 8;

/**
 * Records every two seconds that this worker process is alive, for readiness checks and for callers that wait for a
 * worker. Also updates the gauge of missing workflows.
 */
export async function startPresenceRecorder(deps: Deps, metrics: Metrics): Promise<{ stop(): Promise<void> }> {
  const { db, config, log, blobs, clock } = deps;
  const id = newId();
  let blobPlace: string | null = null;
  let pulses = 0;
  const beat = async () => {
    // The search is repeated until the id is known, because a folder that is not mounted yet has no marker file.
    blobPlace ??= await findPlace(blobs.current);
    const clockAheadMs = Math.round(machineAheadMs(clock));
    metrics.clockAhead.set(clockAheadMs / 1_000);
    const codecKeys = codecKeyIds(config);
    await recordPresence(db, id, { roles: config.WORKER_ROLES, blobPlace, codecKeys, clockAheadMs });
    if (pulses++ % PULSES_PER_READING === 0)
      for (const { family, missing } of await lastSearches(db)) metrics.runsMissing.set({ family }, missing);
  };
  const warn = (error: unknown) => log.warn({ err: error }, 'this worker could not say that it is alive');
  await beat().catch(warn);
  const beats = every('presence', PRESENCE_MS, beat, warn);
  return {
    async stop() {
      await beats.stop();
      await removePresence(db, id).catch(() => undefined);
    },
  };
}

/** Returns the id of the file store, or null if there is none or it does not answer before the next beat. */
async function findPlace(store: Deps['blobs']['current']): Promise<string | null> {
  if (!store) return null;
  return withTimeout<string | null>(store.place(true), PRESENCE_MS, () => null).catch(() => null);
}
