import type { ActorResolver } from '../../../domain/identity/resolve-actor.ts';
import type { Deps } from '../../../domain/platform/kernel/context.ts';
import type { Metrics } from '../../../lib/metrics.ts';
import type { RateLimiter } from '../../../lib/rate-limit.ts';

/** Durations, in milliseconds. */
export interface GatewayTimes {
  /** How often each open socket gets a heartbeat. */
  heartbeatMs: number;
  /** How long a socket may stay without a credential. */
  authenticateMs: number;
  /** How often credentials and stalled sockets are checked. */
  checkMs: number;
  /** How long a socket whose buffer is full may read nothing before it is closed. */
  stallMs: number;
}

export const GATEWAY_TIMES: Omit<GatewayTimes, 'heartbeatMs'> = {
  authenticateMs: 10_000,
  checkMs: 500,
  stallMs: 30_000,
};

/** What the gateway needs of its process. */
export interface GatewayParts {
  deps: Deps;
  metrics: Metrics;
  limiter: RateLimiter;
  actors: ActorResolver;
  times: GatewayTimes;
}

/** Bounds the queries of the process that run at once. */
export type QueryLimit = <T>(work: () => Promise<T>) => Promise<T>;
