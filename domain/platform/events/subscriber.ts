import type { Ctx } from '../kernel/context.ts';
import type { EventData } from '../kernel/event-payloads.ts';
import type { StoredEventType } from '../kernel/events.ts';
import type { Tx } from '../kernel/transact.ts';

/** A committed event as a subscriber gets it; `type` decides the type of `data`. */
export type ReactionEvent<T extends StoredEventType = StoredEventType> = {
  [K in T]: {
    id: string;
    type: K;
    organizationId: string;
    /** In commit order, over all organizations; with gaps. */
    position: number;
    createdAt: Date;
    /** Reactions in a row that led to it. */
    hops: number;
    data: EventData<K>;
  };
}[T];

interface Declaration<T extends StoredEventType> {
  /** Lower case with underscores. It is stored with the cursor: a new name is a new subscriber. */
  name: string;
  /** The events it takes. Types that are added later count from then on. */
  types: readonly [T, ...T[]];
  /** Where a new subscriber starts: at the present end, or at the oldest stored event. */
  startsFrom: 'now' | 'beginning';
  /**
   * How later events of an organization are treated once one of its events is parked. `pass` (the default): they are applied; a
   * replay applies the parked one after them. `wait`: they wait until it is replayed or discarded. Choose `wait` only
   * where an event has no meaning without those before it: one bad event then stops the organization until a person acts.
   */
  afterParking?: 'pass' | 'wait';
  /** Attempts for an event before it is parked. */
  maxAttempts?: number;
}

interface OneByOne<T extends StoredEventType> {
  /**
   * Applies an event, in the transaction that moves the cursor: rows, `tx.emit`, `tx.intend`. It may be
   * called again for the same event when that transaction is rolled back, so it has no effect outside of it.
   * @param ctx for verbs of an area: they join the transaction
   */
  apply(tx: Tx, event: ReactionEvent<T>, ctx: Ctx): Promise<void>;
  applyBatch?: undefined;
}

interface Batched<T extends StoredEventType> {
  apply?: undefined;
  /** Like `apply`, for up to 500 events of one organization in their order, for verbs that need few statements for many. */
  applyBatch(tx: Tx, events: readonly ReactionEvent<T>[], ctx: Ctx): Promise<void>;
}

/** A subscriber of domain events with a cursor per organization. */
export type Subscriber<T extends StoredEventType = StoredEventType> = Declaration<T> & (OneByOne<T> | Batched<T>);

/** Declares a subscriber; the payload types of its verb follow from the types it names. */
export function declareSubscriber<T extends StoredEventType>(subscriber: Subscriber<T>): Subscriber {
  // The verb only ever gets events of its own types, which the type of the list of all subscribers cannot express.
  return subscriber as unknown as Subscriber;
}

/** The types in the order in which they are stored and compared. */
export function sortedTypes({ types }: Subscriber): string[] {
  return [...new Set<string>(types)].sort();
}
