/** A tenant's request for one part of a common capacity. */
export interface Claim {
  /** Tenant that the work belongs to. Absent for work of the installation, which is not limited to a share. */
  tenant?: string;
  /** Group of the tenant's work, such as searches and reports. It may hold at most `share` parts at the same time. */
  group?: { name: string; share: number };
  /**
   * `nested`: the claim's holder already has a part and needs another one to finish. The claim ignores the share and is
   * served first, because a part of the capacity is unused while it waits. `urgent`: the claim ignores the share and is
   * served before other work of its tenant.
   */
  precedence?: 'nested' | 'urgent';
}

/** Thrown when a claim has waited for the maximum time. Other tenants may still have capacity. */
export class ShareUsedUp extends Error {
  override readonly name = 'ShareUsedUp';

  constructor() {
    super('the share of the tenant was in use for too long');
  }
}

interface Waiter extends Claim {
  admit(): void;
}

interface FairQueueOptions {
  /** Total number of parts of the capacity. */
  total: number;
  /** Number of parts that one tenant may hold. */
  share: number;
  /** Maximum wait (ms) of a claim. */
  waitMs: number;
}

/**
 * Shares a capacity, such as the connections of a pool, between tenants. No tenant holds more than its share, so some
 * capacity always remains for others. A free part goes to the waiting tenant with the fewest parts, and among tenants
 * with equally many to the one that has waited longest. So the wait of a tenant does not depend on the number of claims
 * of another tenant.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #held = new Map<string, number>();
  #waiting: Waiter[] = [];
  #open = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /** Number of waiting claims. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Waits for a part of the capacity.
   * @returns the function that gives it back; further calls have no effect
   * @throws ShareUsedUp after the maximum wait
   */
  enter(claim: Claim = {}): (() => void) | Promise<() => void> {
    // Waiting claims need not be considered: one that fits was admitted when the last part was given back.
    if (this.#isFree(claim)) return this.#admit(claim);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        ...claim,
        admit: () => {
          clearTimeout(timer);
          resolve(this.#admit(waiter));
        },
      };
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((other) => other !== waiter);
        reject(new ShareUsedUp());
      }, this.#options.waitMs);
      this.#waiting.push(waiter);
    });
  }

  #admit(claim: Claim): () => void {
    let isHeld = true;
    this.#count(claim, 1);
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#count(claim, -1);
      for (let next = this.#next(); next; next = this.#next()) {
        this.#waiting.splice(this.#waiting.indexOf(next), 1);
        next.admit();
      }
    };
  }

  /** Returns the waiting claim to admit next. Undefined if none may be admitted. */
  #next(): Waiter | undefined {
    let next: Waiter | undefined;
    for (const claim of this.#waiting)
      if (this.#isFree(claim) && (!next || this.#rank(claim) < this.#rank(next))) next = claim;
    return next;
  }

  /** Returns true if a part is free for a claim. */
  #isFree({ tenant, group, precedence }: Claim): boolean {
    if (this.#open >= this.#options.total) return false;
    if (tenant === undefined || precedence) return true;
    return (
      this.#heldBy(tenant) < this.#options.share && (!group || this.#heldBy(`${tenant} ${group.name}`) < group.share)
    );
  }

  /**
   * Returns the rank of a claim. Claims of the lowest rank come first; a tenant's urgent claims come before its other
   * claims.
   */
  #rank({ tenant, precedence }: Claim): number {
    if (precedence === 'nested') return -1;
    return tenant === undefined ? 0 : this.#heldBy(tenant) + (precedence === 'urgent' ? 0 : 0.5);
  }

  #count({ tenant, group }: Claim, by: 1 | -1): void {
    this.#open += by;
    if (tenant === undefined) return;
    for (const key of group ? [tenant, `${tenant} ${group.name}`] : [tenant]) {
      const held = this.#heldBy(key) + by;
      if (held > 0) this.#held.set(key, held);
      else this.#held.delete(key);
    }
  }

  #heldBy(key: string): number {
    return this.#held.get(key) ?? 0;
  }
}
