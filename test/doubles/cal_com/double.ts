/**
 * Stub of Cal.com: API keys of API v2, the user, the user's webhooks, and bookings reported with X-Cal-Signature-256.
 * From cal.com/docs: API reference v2 (me, webhooks), webhooks and their payloads.
 */
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { bearerOf } from '../oauth.ts';
import { Answer, jsonOf, startDouble, type Double, type Heard } from '../server.ts';

export interface CalComDouble extends Double {
  key: string;
  webhooks: { id: string; subscriberUrl: string; triggers: string[]; secret: string | null }[];
  book(attendee: { email: string; name: string; startsAt: Date; minutes?: number }): CalComBooking;
  /** Reschedules a booking: Cal.com creates another one with its own uid. */
  reschedule(booking: CalComBooking, startsAt: Date): CalComBooking;
  cancel(booking: CalComBooking, reason?: string): void;
  outbox: CalComWebhook[];
  /** Sends webhooks in order, by default those of the outbox. Returns the status of each. */
  deliver(webhooks?: readonly CalComWebhook[], options?: { secret?: string }): Promise<number[]>;
}

interface CalComBooking {
  uid: string;
  payload: Record<string, any>;
}

interface CalComWebhook {
  triggerEvent: string;
  createdAt: string;
  payload: Record<string, any>;
}

const TRIGGERS = [
  'BOOKING_CREATED',
  'BOOKING_RESCHEDULED',
  'BOOKING_CANCELLED',
  'BOOKING_REQUESTED',
  'BOOKING_REJECTED',
  'BOOKING_NO_SHOW_UPDATED',
  'MEETING_STARTED',
  'MEETING_ENDED',
];

