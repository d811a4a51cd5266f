/**
 * This file defines the public URLs of the tracking service. A base is an origin without trailing slash, such as
 * `https://t.example.com`.
 */

/** Returns the URL of a tracked link. `ticketId` is the unguessable id of the link's row in tracked_links. */
export function clickUrl(trackingBase: string, ticketId: string): string {
  return `${trackingBase}/c/${encodeURIComponent(ticketId)}`;
}

/**
 * Returns the URL of a send's open-tracking pixel. `token` is a tracking token (tracking-token.ts) for the purpose
 * `open` and the send's id.
 */
export function openPixelUrl(trackingBase: string, token: string): string {
  return `${trackingBase}/o/${encodeURIComponent(token)}.gif`;
}

/**
 * Returns the URL of a send's opt-out page, which also receives one-click requests (RFC 8058, a POST to the same URL).
 * `token` is a tracking token for the purpose `unsubscribe` and the send's id.
 */
export function unsubscribeUrl(trackingBase: string, token: string): string {
  return `${trackingBase}/u/${encodeURIComponent(token)}`;
}
