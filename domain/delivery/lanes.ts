/** One endpoint's requests in this process. */
interface Lane {
  /** When each open request began, ms on the monotonic clock. */
  open: Set<{ since: number }>;
  waiting: { enter: () => void }[];
}

/** A place in an endpoint's lane; give it back when the request has ended. */
export interface Place {
  leave(): void;
}

/** Bounds how many requests one process has open to one endpoint, so that an endpoint that hangs is nobody else's trouble. */
export class Lanes {
  readonly #limit: number;
  readonly #slowMs: number;
  readonly #requestMs: number;
  readonly #lanes = new Map<string, Lane>();

  /**
   * @param limit requests open to one endpoint at most
   * @param slowMs a request open for longer than this (ms) shows that its endpoint is slow
   * @param requestMs what one request may take (ms)
   */
  constructor({ limit, slowMs, requestMs }: { limit: number; slowMs: number; requestMs: number }) {
    this.#limit = limit;
    this.#slowMs = slowMs;
    this.#requestMs = requestMs;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Whether a request to the endpoint has been open for longer than it should. */
  isSlow(endpointId: string): boolean {
    const oldest = this.#lanes.get(endpointId)?.open.values().next().value;
    return oldest !== undefined && performance.now() - oldest.since > this.#slowMs;
  }

  /**
   * Waits for a place; undefined when there is none. Who is `shared` with other endpoints does not wait for a slow one,
   * a `retry` waits for as long as a request may take, the `patient` for ever.
   */
  async enter(endpointId: string, who: 'shared' | 'retry' | 'patient'): Promise<Place | undefined> {
    if (who === 'shared' && this.isSlow(endpointId)) return undefined;
    const lane = this.#lanes.get(endpointId) ?? { open: new Set(), waiting: [] };
    this.#lanes.set(endpointId, lane);
    if (lane.open.size < this.#limit) return this.#open(endpointId, lane);
    return new Promise((resolve) => {
      const waiter = { enter: () => {} };
      const timer =
        who === 'patient'
          ? undefined
          : setTimeout(
              () => {
                lane.waiting.splice(lane.waiting.indexOf(waiter), 1);
                resolve(undefined);
              },
              who === 'shared' ? this.#slowMs : this.#requestMs,
            );
      waiter.enter = () => {
        clearTimeout(timer);
        resolve(this.#open(endpointId, lane));
      };
      lane.waiting.push(waiter);
    });
  }

  #open(endpointId: string, lane: Lane): Place {
    const request = { since: performance.now() };
    lane.open.add(request);
    return {
      leave: () => {
        if (!lane.open.delete(request)) return;
        const next = lane.waiting.shift();
        if (next) next.enter();
        else if (lane.open.size === 0) this.#lanes.delete(endpointId);
      },
    };
  }
}
