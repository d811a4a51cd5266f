import type { Config } from '../../../lib/config/index.ts';

type DropReason = 'endpoint_rate' | 'event_type_rate';

/** Dropped events of one endpoint, event type and reason. */
interface Drop {
  organizationId: string;
  endpointId: string;
  eventType: string;
  reason: DropReason;
  dropped: number;
  lastEventId: string;
}

/** Number of events admitted in the current minute, by workspace and by endpoint or event type. */
export interface Count {
  organization_id: string;
  subject: string;
  admitted: number;
}

/** Returns the start of the minute that contains `now`. Rates are counted per minute. */
export function minuteOf(now: Date): Date {
  return new Date(Math.floor(now.getTime() / 60_000) * 60_000);
}

/**
 * Admits events up to the rates of the minute. Each endpoint has a rate (WEBHOOK_ENDPOINT_PER_MINUTE). Each event type
 * of a workspace also has a rate (WEBHOOK_EVENT_TYPE_PER_MINUTE). An event is counted once, regardless of the number of
 * endpoints.
 */
export class Throttle {
  readonly #limits: { endpoint: number; eventType: number };
  readonly #before = new Map<string, number>();
  readonly #admitted = new Map<string, Count>();
  readonly #drops = new Map<string, Drop>();

  constructor(
    config: Pick<Config, 'WEBHOOK_ENDPOINT_PER_MINUTE' | 'WEBHOOK_EVENT_TYPE_PER_MINUTE'>,
    before: readonly Count[],
  ) {
    this.#limits = {
      endpoint: config.WEBHOOK_ENDPOINT_PER_MINUTE || Infinity,
      eventType: config.WEBHOOK_EVENT_TYPE_PER_MINUTE || Infinity,
    };
    for (const count of before) this.#before.set(keyOf(count.organization_id, count.subject), count.admitted);
  }

  /** Returns the endpoints that get the event. Counts the event as dropped for all other endpoints. */
  admit(event: { id: string; organizationId: string; type: string }, endpointIds: readonly string[]): string[] {
    if (endpointIds.length === 0) return [];
    if (!this.#take(event.organizationId, `type:${event.type}`, this.#limits.eventType)) {
      for (const endpointId of endpointIds) this.#drop(event, endpointId, 'event_type_rate');
      return [];
    }
    return endpointIds.filter((endpointId) => {
      const admitted = this.#take(event.organizationId, `endpoint:${endpointId}`, this.#limits.endpoint);
      if (!admitted) this.#drop(event, endpointId, 'endpoint_rate');
      return admitted;
    });
  }

  /** Counts of admitted events, which the caller adds to the stored counts. */
  get admitted(): Count[] {
    return [...this.#admitted.values()];
  }

  get drops(): Drop[] {
    return [...this.#drops.values()];
  }

  #take(organizationId: string, subject: string, limit: number): boolean {
    const key = keyOf(organizationId, subject);
    const count = this.#admitted.get(key) ?? { organization_id: organizationId, subject, admitted: 0 };
    if ((this.#before.get(key) ?? 0) + count.admitted >= limit) return false;
    count.admitted += 1;
    this.#admitted.set(key, count);
    return true;
  }

  #drop(event: { id: string; organizationId: string; type: string }, endpointId: string, reason: DropReason): void {
    const key = `${endpointId} ${event.type} ${reason}`;
    const drop = this.#drops.get(key) ?? {
      organizationId: event.organizationId,
      endpointId,
      eventType: event.type,
      reason,
      dropped: 0,
      lastEventId: event.id,
    };
    this.#drops.set(key, { ...drop, dropped: drop.dropped + 1, lastEventId: event.id });
  }
}

function keyOf(organizationId: string, subject: string): string {
  return `${organizationId} ${subject}`;
}
