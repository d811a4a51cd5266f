import { allOf, dataOf, type Heron } from '../../client/src/index.ts';
import { MARKS } from './campaign.ts';
import { compare, createUntil, type Result } from './chapter.ts';
import { replyTo } from './emails.ts';
import type { Contact, Prepared } from './setup.ts';
import { readLeads } from './watch.ts';
import type { Email, World } from './world.ts';

const PATIENCE_MS = 120_000;
/** Danish opt-out, typed without å, æ and ø. */
const REPLY = 'Lad vaere med at skrive til mig igen.\n\nVenlig hilsen\nFreja';

/**
 * Second chapter: the mail server is unreachable when the campaign starts, and one mailbox has reached its provider's
 * limit. The only reply is an opt-out in Danish without accents. No recipient may miss an email.
 */
export async function runTrouble(
  { api, readers, troubleMailboxIds }: Pick<Prepared, 'api' | 'readers' | 'troubleMailboxIds'>,
  world: World,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<Result[]> {
  const until = createUntil(signal, PATIENCE_MS);
  const tired = await dataOf(api.GET('/v1/emails/{id}', { params: { path: { id: troubleMailboxIds[0]! } } }));
  const suppressedBefore = await suppressed(api);

  world.outage.begin();
  world.limit(tired.email);
  const campaignId = await start(api, readers, troubleMailboxIds);
  say(`a second campaign, to ${readers.length} others; the mail server is away, and ${tired.email} is at its limit`);
  await until('an attempt at the absent server', async () => world.outage.attempts > 0);
  world.outage.end();
  say(`the mail server is back after ${world.outage.attempts} attempts`);

  const arrived = (): readonly Email[] => world.emailsTo(readers.map(({ email }) => email));
  await until('every email', async () => arrived().length >= readers.length);
  say(`${arrived().length} emails have arrived`);
  const received = arrived()[0]!;
  world.answer(received.from, await replyTo(received, REPLY));
  const answered = await until('the Danish answer', async () =>
    (await readLeads(api, campaignId)).find(
      ({ contact, status }) => contact.email === received.to && status === 'unsubscribed',
    ),
  );
  const threads = await dataOf(api.GET('/v1/unibox', { params: { query: { limit: 20 } } }));
  const kind = threads.data.find((thread) => thread.campaign_id === campaignId)?.answer?.kind ?? 'none';
  say(`${answered.contact.email} has answered in Danish: ${kind}`);

  const { hold } = await dataOf(api.GET('/v1/emails/{id}', { params: { path: { id: tired.id } } }));
  const held = hold?.code ?? 'none';
  const states = await readLeads(api, campaignId);
  return [
    [
      'the mailbox at its limit rests, and sends nothing',
      [
        ...(held === 'sending_limit' ? [] : [`its hold is ${held}`]),
        ...arrived()
          .filter(({ from }) => from === tired.email)
          .map(({ to }) => `it sent to ${to}`),
      ],
    ],
    [
      'every reader got the email once, in spite of the outage',
      compare(
        arrived().map(({ to }) => to),
        readers.map(({ email }) => email),
      ),
    ],
    [
      'no reader was given up or suppressed for a fault of the servers',
      [
        ...states
          .filter(({ contact, status }) => !['active', 'completed'].includes(status) && contact.email !== received.to)
          .map(({ contact, status }) => `${contact.email} is ${status}`),
        ...compare(
          (await suppressed(api)).filter((email) => email !== received.to),
          suppressedBefore,
        ),
      ],
    ],
    [
      'who asked to stop in Danish is suppressed',
      [
        ...(kind === 'opt_out' ? [] : [`the answer is read as ${kind}`]),
        ...((await suppressed(api)).includes(received.to) ? [] : [`${received.to} is not suppressed`]),
      ],
    ],
  ];
}

async function start(api: Heron, readers: readonly Contact[], mailboxIds: readonly string[]): Promise<string> {
  const { id } = await dataOf(
    api.POST('/v1/campaigns', {
      body: {
        name: 'Lamps for a bad day',
        sender_strategy: 'explicit',
        schedule_windows: Array.from({ length: 7 }, () => [{ start: 0, end: 1440 }]),
        daily_limit: 1_000,
        stop_on_reply: true,
        steps: [
          {
            name: 'hello',
            subject: 'About {{.Company | default "your company"}}',
            body_plain: `Hello {{.FirstName | default "there"}}.\n\n${MARKS.hello}?`,
          },
          { name: 'later', body_plain: 'Just so that it does not get lost.', wait_after: 3 },
        ],
      },
    }),
  );
  const here = { params: { path: { id } } };
  const senders = mailboxIds.map((mailboxId) => ({ email_account_id: mailboxId }));
  await dataOf(api.PUT('/v1/campaigns/{id}/senders', { ...here, body: { senders } }));
  const contactIds = readers.map((reader) => reader.id);
  await dataOf(api.POST('/v1/campaigns/{id}/leads', { ...here, body: { contact_ids: contactIds } }));
  await dataOf(api.POST('/v1/campaigns/{id}/start', { ...here, body: {} }));
  return id;
}

async function suppressed(api: Heron): Promise<string[]> {
  const entries = await allOf((cursor) => api.GET('/v1/suppressions', { params: { query: { limit: 200, cursor } } }));
  return entries.map(({ email }) => email);
}
