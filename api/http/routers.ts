import Router from '@koa/router';
import type { Middleware } from 'koa';

/** Maximum number of fixed segments that select a router. */
const SELECTING = 2;

/**
 * Routers of an application, selected by the fixed segments that a path begins with. A router compares a path with each
 * of its routes, so one router for all routes would cost more than the rest of a short request.
 */
export class Routers {
  readonly #routers = new Map<string, { router: Router; dispatch: Middleware }>();

  /** Returns the router for a route. Routes of one router are compared in the order in which they are added. */
  of(path: string): Router {
    const segments = segmentsOf(path);
    const parameter = segments.findIndex((segment) => /[^\w.-]/.test(segment));
    const key = keyOf(parameter === -1 ? segments : segments.slice(0, parameter));
    let found = this.#routers.get(key);
    if (!found) {
      const router = new Router({ strict: false });
      found = { router, dispatch: router.routes() as Middleware };
      this.#routers.set(key, found);
    }
    return found.router;
  }

  /** Returns the methods of the routes with a path. */
  methodsOf(path: string): string[] {
    return this.#selected(path).flatMap(({ router }) =>
      router.match(path, 'GET').path.flatMap(({ methods }) => methods),
    );
  }

  /** Passes a request to the routers of its path, the one with the most fixed segments first. */
  readonly dispatch: Middleware = (koa, next) => {
    const selected = this.#selected(koa.path);
    const from = (index: number): Promise<unknown> =>
      selected[index] ? selected[index].dispatch(koa, () => from(index + 1)) : next();
    return from(0);
  };

  #selected(path: string): { router: Router; dispatch: Middleware }[] {
    const segments = segmentsOf(path);
    return segments
      .map((_, index) => this.#routers.get(keyOf(segments.slice(0, segments.length - index))))
      .concat(this.#routers.get(''))
      .filter((found) => found !== undefined);
  }
}

/** Returns the first segments of a path. */
function segmentsOf(path: string): string[] {
  return path.split('/', SELECTING + 1).filter(Boolean);
}

/** Returns the key of segments. Paths match in any case. */
function keyOf(segments: readonly string[]): string {
  return segments.join('/').toLowerCase();
}
