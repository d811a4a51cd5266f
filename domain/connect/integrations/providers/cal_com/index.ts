import { z } from 'zod';
import { HOUR_MS } from '../../../../../lib/clock.ts';
import { hmac, safeEqual } from '../../../../../lib/crypto.ts';
import { message } from '../../../../../messages/index.ts';
import { says } from '../../../../../lib/issue-message.ts';
import type { MeetingNews } from '../../../../crm/meetings/record.ts';
import { Refused, type InboundRequest, type Provider } from '../provider.ts';

const config = z.strictObject({
  api_key: z
    .string()
    .trim()
    .regex(/^cal_\w{8,200}$/, says('connect.cal_com_key')),
});

/**
 * How old a webhook may be by the time that its signed body says. Cal.com sends a webhook that failed again with the same body, for some minutes, so this is
 * longer than the time for a signature that is made anew with each attempt. A repetition within it changes nothing.
 */
const MAX_AGE_MS = HOUR_MS;

/** Cal.com, by an API key; bookings come by a webhook that Heron registers. */
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

/** The time in a body whose signature is good; empty where it has none. */
function sentAtOf(rawBody: Buffer): string {
  try {
    const read = z.object({ createdAt: z.string() }).safeParse(JSON.parse(rawBody.toString('utf8')));
    return read.success ? read.data.createdAt : '';
  } catch {
    return '';
  }
}

const KINDS = { BOOKING_CREATED: 'booked', BOOKING_RESCHEDULED: 'rescheduled', BOOKING_CANCELLED: 'canceled' } as const;
const text = z.string().nullish();
const webhook = z.object({
  triggerEvent: z.enum(['BOOKING_CREATED', 'BOOKING_RESCHEDULED', 'BOOKING_CANCELLED']),
  createdAt: z.iso.datetime({ offset: true }),
  payload: z.object({
    uid: z.string().min(1),
    type: text,
    title: text,
    eventTitle: text,
    startTime: z.iso.datetime({ offset: true }),
    endTime: z.iso.datetime({ offset: true }),
    attendees: z.array(z.object({ email: z.string(), name: text })).min(1),
    location: text,
    cancellationReason: text,
    rescheduleUid: text,
    rescheduledToUid: text,
    metadata: z.looseObject({ videoCallUrl: text }).nullish(),
  }),
});

/** A move makes another booking that names the old one. Where the old one is canceled for it, that cancellation says nothing of its own. */
function readBooking(body: unknown): MeetingNews | undefined {
  const event = z.object({ triggerEvent: z.string() }).safeParse(body);
  if (!event.success) throw new Refused(message('connect.webhook_unreadable', { provider: 'Cal.com' }));
  if (!(event.data.triggerEvent in KINDS)) return undefined;
  const read = webhook.safeParse(body);
  if (!read.success) throw new Refused(message('connect.webhook_unreadable', { provider: 'Cal.com' }));
  const { triggerEvent, createdAt, payload } = read.data;
  if (payload.rescheduledToUid) return undefined;
  const [attendee] = payload.attendees;
  const replaces = triggerEvent === 'BOOKING_RESCHEDULED' ? (payload.rescheduleUid ?? undefined) : undefined;
  return {
    externalEventId: payload.uid,
    // Some moves keep the booking's uid.
    ...(replaces === undefined || replaces === payload.uid ? {} : { replaces }),
    kind: KINDS[triggerEvent],
    occurredAt: new Date(createdAt),
    inviteeEmail: attendee!.email,
    inviteeName: attendee!.name ?? '',
    eventName: payload.eventTitle ?? payload.title ?? '',
    eventType: payload.type ?? '',
    scheduledFor: new Date(payload.startTime),
    endTime: new Date(payload.endTime),
    joinUrl: payload.metadata?.videoCallUrl ?? '',
    // Places that are made by an integration are no places for people.
    location: payload.location?.startsWith('integrations:') ? '' : (payload.location ?? ''),
    cancelUrl: '',
    rescheduleUrl: '',
    canceledReason: payload.cancellationReason ?? '',
  };
}
