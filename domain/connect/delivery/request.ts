import type { EgressRequest } from '../../../lib/egress/index.ts';
import { signPayload } from '../../../lib/signature.ts';

/** Maximum number of bytes of an answer that are stored with a delivery. */
export const EXCERPT_BYTES = 1024;

/** Delivery of one event to one receiver. */
interface SignedDelivery {
  url: string;
  /** Signing secret in plain text. */
  secret: string;
  eventType: string;
  /** Id of the event, equal on every retry and redelivery, so that receivers can deduplicate. */
  eventId: string;
  /** The stored body. Exactly these bytes are signed and sent. */
  body: string;
  /** Time of sending, which is part of the signature. Receivers refuse signatures older than five minutes. */
  now: Date;
  /** Timeout (ms) of the whole request. */
  timeoutMs: number;
  /** Maximum number of bytes of the answer that are read. */
  maxResponseBytes: number;
}

/** Builds the HTTP request of a delivery: body, signature and headers. */
export function deliveryRequest(delivery: SignedDelivery): EgressRequest {
  return {
    method: 'POST',
    url: delivery.url,
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'Webhooks/1.0',
      // Requests an uncompressed response, because it is stored as received.
      'Accept-Encoding': 'identity',
      'X-Service-Event': delivery.eventType,
      'X-Service-Event-Id': delivery.eventId,
      'X-Service-Signature': signPayload(delivery.secret, Math.floor(delivery.now.getTime() / 1000), delivery.body),
    },
    body: delivery.body,
    timeoutMs: delivery.timeoutMs,
    maxResponseBytes: delivery.maxResponseBytes,
    // Ignores an incomplete response body, because the status already shows that the receiver got the event.
    acceptPartialBody: true,
  };
}

/** JSON envelope of a delivered event. */
export interface Envelope {
  id: string;
  event_type: string;
  organization_id: string;
  /** Dispatch time, RFC 3339. */
  created_at: string;
  data: Record<string, unknown>;
}
