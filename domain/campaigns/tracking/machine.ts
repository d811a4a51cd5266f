import { isMachineAgent } from './user-agent.ts';

/**
 * Why an open or click is not a person's:
 * - `prefetch`: a proxy, scanner or previewer that identifies itself, by user agent or prefetch header;
 * - `instant`: within seconds of the send, faster than a person reads;
 * - `burst`: several links of one email at the same moment, or a HEAD request: no person follows links like that.
 */
export type MachineReason = 'prefetch' | 'instant' | 'burst';

/** The facts of one request of the tracking service. The address it came from is not among them. */
export interface Hit {
  method: string;
  userAgent: string;
  /** The value of Purpose, Sec-Purpose or X-Moz. */
  purpose: string;
  /** Where the address is, ISO 3166-1 alpha-2, as far as it is known. */
  country?: string | null;
}

/** Clicks on different links of one mail closer together than this (ms) are a burst. */
export const BURST_MS = 2_000;

/**
 * Why this single hit is not a person's, or null. A burst of clicks is recognized only at the second link; see
 * {@link recordClick}.
 * @param sentAt when the email was sent; null while it is being sent, which makes any hit instant
 * @param instantMs TRACKING_INSTANT_MS
 */
export function machineReason(hit: Hit, at: Date, sentAt: Date | null, instantMs: number): MachineReason | null {
  if (hit.method === 'HEAD') return 'burst';
  if (/prefetch|preview/i.test(hit.purpose) || isMachineAgent(hit.userAgent)) return 'prefetch';
  if (instantMs > 0 && (sentAt === null || at.getTime() - sentAt.getTime() < instantMs)) return 'instant';
  return null;
}
