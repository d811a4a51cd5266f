import { isMachineAgent } from './user-agent.ts';

/**
 * Why an open or click is not a person's:
 * - `prefetch`: a proxy, scanner or previewer that says so itself, by user agent or prefetch header;
 * - `instant`: within seconds of the send, faster than mail is read;
 * - `burst`: several links of one mail in the same moment, or a HEAD request: no person follows links like that.
 */
export type MachineReason = 'prefetch' | 'instant' | 'burst';

/** One request of the tracking service, as far as it is looked at. The address it came from is not. */
export interface Hit {
  method: string;
  userAgent: string;
  /** Purpose, Sec-Purpose or X-Moz, whichever was sent. */
  purpose: string;
}

/** Clicks on different links of one mail closer together than this (ms) are a burst. */
export const BURST_MS = 2_000;

/**
 * Why this hit by itself is not a person's, or null. Bursts of clicks show only when the second link is hit; see
 * {@link recordClick}.
 * @param sentAt when the mail was handed over; null while it still is, which makes any hit instant
 * @param instantMs TRACKING_INSTANT_MS
 */
export function machineReason(hit: Hit, at: Date, sentAt: Date | null, instantMs: number): MachineReason | null {
  if (hit.method === 'HEAD') return 'burst';
  if (/prefetch|preview/i.test(hit.purpose) || isMachineAgent(hit.userAgent)) return 'prefetch';
  if (instantMs > 0 && (sentAt === null || at.getTime() - sentAt.getTime() < instantMs)) return 'instant';
  return null;
}
