import type { Ctx } from '../kernel/context.ts';
import type { EventData } from '../kernel/event-payloads.ts';
import type { StoredEventType } from '../kernel/events.ts';
import type { Tx } from '../kernel/transact.ts';

/** A committed event as passed to a subscriber. `type` determines the type of `data`. */
export type ReactionEvent<T extends StoredEventType = StoredEventType> = {
  [K in T]: {
    id: string;
    type: K;
    organizationId: string;
    /** Position in commit order over all organizations, with gaps. */
    position: number;
    createdAt: Date;
    /** Number of successive subscriber reactions that led to the event; 0 if no subscriber emitted it. */
    hops: number;
    data: EventData<K>;
  };
}[T];

interface Declaration<T extends StoredEventType> {
  /** Name in lower case with underscores. It identifies the stored cursor, so a changed name is a new subscriber. */
  name: string;
  /** Event types of the subscriber. For a type that is added later, only events from that time on are passed. */
  types: readonly [T, ...T[]];
  /** Starting position of a new subscriber: the current end of the stream, or the oldest stored event. */
  startsFrom: 'now' | 'beginning';
  /**
   * Treatment of an organization's later events after one was parked. `pass` (default): later events are applied, and a
   * replay applies the parked event after them. `wait`: later events wait until the parked event is replayed or
   * discarded. Choose `wait` only if an event cannot be applied without the earlier ones, because one failing event
   * then stops the stream until a person acts.
   */
  afterParking?: 'pass' | 'wait';
  /**
   * Event types that are applied only in organizations that want them, for example because of an enabled automation. In
   * other organizations the subscriber skips such events without a transaction, and they are not applied later.
   */
  optional?: {
    types: readonly T[];
    /** SQL query that returns a row if an organization wants the events. `n.organization_id` is the organization. */
    wanted: string;
  };
  /** Maximum number of attempts before an event is parked. */
  maxAttempts?: number;
}

interface OneByOne<T extends StoredEventType> {
  /**
   * Applies an event in the transaction that advances the cursor. Must have only effects of this transaction (rows,
   * `tx.emit`, `tx.intend`), because after a rollback it is called again for the same event.
   * @param ctx context for domain functions, which then use this transaction
   */
  apply(tx: Tx, event: ReactionEvent<T>, ctx: Ctx): Promise<void>;
  applyBatch?: undefined;
}

interface Batched<T extends StoredEventType> {
  apply?: undefined;
  /**
   * Variant of `apply` that gets up to 500 events of one organization in order. It suits subscribers that can apply
   * many events with few statements.
   */
  applyBatch(tx: Tx, events: readonly ReactionEvent<T>[], ctx: Ctx): Promise<void>;
}

/** A subscriber of domain events, with a cursor per organization. */
export type Subscriber<T extends StoredEventType = StoredEventType> = Declaration<T> & (OneByOne<T> | Batched<T>);

/** Declares a subscriber. The payload types follow from the event types. */
export function declareSubscriber<T extends StoredEventType>(subscriber: Subscriber<T>): Subscriber {
  // The cast is safe, because a subscriber only receives events of its own types, which the common type cannot express.
  return subscriber as unknown as Subscriber;
}

/** Returns the subscriber's event types, sorted, because they are stored and compared in this order. */
export function sortedTypes({ types }: Subscriber): string[] {
  return [...new Set<string>(types)].sort();
}
