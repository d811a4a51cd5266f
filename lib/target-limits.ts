interface TargetLimitsOptions {
  /** Maximum number of open calls over all targets. */
  total: number;
  /** Maximum number of open calls to one target. */
  perTarget: number;
  /** Maximum number of open calls of one tenant, over all targets. Defaults to a quarter of `total`, at least one. */
  perTenant?: number;
  /**
   * True if targets serve several tenants (mail hosts). A single tenant then leaves a quarter of a target's permits
   * free.
   */
  shared?: boolean;
  /** Maximum wait (ms) proposed to a call without a permit. */
  maxRetryMs?: number;
  /**
   * Time (ms) for which a target is not called after it hung. The time doubles each time the target hangs again, up to
   * `maxRestMs`. Defaults to 0.
   */
  restMs?: number;
  maxRestMs?: number;
  /** Returns milliseconds of a monotonic clock. */
  now?: () => number;
}

/** Permission for one call. The holder releases it once. */
export interface Permit {
  /**
   * `hung`: the target was unreachable or did not answer in time. A refusal counts as `answered`. `unused`: the target
   * was not called. Only the first call of `release` counts.
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
  /** Current maximum number of permits. Grows by one with every answer, halves when the target hangs. */
  window: number;
  /** Last result of the target. The state is `unknown` before the first result. */
  state: 'unknown' | 'answered' | 'hung';
  /** Number of consecutive hangs. `restUntil` is the end of the pause without calls (on the clock of `now`). */
  hangs: number;
  restUntil: number;
  /** Moving mean of the duration (ms) of one call. */
  meanMs: number;
  /** Time of the last release, or of an acquisition when no permit was in use (on the clock of `now`). */
  movedAt: number;
  /** Waiting calls of `acquireSoon`, in order. */
  waiting: Waiter[];
  /** Latest retry time (ms, on the clock of `now`) returned to a refused call, by tenant. */
  lines: Map<string, number>;
}

/** Number of permits of a target before its first answer. */
const FIRST_WINDOW = 4;
const FIRST_MEAN_MS = 50;
const MEAN_WEIGHT = 0.2;
const MIN_RETRY_MS = 250;
/** Time (ms) for which `wait` stays in the queue before it tries again. */
const WAIT_TURN_MS = 1_000;
const MAX_RETRY_MS = 5 * 60_000;
/** Maximum number of remembered targets. Above this number, a target without open calls is removed. */
const MAX_TARGETS = 10_000;

/**
 * Limits the open calls of a process to outside servers, so that a hanging server delays only its own calls. A call
 * without a permit gets the time after which to retry, and holds no resource in the meantime.
 * - One target has at most `perTarget` permits. A target starts with few permits, gains one with each answer, and loses
 *   half when it hangs, down to one.
 * - Targets that have not answered yet, or hung the last time, together use at most half of all permits. So the other
 *   half stays available to responsive targets.
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

  /** Takes a permit for a target and a tenant, or returns the time (ms) after which to retry. */
  acquire(name: string, tenant: string): Permit | { retryInMs: number } {
    const target = this.#target(name);
    return this.#mayAcquire(target, tenant)
      ? this.#admit(target, tenant)
      : { retryInMs: this.#book(target, tenant, this.#share(target, tenant)) };
  }

  /** Takes a permit for a target and a tenant if one is free. */
  acquireNow(name: string, tenant: string): Permit | undefined {
    const target = this.#target(name);
    return this.#mayAcquire(target, tenant) ? this.#admit(target, tenant) : undefined;
  }

  /**
   * Variant of {@link acquire} that waits up to `patienceMs` if a permit is likely to be free by then. This is likely
   * if the target does not hang and the queued calls will finish in time. The wait saves retries in a burst of calls.
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

  /** Waits for a permit, without holding a resource in the meantime. Undefined once `signal` fires. */
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
      // A further call that hangs, but started before the pause, does not lengthen the pause.
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

  /** Returns the number of a target's permits that a tenant may use while others use or wait for the target. */
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

  /**
   * Reserves the tenant's next retry time at this target, spaced by the current duration of one call. Returns the wait
   * (ms).
   */
  #book(target: Target, tenant: string, share: number): number {
    const now = this.#now();
    const first = Math.max(now + MIN_RETRY_MS, target.restUntil, target.lines.get(tenant) ?? 0);
    const at = Math.min(first + this.#workMs(target) / share, now + this.#maxRetryMs);
    target.lines.set(tenant, at);
    return Math.ceil(at - now);
  }

  /**
   * Returns the current duration (ms) of a call to the target: at least the time since the last release of a permit.
   */
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
