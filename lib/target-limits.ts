interface TargetLimitsOptions {
  /** Pieces of work open at once, over all targets. */
  total: number;
  /** Pieces of work open at once with one target. */
  perTarget: number;
  /** Pieces of work open at once for one tenant, over all targets; a quarter of `total` (one at least) when not given. */
  perTenant?: number;
  /** Targets serve several tenants (mail hosts): one tenant alone leaves a quarter of a target's permits free. */
  shared?: boolean;
  /** The longest wait (ms) that is proposed to work without a permit. */
  maxRetryMs?: number;
  /**
   * How long (ms) a target that hung gets no work; it doubles each time it hangs again, up to `maxRestMs`. 0 when
   * not given.
   */
  restMs?: number;
  maxRestMs?: number;
  /** Milliseconds on a monotonic clock. */
  now?: () => number;
}

/** Permission for one piece of work. Its holder releases it once. */
export interface Permit {
  /**
   * `hung`: the target could not be reached or did not answer in time. A refusal counts as `answered`. `unused`: the
   * target was not called. Only the first call counts.
   */
  release(result: 'answered' | 'hung' | 'unused'): void;
}

interface Waiter {
  tenant: string;
  admit(permit: Permit): void;
}

interface Target {
  /** Permits in use, by tenant. */
  open: Map<string, number>;
  openCount: number;
  /** Permits it may have now: grows with every answer, halves when it hangs. */
  window: number;
  /** Its last result; `unknown` before the first. */
  state: 'unknown' | 'answered' | 'hung';
  /** Times it hung in a row, and until when (on the clock of `now`) it gets no work. */
  hangs: number;
  restUntil: number;
  /** How long (ms) one piece of work takes, a moving mean. */
  meanMs: number;
  /** When a permit was last released, or taken with none in use, on the clock of `now`. */
  movedAt: number;
  /** Calls of `acquireSoon` that wait now, in their order. */
  waiting: Waiter[];
  /** By tenant: when the last work that was sent away is to ask again, on the clock of `now`. */
  lines: Map<string, number>;
}

/** Permits that a target has before its first answer. */
const FIRST_WINDOW = 4;
const FIRST_MEAN_MS = 50;
const MEAN_WEIGHT = 0.2;
const MIN_RETRY_MS = 250;
/** How long (ms) `wait` waits in line before it asks again. */
const WAIT_TURN_MS = 1_000;
const MAX_RETRY_MS = 5 * 60_000;
/** Targets that are remembered at most; one without open work is forgotten when there are more. */
const MAX_TARGETS = 10_000;

/**
 * Bounds the work that a process has open with outside servers, so that one that hangs delays only the work meant for
 * it. Work that gets no permit is sent away with the time after which to ask again, and holds nothing meanwhile.
 *
 * - One target has at most `perTarget` permits. It starts with few, gets one more with each answer, and loses half when
 *   it hangs, down to one.
 * - Targets that have not answered yet, or hung the last time, together use at most half of all permits. However many
 *   servers hang, the other half is left to those that answer.
 * - Tenants share a target: no tenant has more than its share while others use it or wait for it.
 */
export class TargetLimits {
  readonly #total: number;
  readonly #perTarget: number;
  readonly #perTenant: number;
  readonly #shared: boolean;
  readonly #maxRetryMs: number;
  readonly #restMs: number;
  readonly #maxRestMs: number;
  readonly #now: () => number;
  readonly #targets = new Map<string, Target>();
  readonly #tenants = new Map<string, number>();
  #open = 0;
  #unprovenOpen = 0;

