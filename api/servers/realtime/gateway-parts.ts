import type { ActorResolver } from '../../../domain/identity/resolve-actor.ts';
import type { Deps } from '../../../domain/platform/kernel/context.ts';
import type { Metrics } from '../../../lib/metrics.ts';
import type { RateLimiter } from '../../../lib/rate-limit.ts';

/** Time settings of the gateway (ms). */
export interface GatewayTimes {
  /** Interval (ms) between heartbeats to each open socket. */
  heartbeatMs: number;
  /** Maximum time (ms) that a socket may stay open without a credential. */
  authenticateMs: number;
  /** Interval (ms) between checks of credentials and stalled sockets. */
  checkMs: number;
  /** Time (ms) after which a socket is closed if its buffer is full and its client reads nothing. */
  stallMs: number;
}

export const GATEWAY_TIMES: Omit<GatewayTimes, 'heartbeatMs'> = {
  authenticateMs: 10_000,
  checkMs: 500,
  stallMs: 30_000,
};

/** Dependencies of the gateway, one set per process. */
export interface GatewayParts {
  deps: Deps;
  metrics: Metrics;
  limiter: RateLimiter;
  actors: ActorResolver;
  times: GatewayTimes;
}

/** Limits the concurrent queries of the process. */
export type QueryLimit = <T>(work: () => Promise<T>) => Promise<T>;
