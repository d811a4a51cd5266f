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
    /** Number of successive reactions that led to the event. */
    hops: number;
    data: EventData<K>;
  };
}[T];

interface Declaration<T extends StoredEventType> {
  /** Lower case with underscores. Stored with the cursor, so a new name is a new subscriber. */
  name: string;
  /** Event types of the subscriber. Events of a type that is added later count from that time on. */
  types: readonly [T, ...T[]];
  /** Starting position of a new subscriber: the present end, or the oldest stored event. */
  startsFrom: 'now' | 'beginning';
  /**
   * Treatment of an organization's later events after one was parked. `pass` (default): later events are applied, and a
   * replay applies the parked event after them. `wait`: later events wait until the parked event is replayed or
   * discarded. Choose `wait` only if an event is meaningless without the earlier ones, because one failing event then
   * stops the organization until a person acts.
   */
  afterParking?: 'pass' | 'wait';
  /**
   * Events that matter only where something wants them, such as an enabled automation. Elsewhere the subscriber passes
   * over them without a transaction. What is enabled later gets no earlier event.
   */
  optional?: {
    types: readonly T[];
    /** SQL query with a row in organizations that want the events. `n.organization_id` is the organization. */
    wanted: string;
  };
  /** Maximum number of attempts before an event is parked. */
  maxAttempts?: number;
}

interface OneByOne<T extends StoredEventType> {
  /**
   * Applies an event in the transaction that advances the cursor: rows, `tx.emit`, `tx.intend`. Must have no effects
   * outside the transaction, because after a rollback it is called again for the same event.
   * @param ctx for domain functions, which then join the transaction
   */
  apply(tx: Tx, event: ReactionEvent<T>, ctx: Ctx): Promise<void>;
  applyBatch?: undefined;
}

interface Batched<T extends StoredEventType> {
  apply?: undefined;
  /**
   * Variant of `apply` for up to 500 events of one organization in order. For subscribers that need few statements for
   * many events.
   */
  applyBatch(tx: Tx, events: readonly ReactionEvent<T>[], ctx: Ctx): Promise<void>;
}

/** A subscriber of domain events, with a cursor per organization. */
export type Subscriber<T extends StoredEventType = StoredEventType> = Declaration<T> & (OneByOne<T> | Batched<T>);

/** Declares a subscriber. The payload types follow from the event types. */
export function declareSubscriber<T extends StoredEventType>(subscriber: Subscriber<T>): Subscriber {
  // The subscriber only receives events of its own types. The type of the list of all subscribers cannot express this.
  return subscriber as unknown as Subscriber;
}

/** Returns the event types in the order in which they are stored and compared. */
export function sortedTypes({ types }: Subscriber): string[] {
  return [...new Set<string>(types)].sort();
}
