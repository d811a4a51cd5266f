import { z } from 'zod';
import { bookingText, unreadableBooking } from '../bookings.ts';
import { HOUR_MS } from '../../../../../lib/clock.ts';
import { hmac, safeEqual } from '../../../../../lib/crypto.ts';
import { ruleMessage } from '../../../../../lib/issue-message.ts';
import type { MeetingReport } from '../../../../crm/meetings/record.ts';
import type { InboundRequest, Provider } from '../provider.ts';

const config = z.strictObject({
  api_key: z
    .string()
    .trim()
    .regex(/^cal_\w{8,200}$/, ruleMessage('connect.cal_com_key')),
});

/**
 * Maximum age (ms) of a webhook, computed from the time in its signed body. The limit is long, because Cal.com retries
 * for some minutes with the same body and time. Processing a webhook again changes nothing.
 */
const MAX_AGE_MS = HOUR_MS;

/** Cal.com, connected by an API key. Bookings arrive by a webhook that Heron registers. */
export const calCom: Provider = {
  id: 'cal_com',
  name: 'Cal.com',
  tagline: 'provider.cal_com.tagline',
  category: 'meetings',
  docsUrl: 'https://cal.com/docs/api-reference/v2/introduction',
  authMethod: 'api_key',
  badgeColor: '#292929',
  webhookHint: 'provider.cal_com.hint',
  highlights: ['provider.highlight.bookings', 'provider.highlight.registered'],
  events: ['meeting.booked', 'meeting.rescheduled', 'meeting.canceled'],
  apiBase: 'https://api.cal.com',
  rate: { capacity: 10, perSecond: 1 },
  credentials: {
    schema: config,
    secretFields: ['api_key'],
    authorize: (given) => ({ authorization: `Bearer ${config.parse(given).api_key}` }),
    async validate(call) {
      const { json } = await call.request({ method: 'GET', path: '/v2/me' });
      const { data } = z
        .object({ data: z.object({ id: z.number(), username: z.string().nullish(), email: z.string() }) })
        .parse(json);
      return { id: String(data.id), name: data.username ?? data.email, displayFields: { email: data.email } };
    },
  },
  actions: {},
  inbound: {
    verify,
    readBooking,
    async register(call, { url, secret }) {
      const { json } = await call.request({
        method: 'POST',
        path: '/v2/webhooks',
        json: {
          active: true,
          subscriberUrl: url,
          triggers: ['BOOKING_CREATED', 'BOOKING_RESCHEDULED', 'BOOKING_CANCELLED'],
          secret,
        },
      });
      const { data } = z.object({ data: z.object({ id: z.union([z.string(), z.number()]) }) }).parse(json);
      return { externalId: String(data.id) };
    },
    async unregister(call, externalId) {
      await call.request({ method: 'DELETE', path: `/v2/webhooks/${encodeURIComponent(externalId)}`, expect: [404] });
    },
  },
};

function verify({ headers, rawBody, secret, now }: InboundRequest): boolean {
  if (!safeEqual(headers['x-cal-signature-256'] ?? '', hmac(secret, rawBody).toString('hex'))) return false;
  const sent = Date.parse(sentAtOf(rawBody));
  return Math.abs(now.getTime() - sent) <= MAX_AGE_MS;
}

/** Returns the time in a body whose signature is valid; an empty string if there is none. */
function sentAtOf(rawBody: Buffer): string {
  try {
    const read = z.object({ createdAt: z.string() }).safeParse(JSON.parse(rawBody.toString('utf8')));
    return read.success ? read.data.createdAt : '';
  } catch {
    return '';
  }
}

const KINDS = { BOOKING_CREATED: 'booked', BOOKING_RESCHEDULED: 'rescheduled', BOOKING_CANCELLED: 'canceled' } as const;
const text = bookingText;
const moment = z.iso.datetime({ offset: true });
const person = z.object({ email: z.string().min(1), name: text });
/** A location as text, or as an object with its link, address or phone number. */
const place = z
  .union([z.string(), z.looseObject({ link: text, address: text, phone: text, location: text })])
  .nullish()
  .catch(undefined);
const webhook = z.object({
  triggerEvent: z.enum(['BOOKING_CREATED', 'BOOKING_RESCHEDULED', 'BOOKING_CANCELLED']),
  createdAt: moment,
  payload: z.object({
    uid: text,
    type: text,
    title: text,
    eventTitle: text,
    startTime: moment,
    endTime: moment.nullish().catch(undefined),
    attendees: z.array(z.unknown()).catch([]),
    responses: z
      .looseObject({ email: z.unknown().optional(), name: z.unknown().optional() })
      .nullish()
      .catch(undefined),
    location: place,
    cancellationReason: text,
    rescheduleUid: text,
    rescheduledToUid: text,
    metadata: z.looseObject({ videoCallUrl: text }).nullish().catch(undefined),
  }),
});
type Booking = z.output<typeof webhook>['payload'];

/**
 * Returns the person who booked: the first attendee with an address. Without one, uses the answers to the booking form.
 */
function bookerOf({ attendees, responses }: Booking): z.output<typeof person> | undefined {
  const valueOf = (answer: unknown) => z.looseObject({ value: z.unknown() }).safeParse(answer).data?.value ?? answer;
  const answered = { email: valueOf(responses?.email), name: valueOf(responses?.name) };
  return [...attendees, answered].map((one) => person.safeParse(one).data).find((one) => one !== undefined);
}

/**
 * Parses a booking event. A reschedule creates a new booking that contains the id of the old one, so the cancellation
 * of the old one is ignored.
 */
function readBooking(body: unknown): MeetingReport | undefined {
  const event = z.object({ triggerEvent: z.string() }).safeParse(body);
  if (!event.success) throw unreadableBooking('Cal.com', event.error);
  if (!(event.data.triggerEvent in KINDS)) return undefined;
  const read = webhook.safeParse(body);
  if (!read.success) throw unreadableBooking('Cal.com', read.error);
  const { triggerEvent, createdAt, payload } = read.data;
  if (payload.rescheduledToUid) return undefined;
  const booker = bookerOf(payload);
  // A rescheduled seat of a group booking may have no uid of its own.
  const uid = payload.uid || payload.rescheduleUid;
  if (!booker || !uid) throw unreadableBooking('Cal.com', [booker ? 'payload.uid' : 'payload.attendees']);
  const replaces = triggerEvent === 'BOOKING_RESCHEDULED' ? (payload.rescheduleUid ?? undefined) : undefined;
  return {
    externalEventId: uid,
    // Some reschedules keep the booking's uid.
    ...(replaces === undefined || replaces === uid ? {} : { replaces }),
    kind: KINDS[triggerEvent],
    occurredAt: new Date(createdAt),
    inviteeEmail: booker.email,
    inviteeName: booker.name ?? '',
    eventName: payload.eventTitle ?? payload.title ?? '',
    eventType: payload.type ?? '',
    scheduledFor: new Date(payload.startTime),
    endTime: payload.endTime ? new Date(payload.endTime) : null,
    joinUrl: payload.metadata?.videoCallUrl ?? '',
    location: locationText(payload.location),
    cancelUrl: '',
    rescheduleUrl: '',
    canceledReason: payload.cancellationReason ?? '',
  };
}

/** Returns the location as text. Locations generated by an integration are not meant for people and are dropped. */
function locationText(given: Booking['location']): string {
  const words =
    typeof given === 'string' ? given : (given?.address ?? given?.location ?? given?.phone ?? given?.link ?? '');
  return words.startsWith('integrations:') ? '' : words;
}