  constructor(options: TargetLimitsOptions) {
    this.#total = options.total;
    this.#perTarget = options.perTarget;
    this.#perTenant = options.perTenant ?? Math.max(1, Math.floor(options.total / 4));
    this.#shared = options.shared ?? false;
    this.#maxRetryMs = options.maxRetryMs ?? MAX_RETRY_MS;
    this.#restMs = options.restMs ?? 0;
    this.#maxRestMs = options.maxRestMs ?? MAX_RETRY_MS;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Takes a permit for a target and a tenant, or returns in how many ms to ask again. */
  acquire(name: string, tenant: string): Permit | { retryInMs: number } {
    const target = this.#target(name);
    return this.#mayAcquire(target, tenant)
      ? this.#admit(target, tenant)
      : { retryInMs: this.#book(target, tenant, this.#share(target, tenant)) };
  }

  /** Takes a permit for a target and a tenant if there is one at this moment. */
  acquireNow(name: string, tenant: string): Permit | undefined {
    const target = this.#target(name);
    return this.#mayAcquire(target, tenant) ? this.#admit(target, tenant) : undefined;
  }

  /**
   * Like {@link acquire}, but waits up to `patienceMs` where a permit is likely by then: the target answers, or is not known
   * yet, and the calls before this one will be done. Spares work that comes in bursts a retry.
   */
  async acquireSoon(name: string, tenant: string, patienceMs: number): Promise<Permit | { retryInMs: number }> {
    const target = this.#target(name);
    if (this.#mayAcquire(target, tenant)) return this.#admit(target, tenant);
    const share = this.#share(target, tenant);
    const ahead = 1 + target.waiting.filter((waiter) => waiter.tenant === tenant).length;
    if (target.state === 'hung' || (ahead * this.#workMs(target)) / share > patienceMs)
      return { retryInMs: this.#book(target, tenant, share) };
    return new Promise((resolve) => {
      const waiter: Waiter = {
        tenant,
        admit: (permit) => {
          clearTimeout(timer);
          resolve(permit);
        },
      };
      const timer = setTimeout(() => {
        target.waiting.splice(target.waiting.indexOf(waiter), 1);
        resolve({ retryInMs: this.#book(target, tenant, this.#share(target, tenant)) });
      }, patienceMs);
      target.waiting.push(waiter);
    });
  }

  /** Waits for a permit, without holding anything meanwhile; undefined once `signal` fires. */
  async wait(name: string, tenant: string, signal: AbortSignal): Promise<Permit | undefined> {
    while (!signal.aborted) {
      const permit = await this.acquireSoon(name, tenant, WAIT_TURN_MS);
      if (!('retryInMs' in permit)) {
        if (!signal.aborted) return permit;
        permit.release('unused');
        break;
      }
      await new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
          resolve();
        };
        const timer = setTimeout(end, permit.retryInMs);
        signal.addEventListener('abort', end);
      });
    }
    return undefined;
  }

  #admit(target: Target, tenant: string): Permit {
    const since = this.#now();
    const proven = target.state === 'answered';
    let released = false;
    this.#count(target, tenant, proven, 1);
    return {
      release: (result) => {
        if (released) return;
        released = true;
        this.#count(target, tenant, proven, -1);
        target.movedAt = this.#now();
        if (result === 'unused') return this.#admitWaiting(target);
        target.meanMs += MEAN_WEIGHT * (this.#now() - since - target.meanMs);
        target.state = result;
        this.#rest(target, result);
        target.window =
          result === 'answered'
            ? Math.min(this.#perTarget, target.window + 1)
            : Math.max(1, Math.floor(target.window / 2));
        this.#admitWaiting(target);
      },
    };
  }

  /** Gives released permits to waiting calls: first to tenants with the fewest permits, then in order. */
  #admitWaiting(target: Target): void {
    const permits = (waiter: Waiter) => target.open.get(waiter.tenant) ?? 0;
    for (;;) {
      let next: Waiter | undefined;
      for (const waiter of target.waiting) {
        if ((!next || permits(waiter) < permits(next)) && this.#mayAcquire(target, waiter.tenant)) next = waiter;
      }
      if (!next) return;
      target.waiting.splice(target.waiting.indexOf(next), 1);
      next.admit(this.#admit(target, next.tenant));
    }
  }

  #rest(target: Target, result: 'answered' | 'hung'): void {
    if (result === 'answered') {
      target.hangs = 0;
      target.restUntil = 0;
    } else if (this.#restMs > 0 && this.#now() >= target.restUntil) {
      // Work that began before the rest and hangs as well is no further proof.
      target.hangs += 1;
      target.restUntil = this.#now() + Math.min(this.#restMs * 2 ** (target.hangs - 1), this.#maxRestMs);
    }
  }

  #mayAcquire(target: Target, tenant: string): boolean {
    return (
      this.#now() >= target.restUntil &&
      target.openCount < target.window &&
      (target.open.get(tenant) ?? 0) < this.#share(target, tenant) &&
      (this.#tenants.get(tenant) ?? 0) < this.#perTenant &&
      this.#open < this.#total &&
      (target.state === 'answered' || this.#unprovenOpen < Math.max(1, Math.floor(this.#total / 2)))
    );
  }

  #count(target: Target, tenant: string, proven: boolean, by: 1 | -1): void {
    if (by > 0 && target.openCount === 0) target.movedAt = this.#now();
    this.#open += by;
    if (!proven) this.#unprovenOpen += by;
    target.openCount += by;
    add(target.open, tenant, by);
    add(this.#tenants, tenant, by);
  }

  /** Permits of a target that a tenant may have while others use it or wait for it. */
  #share(target: Target, tenant: string): number {
    const now = this.#now();
    const users = new Set([tenant, ...target.open.keys(), ...target.waiting.map((waiter) => waiter.tenant)]);
    for (const [other, until] of target.lines) {
      if (until > now) users.add(other);
      else target.lines.delete(other);
    }
    if (users.size > 1) return Math.max(1, Math.ceil(target.window / users.size));
    return this.#shared ? Math.max(1, target.window - Math.floor(target.window / 4)) : target.window;
  }

  /** Reserves the next time in the tenant's line at this target, as long as one piece of work takes now. Returns the wait in ms. */
  #book(target: Target, tenant: string, share: number): number {
    const now = this.#now();
    const first = Math.max(now + MIN_RETRY_MS, target.restUntil, target.lines.get(tenant) ?? 0);
    const at = Math.min(first + this.#workMs(target) / share, now + this.#maxRetryMs);
    target.lines.set(tenant, at);
    return Math.ceil(at - now);
  }

  /** How long (ms) work with the target takes now: at least as long as the target has released no permit. */
  #workMs(target: Target): number {
    return target.openCount === 0 ? target.meanMs : Math.max(target.meanMs, this.#now() - target.movedAt);
  }

  #target(name: string): Target {
    const known = this.#targets.get(name);
    if (known) return known;
    const target: Target = {
      open: new Map(),
      openCount: 0,
      window: Math.min(FIRST_WINDOW, this.#perTarget),
      state: 'unknown',
      hangs: 0,
      restUntil: 0,
      meanMs: FIRST_MEAN_MS,
      movedAt: 0,
      waiting: [],
      lines: new Map(),
    };
    this.#targets.set(name, target);
    if (this.#targets.size > MAX_TARGETS) {
      for (const [other, { openCount, waiting }] of this.#targets) {
        if (openCount > 0 || waiting.length > 0 || other === name) continue;
        this.#targets.delete(other);
        break;
      }
    }
    return target;
  }
}

function add(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
