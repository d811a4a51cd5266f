/**
 * Stub of Calendly: personal access tokens, the user, webhook subscriptions, and webhooks signed with the
 * subscription's key. From developer.calendly.com: authentication, webhook subscriptions, webhook signatures, payloads
 * of rescheduled events, rate limits.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { bearerOf } from '../oauth.ts';
import { Answer, jsonOf, startDouble, type Double } from '../server.ts';

interface CalendlyDouble extends Double {
  token: string;
  /** False for an account on the free plan, which has no webhooks. */
  paid: boolean;
  subscriptions: CalendlySubscription[];
  /** Books a meeting. */
  book(invitee: { email: string; name: string; startsAt: Date; minutes?: number }): CalendlyBooking;
  /** Reschedules a booking: the old invitee is canceled and a new one created. */
  reschedule(booking: CalendlyBooking, startsAt: Date): CalendlyBooking;
  cancel(booking: CalendlyBooking, reason?: string): void;
  /** Unsent webhooks, oldest first. */
  outbox: CalendlyWebhook[];
  /** Sends webhooks in order, by default those of the outbox. Returns the status of each. */
  deliver(webhooks?: readonly CalendlyWebhook[], options?: { at?: Date; key?: string }): Promise<number[]>;
}

interface CalendlySubscription {
  uri: string;
  callback_url: string;
  events: string[];
  signingKey: string | undefined;
}

interface CalendlyBooking {
  event: string;
  invitee: string;
  payload: Record<string, any>;
}

interface CalendlyWebhook {
  event: 'invitee.created' | 'invitee.canceled';
  created_at: string;
  created_by: string;
  payload: Record<string, any>;
}

const API = 'https://api.calendly.com';
const USER = `${API}/users/AAAAAAAAAAAAAAAA`;
const ORGANIZATION = `${API}/organizations/AAAAAAAAAAAAAAAA`;

