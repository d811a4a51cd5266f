import { z } from 'zod';
import { bookingText, unreadableBooking } from '../bookings.ts';
import { verifySignature } from '../../../../../lib/signature.ts';
import { ruleMessage } from '../../../../../lib/issue-message.ts';
import type { MeetingReport } from '../../../../crm/meetings/record.ts';
import { type Provider, type ProviderCall } from '../provider.ts';

const config = z.strictObject({
  api_key: z
    .string()
    .trim()
    .min(20)
    .max(2_000)
    .regex(/^[\x21-\x7e]*$/, ruleMessage('connect.calendly_token')),
});
const user = z.object({
  resource: z.object({ uri: z.string(), name: z.string(), email: z.string(), current_organization: z.string() }),
});

/** Calendly, connected by a personal access token. Bookings arrive by webhooks that Heron registers. */
export const calendly: Provider = {
  id: 'calendly',
  name: 'Calendly',
  tagline: 'provider.calendly.tagline',
  category: 'meetings',
  docsUrl: 'https://developer.calendly.com/api-docs',
  authMethod: 'api_key',
  badgeColor: '#006bff',
  webhookHint: 'provider.calendly.hint',
  highlights: ['provider.highlight.bookings', 'provider.highlight.registered'],
  events: ['meeting.booked', 'meeting.rescheduled', 'meeting.canceled'],
  apiBase: 'https://api.calendly.com',
  rate: { capacity: 5, perSecond: 1 },
  credentials: {
    schema: config,
    secretFields: ['api_key'],
    authorize: (given) => ({ authorization: `Bearer ${config.parse(given).api_key}` }),
    async validate(call) {
      const { uri, name, email } = await readUser(call);
      return { id: uri, name, displayFields: { email } };
    },
  },
  actions: {},
  inbound: {
    verify: ({ headers, rawBody, secret, now }) =>
      verifySignature(headers['calendly-webhook-signature'], secret, rawBody, { now }),
    readBooking,
    async register(call, { url, secret }) {
      const { uri, current_organization: organization } = await readUser(call);
      const { json } = await call.request({
        method: 'POST',
        path: '/webhook_subscriptions',
        json: {
          url,
          events: ['invitee.created', 'invitee.canceled'],
          organization,
          user: uri,
          scope: 'user',
          signing_key: secret,
        },
      });
      const { resource } = z.object({ resource: z.object({ uri: z.string() }) }).parse(json);
      return { externalId: resource.uri.split('/').at(-1)! };
    },
    async unregister(call, externalId) {
      await call.request({
        method: 'DELETE',
        path: `/webhook_subscriptions/${encodeURIComponent(externalId)}`,
        expect: [404],
      });
    },
  },
};

async function readUser(call: ProviderCall): Promise<z.infer<typeof user>['resource']> {
  const { json } = await call.request({ method: 'GET', path: '/users/me' });
  return user.parse(json).resource;
}

const text = bookingText;
const webhook = z.object({
  event: z.string(),
  created_at: z.iso.datetime({ offset: true }),
  payload: z.object({
    uri: z.string().min(1),
    email: z.string(),
    name: text,
    rescheduled: z.boolean().nullish().catch(undefined),
    old_invitee: text,
    cancel_url: text,
    reschedule_url: text,
    cancellation: z.object({ reason: text }).nullish().catch(undefined),
    scheduled_event: z.object({
      name: text,
      start_time: z.iso.datetime({ offset: true }),
      end_time: z.iso.datetime({ offset: true }).nullish().catch(undefined),
      event_type: text,
      location: z.looseObject({ type: text, location: text, join_url: text }).nullish().catch(undefined),
    }),
  }),
});

/**
 * Parses an invitee event. Each invitee is one booking, so a meeting of several people has several. A reschedule
 * cancels the old invitee and creates a new one that refers to the old one. Therefore a cancellation by a reschedule is
 * ignored.
 */
function readBooking(body: unknown): MeetingReport | undefined {
  const kind = z.object({ event: z.string() }).safeParse(body);
  if (!kind.success) throw unreadableBooking('Calendly', kind.error);
  if (!['invitee.created', 'invitee.canceled'].includes(kind.data.event)) return undefined;
  const read = webhook.safeParse(body);
  if (!read.success) throw unreadableBooking('Calendly', read.error);
  const { event, created_at: at, payload } = read.data;
  const { scheduled_event: meeting } = payload;
  const isCanceled = event === 'invitee.canceled';
  if (isCanceled && payload.rescheduled) return undefined;
  const replaces = payload.old_invitee ?? undefined;
  return {
    externalEventId: payload.uri,
    ...(replaces === undefined || isCanceled ? {} : { replaces }),
    kind: isCanceled ? 'canceled' : replaces === undefined ? 'booked' : 'rescheduled',
    occurredAt: new Date(at),
    inviteeEmail: payload.email,
    inviteeName: payload.name ?? '',
    eventName: meeting.name ?? '',
    eventType: meeting.event_type ?? '',
    scheduledFor: new Date(meeting.start_time),
    endTime: meeting.end_time ? new Date(meeting.end_time) : null,
    joinUrl: meeting.location?.join_url ?? '',
    location: meeting.location?.location ?? '',
    cancelUrl: payload.cancel_url ?? '',
    rescheduleUrl: payload.reschedule_url ?? '',
    canceledReason: payload.cancellation?.reason ?? '',
  };
}
