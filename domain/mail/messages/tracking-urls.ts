/**
 * The public URLs of the tracking service, whose form only this file knows. A base is an origin with no
 * trailing slash, such as `https://t.example.com`.
 */

/** Where a tracked link of a message points; `ticketId` is the id of its row in tracked_links, which cannot be guessed. */
export function clickUrl(trackingBase: string, ticketId: string): string {
  return `${trackingBase}/c/${encodeURIComponent(ticketId)}`;
}

/** The open-tracking pixel of one send; `token` is a tracking token (domain/tracking/token.ts) for `open` and the send. */
export function openPixelUrl(trackingBase: string, token: string): string {
  return `${trackingBase}/o/${encodeURIComponent(token)}.gif`;
}

/**
 * The opt-out page of one send, and the target of RFC 8058 one-click requests (a POST to the same address); `token` is
 * a tracking token for `unsubscribe` and the send.
 */
export function unsubscribeUrl(trackingBase: string, token: string): string {
  return `${trackingBase}/u/${encodeURIComponent(token)}`;
}