/** Starts the stub of Calendly with one user. */
export async function startCalendly(port?: number): Promise<CalendlyDouble> {
  const subscriptions: CalendlySubscription[] = [];
  const outbox: CalendlyWebhook[] = [];
  const uuid = () => randomBytes(8).toString('hex').toUpperCase();
  const base = await startDouble(
    {
      rate: { requests: 60, perMs: 60_000 },
      limited: (seconds) =>
        new Answer(
          429,
          { title: 'Too Many Requests', message: 'You have exceeded the rate limit.' },
          {
            'retry-after': String(seconds),
            'x-ratelimit-limit': '60',
            'x-ratelimit-remaining': '0',
            'x-ratelimit-reset': String(seconds),
          },
        ),
      broken: () => problem(500, 'Internal Server Error', 'The server encountered an unexpected condition.'),
      unknown: () => problem(404, 'Resource Not Found', 'The server could not find the requested resource.'),
      admit: (heard) => {
        if (bearerOf(heard) !== double.token) throw problem(401, 'Unauthenticated', 'The access token is invalid');
      },
      routes: {
        'GET /users/me': () => ({
          resource: {
            uri: USER,
            name: 'Pat Doe',
            slug: 'pat',
            email: 'pat@acme.test',
            scheduling_url: 'https://calendly.com/pat',
            timezone: 'Europe/Paris',
            current_organization: ORGANIZATION,
          },
        }),
        'POST /webhook_subscriptions': (heard) => {
          if (!double.paid) throw problem(403, 'Permission Denied', 'Please upgrade your Calendly account to Standard');
          const body = jsonOf(heard, (message) => problem(400, 'Invalid Argument', message));
          const wrong = [
            ...(URL.canParse(body.url ?? '') ? [] : [{ parameter: 'url', message: 'must be a valid URL' }]),
            ...(Array.isArray(body.events) &&
            body.events.every((one: string) => /^invitee\.(created|canceled)$/.test(one))
              ? []
              : [{ parameter: 'events', message: 'is not in the allowed list' }]),
            ...(body.organization === ORGANIZATION
              ? []
              : [{ parameter: 'organization', message: 'must be a valid URI' }]),
            ...(['user', 'organization'].includes(body.scope)
              ? []
              : [{ parameter: 'scope', message: 'must be user or organization' }]),
            ...(body.scope === 'user' && body.user !== USER
              ? [{ parameter: 'user', message: 'must be given with scope user' }]
              : []),
          ];
          if (wrong.length > 0) throw problem(400, 'Invalid Argument', 'The supplied parameters are invalid.', wrong);
          if (subscriptions.some((one) => one.callback_url === body.url))
            throw problem(409, 'Already Exists', 'Hook with this url already exists');
          const made = {
            uri: `${API}/webhook_subscriptions/${uuid()}`,
            callback_url: body.url,
            events: body.events,
            signingKey: body.signing_key,
          };
          subscriptions.push(made);
          const { signingKey: _, ...shown } = made;
          return new Answer(201, {
            resource: { ...shown, state: 'active', scope: body.scope, organization: ORGANIZATION, user: body.user },
          });
        },
        'DELETE /webhook_subscriptions/:uuid': ({ params }) => {
          const index = subscriptions.findIndex(({ uri }) => uri.endsWith(`/${params.uuid}`));
          if (index < 0) throw problem(404, 'Resource Not Found', 'The server could not find the requested resource.');
          subscriptions.splice(index, 1);
          return new Answer(204);
        },
      },
    },
    port,
  );

  const say = (event: CalendlyWebhook['event'], payload: Record<string, any>): void =>
    void outbox.push({
      event,
      created_at: new Date().toISOString(),
      created_by: USER,
      payload: structuredClone(payload),
    });
  const make = (email: string, name: string, startsAt: Date, minutes: number): CalendlyBooking => {
    const event = `${API}/scheduled_events/${uuid()}`;
    const invitee = `${event}/invitees/${uuid()}`;
    const at = new Date().toISOString();
    const payload = {
      uri: invitee,
      event,
      email,
      name,
      first_name: null,
      last_name: null,
      status: 'active',
      timezone: 'America/New_York',
      created_at: at,
      updated_at: at,
      cancel_url: `https://calendly.com/cancellations/${uuid()}`,
      reschedule_url: `https://calendly.com/reschedulings/${uuid()}`,
      rescheduled: false,
      old_invitee: null,
      new_invitee: null,
      questions_and_answers: [],
      tracking: { utm_campaign: null, utm_source: null, salesforce_uuid: null },
      scheduled_event: {
        uri: event,
        name: 'Intro call',
        status: 'active',
        start_time: startsAt.toISOString(),
        end_time: new Date(startsAt.getTime() + minutes * 60_000).toISOString(),
        event_type: `${API}/event_types/EEEEEEEEEEEEEEEE`,
        location: { type: 'zoom', status: 'pushed', join_url: 'https://zoom.example/j/1' },
      },
    };
    return { event, invitee, payload };
  };

  const double: CalendlyDouble = Object.assign(base, {
    token: randomBytes(40).toString('base64url'),
    paid: true,
    subscriptions,
    outbox,
    book({ email, name, startsAt, minutes = 30 }: { email: string; name: string; startsAt: Date; minutes?: number }) {
      const booking = make(email, name, startsAt, minutes);
      say('invitee.created', booking.payload);
      return booking;
    },
    reschedule(booking: CalendlyBooking, startsAt: Date) {
      const { email, name } = booking.payload;
      const moved = make(email, name, startsAt, 30);
      moved.payload.old_invitee = booking.invitee;
      const at = new Date().toISOString();
      Object.assign(booking.payload, {
        status: 'canceled',
        rescheduled: true,
        new_invitee: moved.invitee,
        updated_at: at,
      });
      booking.payload.cancellation = {
        canceled_by: name,
        reason: 'Another day',
        canceler_type: 'invitee',
        created_at: at,
      };
      booking.payload.scheduled_event.status = 'canceled';
      say('invitee.canceled', booking.payload);
      say('invitee.created', moved.payload);
      return moved;
    },
    cancel(booking: CalendlyBooking, reason = '') {
      const at = new Date().toISOString();
      Object.assign(booking.payload, { status: 'canceled', updated_at: at });
      booking.payload.cancellation = {
        canceled_by: booking.payload.name,
        reason,
        canceler_type: 'invitee',
        created_at: at,
      };
      booking.payload.scheduled_event.status = 'canceled';
      say('invitee.canceled', booking.payload);
    },
    async deliver(webhooks = outbox.splice(0), { at = new Date(), key }: { at?: Date; key?: string } = {}) {
      const statuses: number[] = [];
      for (const webhook of webhooks)
        for (const subscription of subscriptions.filter(({ events }) => events.includes(webhook.event))) {
          const body = JSON.stringify(webhook);
          const time = Math.floor(at.getTime() / 1_000);
          const signature = createHmac('sha256', key ?? subscription.signingKey ?? '')
            .update(`${time}.${body}`)
            .digest('hex');
          const headers: Record<string, string> = { 'content-type': 'application/json', 'user-agent': 'Calendly/1.0' };
          if (subscription.signingKey) headers['calendly-webhook-signature'] = `t=${time},v1=${signature}`;
          statuses.push((await fetch(subscription.callback_url, { method: 'POST', headers, body })).status);
        }
      return statuses;
    },
  } satisfies Omit<CalendlyDouble, keyof Double>);
  return double;
}

function problem(status: number, title: string, message: string, details?: object[]): Answer {
  return new Answer(status, { title, message, ...(details ? { details } : {}) });
}
