import { LRUCache } from 'lru-cache';
import { newId } from '../../../lib/ids.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { machineReason, type Hit } from './machine.ts';
import { addRepetitions, recordOpens, type Open, type RecordedOpen } from './opens.ts';

const MINUTE_MS = 60_000;
/** Maximum number of opens whose repetitions are recognized. */
const REMEMBERED = 20_000;
/** Maximum number of opens written at once. */
const BATCH = 500;
/** Time (ms) in which repetitions are collected before they are written. A crash loses at most these. */
const GATHER_MS = 200;

export interface OpenRecorder {
  /**
   * Records a fetched pixel. Resolves when an open is committed, and at once for a repetition: a fetch of the same email
   * by the same program within the same minute. Repetitions are counted, and neither stored nor emitted one by one.
   */
  record(sendId: string, hit: Hit): Promise<void>;
  /** Writes the collected repetitions. Call it after the last request. */
  close(): Promise<void>;
}

interface Waiting extends Open {
  done(recorded: RecordedOpen | undefined): void;
  failed(error: unknown): void;
}

/** Returns a recorder that writes the opens of a process in batches. While one is written, the next is collected. */
export function createOpenRecorder(deps: Deps): OpenRecorder {
  const recent = new LRUCache<string, Promise<RecordedOpen | undefined>>({ max: REMEMBERED });
  const repeated = new Map<RecordedOpen, number>();
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let counting: Promise<void> = Promise.resolve();

  const write = (sendId: string, hit: Hit): Promise<RecordedOpen | undefined> =>
    new Promise((done, failed) => {
      waiting.push({ sendId, hit, done, failed });
      writing ??= writeAll().finally(() => (writing = undefined));
    });
  const writeAll = async () => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      await writeBatch(batch).catch(() =>
        // One open that PostgreSQL refuses must not lose the others.
        Promise.all(batch.map((open) => writeBatch([open]).catch(open.failed))),
      );
    }
  };
  const writeBatch = async (batch: readonly Waiting[]) => {
    const recorded = await recordOpens(deps, batch, `opens/${newId()}`);
    for (const [index, { done }] of batch.entries()) done(recorded[index]);
  };
  const count = async () => {
    timer = undefined;
    const taken = [...repeated];
    repeated.clear();
    for (const organizationId of new Set(taken.map(([open]) => open.organizationId))) {
      const repetitions = taken.flatMap(([open, times]) =>
        open.organizationId === organizationId ? [{ id: open.id, times }] : [],
      );
      await addRepetitions(deps, organizationId, repetitions, `opens/${newId()}`).catch((error: unknown) => {
        deps.log.error({ err: error, organizationId, opens: repetitions.length }, 'repeated opens were not counted');
      });
    }
  };

  return {
    async record(sendId, hit) {
      const now = deps.clock.now();
      const key = JSON.stringify([
        sendId,
        Math.floor(now.getTime() / MINUTE_MS),
        hit.method,
        hit.userAgent,
        hit.purpose,
        hit.country,
      ]);
      // Without a remembered open nothing is awaited before this one is remembered.
      const remembered = recent.get(key);
      const before = remembered && (await remembered.catch(() => undefined));
      if (before && machineReason(hit, now, before.sentAt, deps.config.TRACKING_INSTANT_MS) === before.reason) {
        repeated.set(before, (repeated.get(before) ?? 0) + 1);
        timer ??= setTimeout(() => (counting = counting.then(count)), GATHER_MS);
        return;
      }
      const written = write(sendId, hit);
      recent.set(key, written);
      try {
        await written;
      } catch (error) {
        recent.delete(key);
        throw error;
      }
    },
    async close() {
      clearTimeout(timer);
      await writing;
      await (counting = counting.then(count));
    },
  };
}