/** Starts the stub of Cal.com with one user. */
export async function startCalCom(port?: number): Promise<CalComDouble> {
  const webhooks: CalComDouble['webhooks'] = [];
  const outbox: CalComWebhook[] = [];
  let bookings = 0;
  const find = ({ params }: Heard) => {
    const index = webhooks.findIndex(({ id }) => id === params.id);
    if (index < 0) throw problem(404, 'NotFoundException', `Webhook (${params.id}) not found`);
    return index;
  };
  const base = await startDouble(
    {
      rate: { requests: 120, perMs: 60_000 },
      limited: (seconds) =>
        new Answer(
          429,
          { status: 'error', error: { code: 'TOO_MANY_REQUESTS', message: 'ThrottlerException: Too Many Requests' } },
          {
            'retry-after': String(seconds),
            'x-ratelimit-limit-default': '120',
            'x-ratelimit-remaining-default': '0',
            'x-ratelimit-reset-default': String(seconds),
          },
        ),
      broken: () => problem(500, 'InternalServerErrorException', 'Internal server error'),
      unknown: ({ method, path }) => problem(404, 'NotFoundException', `Cannot ${method} ${path}`),
      admit: (heard) => {
        const token = bearerOf(heard);
        if (!token?.startsWith('cal_') || token !== double.key)
          throw problem(401, 'UnauthorizedException', 'ApiAuthStrategy - api key - Your api key is not valid');
      },
      routes: {
        'GET /v2/me': () => ({
          status: 'success',
          data: {
            id: 42,
            username: 'pat',
            email: 'pat@acme.test',
            name: 'Pat Doe',
            timeZone: 'Europe/Paris',
            weekStart: 'Monday',
          },
        }),
        'POST /v2/webhooks': (heard) => {
          const body = jsonOf(heard, (message) => problem(400, 'BadRequestException', message));
          const wrong = [
            ...(URL.canParse(body.subscriberUrl ?? '') ? [] : ['subscriberUrl must be a URL']),
            ...(Array.isArray(body.triggers) && body.triggers.every((one: string) => TRIGGERS.includes(one))
              ? []
              : ['each value in triggers must be one of the following values']),
            ...(typeof body.active === 'boolean' ? [] : ['active must be a boolean value']),
          ];
          if (wrong.length > 0) throw problem(400, 'BadRequestException', wrong.join(', '));
          if (webhooks.some(({ subscriberUrl }) => subscriberUrl === body.subscriberUrl))
            throw problem(409, 'ConflictException', 'Webhook with this subscriberUrl already exists for this user');
          const made = {
            id: randomUUID(),
            subscriberUrl: body.subscriberUrl,
            triggers: body.triggers,
            secret: body.secret ?? null,
          };
          webhooks.push(made);
          return new Answer(201, {
            status: 'success',
            data: { ...made, userId: 42, active: true, payloadTemplate: null },
          });
        },
        'DELETE /v2/webhooks/:id': (heard) => {
          const [gone] = webhooks.splice(find(heard), 1);
          return { status: 'success', data: gone };
        },
      },
    },
    port,
  );

  let saidAt = 0;
  const say = (triggerEvent: string, payload: Record<string, any>): void => {
    // Gives consecutive events increasing times even within one millisecond.
    saidAt = Math.max(saidAt + 1, Date.now());
    outbox.push({ triggerEvent, createdAt: new Date(saidAt).toISOString(), payload: structuredClone(payload) });
  };
  const make = (email: string, name: string, startsAt: Date, minutes: number): CalComBooking => {
    const uid = randomBytes(11).toString('hex');
    const payload = {
      bookingId: (bookings += 1),
      uid,
      type: '30min',
      title: `30 Min Meeting between Pat Doe and ${name}`,
      eventTitle: '30 Min Meeting',
      eventTypeId: 5,
      description: '',
      additionalNotes: '',
      startTime: startsAt.toISOString(),
      endTime: new Date(startsAt.getTime() + minutes * 60_000).toISOString(),
      organizer: { id: 42, name: 'Pat Doe', email: 'pat@acme.test', timeZone: 'Europe/Paris' },
      attendees: [{ email, name, timeZone: 'America/New_York', language: { locale: 'en' } }],
      location: 'integrations:daily',
      metadata: { videoCallUrl: `https://app.cal.example/video/${uid}` },
      status: 'ACCEPTED',
    };
    return { uid, payload };
  };

  const double: CalComDouble = Object.assign(base, {
    key: `cal_live_${randomBytes(16).toString('hex')}`,
    webhooks,
    outbox,
    book({ email, name, startsAt, minutes = 30 }: { email: string; name: string; startsAt: Date; minutes?: number }) {
      const booking = make(email, name, startsAt, minutes);
      say('BOOKING_CREATED', booking.payload);
      return booking;
    },
    reschedule(booking: CalComBooking, startsAt: Date) {
      const [{ email, name }] = booking.payload.attendees;
      const moved = make(email, name, startsAt, 30);
      const { startTime, endTime, bookingId } = booking.payload;
      Object.assign(moved.payload, {
        rescheduleId: bookingId,
        rescheduleUid: booking.uid,
        rescheduleStartTime: startTime,
        rescheduleEndTime: endTime,
      });
      say('BOOKING_RESCHEDULED', moved.payload);
      return moved;
    },
    cancel(booking: CalComBooking, reason = '') {
      say('BOOKING_CANCELLED', { ...booking.payload, status: 'CANCELLED', cancellationReason: reason });
    },
    async deliver(given = outbox.splice(0), { secret }: { secret?: string } = {}) {
      const statuses: number[] = [];
      for (const webhook of given)
        for (const { subscriberUrl, triggers, secret: own } of webhooks) {
          if (!triggers.includes(webhook.triggerEvent)) continue;
          const body = JSON.stringify(webhook);
          const key = secret ?? own;
          const signature = key ? createHmac('sha256', key).update(body).digest('hex') : 'no-secret-provided';
          const headers = { 'content-type': 'application/json', 'x-cal-signature-256': signature };
          statuses.push((await fetch(subscriberUrl, { method: 'POST', headers, body })).status);
        }
      return statuses;
    },
  } satisfies Omit<CalComDouble, keyof Double>);
  return double;
}

function problem(status: number, code: string, message: string): Answer {
  return new Answer(status, {
    status: 'error',
    timestamp: new Date().toISOString(),
    error: { code, message, details: {} },
  });
}
