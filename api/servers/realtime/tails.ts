import { systemCtx, type Deps } from '../../../domain/platform/kernel/context.ts';
import type { QueryLimit } from './gateway-parts.ts';
import { createTail, type Tail } from './tail.ts';

/** Tails of all followed streams, one per organization with a socket. */
export class Tails {
  readonly #deps: Deps;
  readonly #limit: QueryLimit;
  readonly #tails = new Map<string, Tail>();

  constructor(deps: Deps, limit: QueryLimit) {
    this.#deps = deps;
    this.#limit = limit;
  }

  /** Returns the tail of an organization. It starts at the current end of the stream. */
  of(organizationId: string): Tail {
    const known = this.#tails.get(organizationId);
    if (known) return known;
    const tail = createTail(systemCtx(this.#deps, organizationId, 'realtime'), this.#limit);
    this.#tails.set(organizationId, tail);
    tail.ready.catch(() => {
      if (this.#tails.get(organizationId) === tail) this.#tails.delete(organizationId);
    });
    return tail;
  }

  /**
   * Reads new events of organizations (null: all followed ones). Call it when stream positions may have been assigned.
   */
  wake(organizationIds: readonly string[] | null): void {
    for (const id of organizationIds ?? this.#tails.keys()) this.#tails.get(id)?.wake();
  }

  /** Closes a tail without followers. */
  release(organizationId: string): void {
    const tail = this.#tails.get(organizationId);
    if (tail?.followers.size !== 0) return;
    this.#tails.delete(organizationId);
    tail.close();
  }
}
