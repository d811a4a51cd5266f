import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { listenHttp, type Listening } from '../../lib/listen.ts';
import { verifySignature } from '../../lib/signature.ts';
import { messageIdOf, type MailWorld, type MailWorldMailbox, type ReceivedMessage } from './mail-record.ts';
import { EVENT_NAME, MARKS, type Person } from './people.ts';

/** Call that the app received. */
interface AppCall {
  eventId: string;
  email: string;
  runId: string;
  signed: boolean;
  status: number;
}

/** Event that was reported from outside, with all its requests. */
interface Publication {
  key: string;
  email: string;
  contactId: string;
  /** Requests sent, answered or not. */
  requests: number;
  /** Event id from the 202 response. */
  eventId: string;
  matchedWaits: number;
  runIds: string[];
}

/**
 * All systems outside the platform: mail servers, the customer's app, people. They run in this process and are never
 * killed.
 */
export interface Outside {
  appUrl: string;
  /** Sets the secret with which the app verifies signatures. */
  trust(secret: string): void;
  /** Makes the IMAP server of a mailbox keep copies of sent emails if `keepsSent` is true. */
  watch(box: MailWorldMailbox, options: { keepsSent: boolean }): void;
  /** Makes people answer emails and use the product from now on. */
  bringToLife(people: readonly Person[], api: { url: string; key: string }): void;
  calls: AppCall[];
  publications: Publication[];
  /** Contacts that have replied. */
  replied: Set<string>;
  /** Number of event reports in progress. */
  readonly busy: number;
  stop(): Promise<void>;
}

/** Starts the app. People act only after `bringToLife`. */
export async function startOutside(mail: MailWorld): Promise<Outside> {
  const calls: AppCall[] = [];
  const publications: Publication[] = [];
  const replied = new Set<string>();
  const boxes = new Map<string, { box: MailWorldMailbox; keepsSent: boolean }>();
  const people = new Map<string, Person>();
  const failures = new Map<string, number>();
  const reporting = new Set<string>();
  let secret = '';
  let api = { url: '', key: '' };
  let stopped = false;
  let busy = 0;

  const app: Listening = await listenHttp((request, response) => void answerCall(request, response), '127.0.0.1', 0);

  const answerCall = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks);
    const body = JSON.parse(raw.toString()) as { run_id: string; inputs: { email: string } };
    const eventId = String(request.headers['x-service-event-id']);
    const someone = people.get(body.inputs.email);
    const failed = failures.get(eventId) ?? 0;
    const status = someone && failed < someone.appFailures ? 503 : 200;
    if (status === 503) failures.set(eventId, failed + 1);
    const signed = verifySignature(String(request.headers['x-service-signature']), secret, raw, { now: new Date() });
    calls.push({ eventId, email: body.inputs.email, runId: body.run_id, signed, status });
    if (someone) await sleep(someone.appDelayMs);
    if (status === 200 && someone?.behaviour === 'event' && !reporting.has(someone.email)) {
      reporting.add(someone.email);
      void report(someone);
    }
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(status === 200 ? { code: someone?.code ?? 'nobody' } : {}));
  };

  const report = async (someone: Person): Promise<void> => {
    busy += 1;
    try {
      // The product knows nothing about waits. It reports its event once, even if the contact does not wait for it yet.
      await sleep(someone.eventDelayMs);
      const publication = await publish(someone, someone.email);
      if (publication) publications.push(publication);
    } finally {
      busy -= 1;
    }
  };

  const publish = async (someone: Person, key: string): Promise<Publication | undefined> => {
    for (let requests = 1; !stopped; requests += 1) {
      const answer = await fetch(`${api.url}/v1/events`, {
        method: 'POST',
        headers: { authorization: `Bearer ${api.key}`, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({ name: EVENT_NAME, email: someone.email, data: { order: key } }),
        signal: AbortSignal.timeout(5_000),
      }).then(
        async (response) => ({ status: response.status, body: (await response.json()) as Record<string, any> }),
        () => undefined,
      );
      if (answer?.status === 202) {
        const { event_id: eventId, matched_waits: matchedWaits, matched_runs: runs } = answer.body;
        return {
          key,
          email: someone.email,
          contactId: someone.contactId,
          requests,
          eventId,
          matchedWaits,
          runIds: runs.map((run: { run_id: string }) => run.run_id),
        };
      }
      if (answer && answer.status < 500 && answer.status !== 409)
        throw new Error(`POST /v1/events answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      await sleep(250);
    }
    return undefined;
  };

  const unsubscribe = mail.onMessage((message) => {
    const from = boxes.get(message.user);
    if (!from) return;
    if (from.keepsSent) from.box.deliver(message.raw, 'Sent');
    const someone = people.get(message.envelope.to[0]!);
    if (someone?.behaviour !== 'reply' || replied.has(someone.email) || !message.raw.includes(MARKS[0])) return;
    replied.add(someone.email);
    from.box.deliver(replyTo(message, someone));
  });

  return {
    appUrl: app.url,
    trust: (value) => void (secret = value),
    watch: (box, options) => void boxes.set(box.email, { box, ...options }),
    bringToLife(list, target) {
      api = target;
      for (const someone of list) people.set(someone.email, someone);
    },
    calls,
    publications,
    replied,
    get busy() {
      return busy;
    },
    async stop() {
      stopped = true;
      unsubscribe();
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

function replyTo(message: ReceivedMessage, { email }: Person): string {
  const original = messageIdOf(message);
  return [
    `From: ${email}`,
    `To: ${message.user}`,
    'Subject: Re: Hello',
    `Date: ${new Date().toUTCString()}`,
    `Message-ID: <reply-${email}>`,
    `In-Reply-To: ${original}`,
    `References: ${original}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Thank you, please call me tomorrow.',
    '',
  ].join('\r\n');
}
