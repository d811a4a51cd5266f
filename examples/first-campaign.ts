/**
 * A first campaign against a running Heron (`npm start`), with the mail servers of `npm run mailbox`: from a mailbox to
 * a reply.
 * docs/tutorials/first-campaign.md explains it; every piece of code there is a piece of this file.
 * HERON_URL, HERON_API_KEY     URL of Heron and the credential
 * MAILBOX_URL                  page of `npm run mailbox`, if it is not at its usual address
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { allOf, createHeron, dataOf, executedOf } from '../client/src/index.ts';

const { HERON_URL = 'http://127.0.0.1:8080', HERON_API_KEY, MAILBOX_URL = 'http://127.0.0.1:8025' } = process.env;
if (!HERON_API_KEY)
  throw new Error('Set HERON_API_KEY: the setup page shows one, and `npm run heron -- bootstrap` makes one.');
const heron = createHeron({ baseUrl: HERON_URL, key: HERON_API_KEY });

/** Connects the mailbox of `npm run mailbox`, unless it is already connected. */
async function connectMailbox(): Promise<string> {
  const address = 'you@heron.test';
  const known = await allOf((cursor) => heron.GET('/v1/emails', { params: { query: { cursor } } }));
  const found = known.find(({ email }) => email === address);
  if (found) return found.id;
  const signIn = { host: '127.0.0.1', username: address, password: 'heron', security: 'none' as const };
  const { id } = await dataOf(
    heron.POST('/v1/emails', {
      body: {
        provider: 'smtp_imap',
        email: address,
        name: 'You',
        smtp: { ...signIn, port: Number(process.env.MAILBOX_SMTP_PORT ?? 2525) },
        imap: { ...signIn, port: Number(process.env.MAILBOX_IMAP_PORT ?? 1143) },
        min_wait_time: 0,
      },
    }),
  );
  return id;
}

const mailboxId = await connectMailbox();
const [grace] = await executedOf(
  heron.POST('/v1/contacts', {
    body: [{ email: 'grace@example.com', first_name: 'Grace', company: 'Harbour Cranes' }],
  }),
);

const anyMinute = Array.from({ length: 7 }, () => [{ start: 0, end: 1440 }]);
const campaign = await dataOf(
  heron.POST('/v1/campaigns', {
    body: {
      name: 'First campaign, in TypeScript',
      sender_strategy: 'explicit',
      schedule_windows: anyMinute,
      stop_on_reply: true,
      steps: [
        {
          name: 'hello',
          subject: 'A question about {{.Company}}',
          body_plain: 'Hello {{.FirstName}},\n\nwho looks after the lights at {{.Company}}?\n\nBest regards',
        },
        { name: 'follow-up', body_plain: 'Hello {{.FirstName}}, have you had a moment?', wait_after: 3 },
      ],
    },
  }),
);
const here = { params: { path: { id: campaign.id } } };
await dataOf(
  heron.PUT('/v1/campaigns/{id}/senders', { ...here, body: { senders: [{ email_account_id: mailboxId }] } }),
);
await dataOf(heron.POST('/v1/campaigns/{id}/leads', { ...here, body: { contact_ids: [grace!.id] } }));
await dataOf(heron.POST('/v1/campaigns/{id}/start', { ...here, body: {} }));
console.log('Started. Waiting for the email.');

interface Email {
  id: number;
  to: string;
  subject: string;
  answers: string[];
}
const email = await until('the email', async () => {
  const emails = (await (await fetch(`${MAILBOX_URL}/emails.json`)).json()) as Email[];
  return emails.find(({ to, answers }) => to === 'grace@example.com' && answers.length === 0);
});
console.log(`"${email.subject}" has arrived. Grace answers.`);
await fetch(`${MAILBOX_URL}/emails/${email.id}/reply`, {
  method: 'POST',
  body: new URLSearchParams({ text: 'I do. Call me on Thursday?' }),
});

const lead = await until('the reply', async () => {
  const { data } = await dataOf(heron.GET('/v1/campaigns/{id}/leads', here));
  return data.find(({ status }) => status === 'replied');
});
console.log(`Grace is ${lead.status}: no follow-up goes to her.`);

/** Polls until there is a result, for at most two minutes. */
async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  for (let waitedMs = 0; waitedMs < 120_000; waitedMs += 500) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(500);
  }
  throw new Error(`No sign of ${what} after two minutes.`);
}
