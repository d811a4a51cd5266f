import { LRUCache } from 'lru-cache';
import { newId } from '../../../lib/ids.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { addRepetitions, type RecordedHit } from './repetitions.ts';
import { machineReason, type Hit } from './machine.ts';

const MINUTE_MS = 60_000;
/** Maximum number of recent hits that a recorder remembers, to recognize repetitions. */
const REMEMBERED = 20_000;
/** Maximum number of hits written in one batch. */
const BATCH = 500;
/**
 * Time (ms) for which repetitions are collected before they are written. A crash loses only the repetitions of this
 * time.
 */
const GATHER_MS = 200;

/** A request for a pixel or a link (hit), with the email or link that it belongs to. */
export interface HitOn<Subject> {
  subject: Subject;
  hit: Hit;
}

export interface HitRecorder<Subject> {
  /**
   * Records a hit. Resolves when the hit is committed. For a repetition, which is a hit of the same program on the same
   * subject in the same minute, it resolves at once. Repetitions are only counted, and not stored or emitted one by
   * one.
   */
  record(subject: Subject, hit: Hit): Promise<void>;
  /** Writes the collected repetitions. Call it after the last request. */
  close(): Promise<void>;
}

interface Kind<Subject> {
  /** Name of this kind of hit in logs and request ids. */
  name: string;
  idOf(subject: Subject): string;
  /** Writes hits and returns the recorded hits in the same order, with undefined for emails that no longer exist. */
  write(hits: readonly HitOn<Subject>[], requestId: string): Promise<(RecordedHit | undefined)[]>;
  /** Returns true if a repetition of this hit is only counted in the hit's row and not stored as a row. */
  mayCount(recorded: RecordedHit): boolean;
}

interface Waiting<Subject> extends HitOn<Subject> {
  done(recorded: RecordedHit | undefined): void;
  failed(error: unknown): void;
}

/**
 * Returns a recorder that writes the hits of a process in batches. While a batch is written, the next one is collected.
 */
export function createHitRecorder<Subject>(deps: Deps, kind: Kind<Subject>): HitRecorder<Subject> {
  const recent = new LRUCache<string, Promise<RecordedHit | undefined>>({ max: REMEMBERED });
  const repeated = new Map<RecordedHit, number>();
  let waiting: Waiting<Subject>[] = [];
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let counting: Promise<void> = Promise.resolve();

  const requestId = () => `${kind.name}/${newId()}`;
  const write = (subject: Subject, hit: Hit): Promise<RecordedHit | undefined> =>
    new Promise((done, failed) => {
      waiting.push({ subject, hit, done, failed });
      writing ??= writeAll().finally(() => (writing = undefined));
    });
  const writeAll = async () => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      await writeBatch(batch).catch(() =>
        // Writes the hits one by one, so that a hit that PostgreSQL refuses does not lose the others.
        Promise.all(batch.map((each) => writeBatch([each]).catch(each.failed))),
      );
    }
  };
  const writeBatch = async (batch: readonly Waiting<Subject>[]) => {
    const recorded = await kind.write(batch, requestId());
    for (const [index, { done }] of batch.entries()) done(recorded[index]);
  };
  const count = async () => {
    timer = undefined;
    const taken = [...repeated];
    repeated.clear();
    for (const organizationId of new Set(taken.map(([first]) => first.organizationId))) {
      const repetitions = taken.flatMap(([first, times]) =>
        first.organizationId === organizationId ? [{ id: first.id, times }] : [],
      );
      await addRepetitions(deps, organizationId, repetitions, requestId()).catch((error: unknown) => {
        const about = { err: error, organizationId, hits: repetitions.length };
        deps.log.error(about, `repeated ${kind.name} were not counted`);
      });
    }
  };

  return {
    async record(subject, hit) {
      const now = deps.clock.now();
      const minute = Math.floor(now.getTime() / MINUTE_MS);
      const key = JSON.stringify([kind.idOf(subject), minute, hit.method, hit.userAgent, hit.purpose, hit.country]);
      // For a new key, nothing is awaited before `recent.set`, so that concurrent repetitions find this hit.
      const remembered = recent.get(key);
      const before = remembered && (await remembered.catch(() => undefined));
      const reason = before && machineReason(hit, now, before.sentAt, deps.config.TRACKING_INSTANT_MS);
      if (before && before.reason === reason && kind.mayCount(before)) {
        repeated.set(before, (repeated.get(before) ?? 0) + 1);
        timer ??= setTimeout(() => {
          counting = counting.then(count);
        }, GATHER_MS);
        return;
      }
      const written = write(subject, hit);
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
