import { isMachineAgent } from './user-agent.ts';

/**
 * Reason why an open or click is not a person's:
 * - `prefetch`: a proxy, scanner or previewer that identifies itself, by user agent or prefetch header;
 * - `instant`: within seconds of the send, faster than a person reads;
 * - `burst`: several links of one email at the same time, or a HEAD request, which people do not cause;
 */
export type MachineReason = 'prefetch' | 'instant' | 'burst';

/** Facts about one request to the tracking service. The IP address is not included. */
export interface Hit {
  method: string;
  userAgent: string;
  /** Value of the header Purpose, Sec-Purpose or X-Moz. */
  purpose: string;
  /** Country of the IP address as ISO 3166-1 alpha-2, if known. */
  country?: string | null;
}

/** Maximum time (ms) between clicks on different links of one email that are recorded as a burst. */
export const BURST_MS = 2_000;

/**
 * Returns the reason why this single hit is not a person's, or null. A burst of clicks is detected only at the second
 * link; see {@link recordClick}.
 * @param sentAt time when the email was sent; null while it is being sent, any hit is then `instant`
 * @param instantMs TRACKING_INSTANT_MS
 */
export function machineReason(hit: Hit, at: Date, sentAt: Date | null, instantMs: number): MachineReason | null {
  if (hit.method === 'HEAD') return 'burst';
  if (/prefetch|preview/i.test(hit.purpose) || isMachineAgent(hit.userAgent)) return 'prefetch';
  if (instantMs > 0 && (sentAt === null || at.getTime() - sentAt.getTime() < instantMs)) return 'instant';
  return null;
}
