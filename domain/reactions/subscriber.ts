import type { Ctx } from '../kernel/context.ts';
import type { EventData } from '../kernel/event-payloads.ts';
import type { EventType } from '../kernel/events.ts';
import type { Tx } from '../kernel/transact.ts';

/** A committed event as a subscriber gets it; `type` tells which payload `data` is. */
export type ReactionEvent<T extends EventType = EventType> = {
  [K in T]: {
    id: string;
    type: K;
    organizationId: string;
    /** In commit order, over all organizations; with gaps. */
    position: number;
    createdAt: Date;
    data: EventData<K>;
  };
}[T];

interface Declaration<T extends EventType> {
  /** Lower case with underscores. It names the cursor in the database: a new name is a new subscriber. */
  name: string;
  /** The events it takes. Types that are added later are taken from then on. */
  types: readonly [T, ...T[]];
  /** Where a new subscriber begins: with what happens from now on, or with the oldest event that is kept. */
  startsFrom: 'now' | 'beginning';
  /**
   * What later events of an organization do once one of its events is parked. `pass` (the default): they are applied; a
   * replay applies the parked one after them. `wait`: they stay until it is replayed or discarded. Choose `wait` only
   * where an event means nothing without those before it: one bad event then stops the organization until somebody looks.
   */
  afterParking?: 'pass' | 'wait';
  /** Tries of an event before it is parked. */
  maxAttempts?: number;
}

interface OneByOne<T extends EventType> {
  /**
   * Does what follows from an event, in the transaction that moves the cursor: rows, `tx.emit`, `tx.intend`. It may be
   * called again for the same event when that transaction is undone, so it does nothing outside of it.
   * @param ctx for verbs of an area: they join the transaction
   */
  apply(tx: Tx, event: ReactionEvent<T>, ctx: Ctx): Promise<void>;
  applyBatch?: undefined;
}

interface Batched<T extends EventType> {
  apply?: undefined;
  /** As `apply`, for up to 500 events of one organization in their order, to be folded in few statements. */
  applyBatch(tx: Tx, events: readonly ReactionEvent<T>[], ctx: Ctx): Promise<void>;
}

/** Something that follows domain events with a cursor of its own in every organization. */
export type Subscriber<T extends EventType = EventType> = Declaration<T> & (OneByOne<T> | Batched<T>);

/** Declares a subscriber: the payloads its verb gets are those of the types it names. */
export function declareSubscriber<T extends EventType>(subscriber: Subscriber<T>): Subscriber {
  // The verb is only ever given events of its own types, which the list of all subscribers cannot express.
  return subscriber as unknown as Subscriber;
}

/** The types in the one order in which they are stored and compared. */
export function sortedTypes({ types }: Subscriber): string[] {
  return [...new Set<string>(types)].sort();
}
