import type { WebSocket } from 'ws';
import type { StreamEvent, StreamCursor } from '../../../domain/platform/realtime/read.ts';
import type { EventType } from '../../../domain/platform/kernel/events.ts';
import { eventFrame, type ServerMessage } from './protocol.ts';
import type { Follower, Tail } from './tail.ts';

/**
 * Unsent bytes above which a socket receives no more events until they fall to {@link LOW_BYTES}. The socket then
 * continues from PostgreSQL.
 */
const HIGH_BYTES = 1024 * 1024;
const LOW_BYTES = 64 * 1024;

/** Thrown when the next events for a slow reader have been deleted. */
export class StreamExpired extends Error {}

/** Encoded frames. They are the same for all sockets, so each is created once. */
const frames = new WeakMap<StreamEvent, Buffer>();

interface SubscriberParts {
  socket: WebSocket;
  tail: Tail;
  organizationId: string;
  /** Mailboxes the credential is restricted to; null means all. */
  mailboxes: readonly string[] | null;
  onSent: () => void;
  /** Returns the time before which events may have been deleted, so that reading cannot resume there. */
  streamBegin: () => Date;
  now: () => Date;
  /** Called when the stream cannot be read further. */
  onFailure: (error: unknown) => void;
}

/**
 * Reads an organization's stream for one socket. A live subscriber gets new events from the tail. A subscriber that is
 * behind reads pages from its own cursor until it has reached the tail. Each event is sent once, in order: events at or
 * before the cursor are skipped. The subscriber becomes live only when the tail has no event after its cursor.
 */
export class Subscriber implements Follower {
  types: ReadonlySet<EventType> = new Set();
  /** Position up to which all events have been sent or were not subscribed to. */
  cursor: StreamCursor = { position: 0, eventId: null, at: new Date(0) };
  readonly #parts: SubscriberParts;
  #state: 'idle' | 'behind' | 'live' | 'closed' = 'idle';
  /** Counts subscriptions. A page read for an earlier subscription is dropped. */
  #subscription = 0;
  #reading = false;
  #drained: (() => void) | undefined;
  #progressAt = performance.now();

  constructor(parts: SubscriberParts) {
    this.#parts = parts;
    parts.tail.followers.add(this);
  }

  /** Tail that this subscriber follows. */
  get tail(): Tail {
    return this.#parts.tail;
  }

  /** Starts or restarts after a cursor in the stream. */
  follow(types: ReadonlySet<EventType>, from: StreamCursor): void {
    this.#subscription += 1;
    this.types = types;
    this.cursor = from;
    this.#fallBehind();
  }

  /** Current cursor; undefined before the first subscription. */
  get here(): StreamCursor | undefined {
    if (this.#state === 'live') return { ...this.cursor, at: this.#parts.now() };
    return this.#state === 'behind' ? this.cursor : undefined;
  }

  /**
   * Returns the time (ms) for which the client has read nothing although the socket's buffer is full; 0 while it reads.
   */
  stalledFor(): number {
    return this.#parts.socket.bufferedAmount > LOW_BYTES ? performance.now() - this.#progressAt : 0;
  }

  take(event: StreamEvent): void {
    if (this.#state !== 'live' || event.position <= this.cursor.position) return;
    if (this.#parts.socket.bufferedAmount <= HIGH_BYTES && this.#pass(event)) return;
    this.cursor = { ...this.cursor, at: event.created_at };
    this.#fallBehind();
  }

  say(message: ServerMessage): void {
    this.#write(JSON.stringify(message));
  }

  close(): void {
    this.#state = 'closed';
    this.#parts.tail.followers.delete(this);
    this.#drained?.();
  }

  /**
   * Sends the event if it is subscribed to, and advances the cursor. Returns false if the tail did not load the
   * payload, because no socket was subscribed to this type when the event was read.
   */
  #pass(event: StreamEvent): boolean {
    if (this.types.has(event.type)) {
      if (event.data === null) return false;
      if (this.#mayRead(event)) {
        let frame = frames.get(event);
        if (!frame) frames.set(event, (frame = eventFrame(this.#parts.organizationId, event)));
        this.#write(frame);
        this.#parts.onSent();
      }
    }
    this.cursor = { position: event.position, eventId: event.id, at: event.created_at };
    return true;
  }

  /** A key restricted to mailboxes gets no events of other mailboxes or of a removed one. */
  #mayRead({ mailbox_id: mailboxId, of_mailbox: ofMailbox }: StreamEvent): boolean {
    const { mailboxes } = this.#parts;
    return mailboxes === null || (mailboxId === null ? !ofMailbox : mailboxes.includes(mailboxId));
  }

  #write(frame: Buffer | string): void {
    const { socket } = this.#parts;
    if (socket.bufferedAmount === 0) this.#progressAt = performance.now();
    socket.send(frame, { binary: false }, () => {
      this.#progressAt = performance.now();
      if (socket.bufferedAmount <= LOW_BYTES) this.#drained?.();
    });
  }

  #fallBehind(): void {
    this.#state = 'behind';
    if (this.#reading) return;
    this.#reading = true;
    this.#catchUp().catch(this.#parts.onFailure);
  }

  async #catchUp(): Promise<void> {
    try {
      while (this.#state === 'behind') {
        if (this.#parts.socket.bufferedAmount > LOW_BYTES) await this.#untilDrained();
        else await this.#readOn();
      }
    } finally {
      this.#reading = false;
    }
  }

  async #untilDrained(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
    this.#drained = undefined;
  }

  async #readOn(): Promise<void> {
    const { socket, tail } = this.#parts;
    const subscription = this.#subscription;
    const { head } = tail;
    const began = this.#parts.now();
    if (this.cursor.at < this.#parts.streamBegin()) throw new StreamExpired();
    const page = await tail.read(this.cursor.position, [...this.types]);
    if (subscription !== this.#subscription || this.#state !== 'behind') return;
    for (const event of page.events) {
      if (socket.bufferedAmount > HIGH_BYTES || !this.#pass(event)) return;
    }
    if (page.full) return;
    // The read began after the tail had reached `head`, so it included all events up to `head`.
    this.cursor = { ...(head.position > this.cursor.position ? head : this.cursor), at: began };
    if (this.cursor.position >= tail.head.position) this.#state = 'live';
  }
}
