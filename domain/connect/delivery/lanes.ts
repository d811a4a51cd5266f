/** One endpoint's requests in this process. */
interface Lane {
  /** When each open request began, ms on the monotonic clock. */
  open: Set<{ since: number }>;
  waiting: { enter: () => void }[];
}

/** Permission for one request to an endpoint; call `release` when the request has ended. */
interface Permit {
  release(): void;
}

/** Limits the requests that one process has open to one endpoint, so that an endpoint that hangs delays no other. */
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
   * Waits until one more request to the endpoint may be opened; undefined when that takes too long.
   * @param who `shared`: fails fast if the endpoint is slow. `retry`: waits up to one request timeout. `patient`: waits
   *   indefinitely
   */
  async acquire(endpointId: string, who: 'shared' | 'retry' | 'patient'): Promise<Permit | undefined> {
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

  #open(endpointId: string, lane: Lane): Permit {
    const request = { since: performance.now() };
    lane.open.add(request);
    return {
      release: () => {
        if (!lane.open.delete(request)) return;
        const next = lane.waiting.shift();
        if (next) next.enter();
        else if (lane.open.size === 0) this.#lanes.delete(endpointId);
      },
    };
  }
}
