/** Open and waiting requests of this process to one endpoint. */
interface Lane {
  /** Start of each open request, in ms of the monotonic clock. */
  open: Set<{ since: number }>;
  waiting: { enter: () => void }[];
}

/** Permission for one request to an endpoint. Call `release` when the request has ended. */
interface Permit {
  release(): void;
}

/** Limits the open requests of one process per endpoint, so that an endpoint that hangs delays no other endpoint. */
export class Lanes {
  readonly #limit: number;
  readonly #slowMs: number;
  readonly #requestMs: number;
  readonly #lanes = new Map<string, Lane>();

  /**
   * @param limit maximum open requests per endpoint
   * @param slowMs age (ms) of an open request from which its endpoint is treated as slow
   * @param requestMs maximum duration (ms) of one request
   */
  constructor({ limit, slowMs, requestMs }: { limit: number; slowMs: number; requestMs: number }) {
    this.#limit = limit;
    this.#slowMs = slowMs;
    this.#requestMs = requestMs;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Age (ms) of an open request from which its endpoint is slow. */
  get slowMs(): number {
    return this.#slowMs;
  }

  /** Returns true if the oldest open request to the endpoint is older than `slowMs`. */
  isSlow(endpointId: string): boolean {
    const oldest = this.#lanes.get(endpointId)?.open.values().next().value;
    return oldest !== undefined && performance.now() - oldest.since > this.#slowMs;
  }

  /**
   * Waits for permission to open one more request to the endpoint; undefined when no permission was available in time.
   * @param who `shared`: fails fast if the endpoint is slow. `retry`: waits up to one request timeout. `patient`: waits
   * indefinitely
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
