import { setTimeout as sleep } from 'node:timers/promises';
import {
  readStream,
  streamHead,
  type StreamEvent,
  type StreamPage,
  type StreamCursor,
} from '../../../domain/platform/realtime/read.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';

/** Pause (ms) before the next attempt after a failed read of the database. */
const RETRY_MS = 1_000;

/** Receiver of new events. */
export interface Follower {
  readonly types: ReadonlySet<string>;
  take(event: StreamEvent): void;
}

/** End of one organization's stream, read once for all followers. */
export interface Tail {
  /** Position up to which all events have been passed to the followers. */
  readonly head: StreamCursor;
  /** Settles when the head is known. */
  readonly ready: Promise<void>;
  readonly followers: Set<Follower>;
  /** Reads a page of the stream after an earlier position, for a follower that is behind. */
  read(after: number, types: readonly string[]): Promise<StreamPage>;
  /** Reads new events. Call it when there may be new events. */
  wake(): void;
  close(): void;
}

/**
 * Starts to follow an organization's stream at its current end.
 * @param limit limits the concurrent queries of the process
 */
export function createTail(ctx: Ctx, limit: <T>(work: () => Promise<T>) => Promise<T>): Tail {
  const followers = new Set<Follower>();
  let head: StreamCursor = { position: 0, eventId: null, at: new Date(0) };
  let closed = false;
  let running = false;
  let again = false;

  const ready = limit(() => streamHead(ctx)).then((cursor) => {
    head = cursor;
  });
  ready.catch(() => {});

  async function readOn(): Promise<void> {
    await ready;
    for (let full = true; full && !closed;) {
      const wanted = new Set<string>();
      for (const { types } of followers) for (const type of types) wanted.add(type);
      const page = await limit(() => readStream(ctx, head.position, [...wanted]));
      full = page.full;
      for (const event of page.events) {
        head = { position: event.position, eventId: event.id, at: event.created_at };
        for (const follower of followers) follower.take(event);
      }
    }
  }

  async function run(): Promise<void> {
    running = true;
    while (again && !closed) {
      again = false;
      await readOn().catch(async (error: unknown) => {
        ctx.log.warn({ err: error, organizationId: ctx.actor.organizationId }, 'new events could not be read');
        again = true;
        await sleep(RETRY_MS, undefined, { ref: false });
      });
    }
    running = false;
  }

  return {
    get head() {
      return head;
    },
    ready,
    followers,
    read: (after, types) => limit(() => readStream(ctx, after, types)),
    wake() {
      again = true;
      if (!running && !closed) void run();
    },
    close() {
      closed = true;
    },
  };
}
