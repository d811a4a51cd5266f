import { allOf, dataOf, type Heron } from '../../client/src/index.ts';
import { startDoubles } from '../../test/doubles/all.ts';
import { createUntil, type Result } from './chapter.ts';
import type { Prepared } from './setup.ts';
import { readLeads } from './watch.ts';

const PATIENCE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Local servers that stand for other tools of the company Northlight: a CRM, a chat and a calendar. */
export type Tools = Awaited<ReturnType<typeof startTools>>;

/** Starts the tools. `env` contains the settings by which Heron finds them. */
export async function startTools() {
  return startDoubles(['close', 'discord', 'calendly']);
}

/**
 * Fourth chapter: a reader who waits for another email books a meeting. The sequence stops, a deal is created in the
 * CRM, and the chat gets a message. Each effect happens once, although the calendar reports the meeting twice and the
 * CRM is first unreachable.
 */
export async function runIntegrations(
  { api }: Pick<Prepared, 'api'>,
  { close, discord, calendly }: Tools,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<Result[]> {
  const until = createUntil(signal, PATIENCE_MS);
  const { id: webhookId, token } = discord.webhook;
  const webhookUrl = `https://discord.com/api/webhooks/${webhookId}/${token}`;
  const crm = await connect(api, 'close', { api_key: close.keys[0] });
  const chat = await connect(api, 'discord', { webhook_url: webhookUrl });
  await connect(api, 'calendly', { api_key: calendly.token });
  await subscribe(api, crm, 'close.create_deal', { name: 'Lamps for {{.company | default .email}}', amount: '4900' });
  await subscribe(api, chat, 'discord.notify', { message: '**{{.email}}** has booked a meeting' });
  say('connected: a CRM, a chat, and a calendar, which has been asked to tell of meetings');

  const { campaignId, email } = await whoWaits(api);
  close.fail({ kind: 'broken' });
  calendly.book({ email, name: 'A reader', startsAt: new Date(Date.now() + 3 * DAY_MS) });
  const [news] = calendly.outbox.splice(0);
  const answers = await calendly.deliver([news!, news!]);
  say(`${email} has booked a meeting; the calendar tells of it twice`);
  await until('the deal and the message', async () => close.opportunities.length > 0 && discord.messages.length > 0);
  say(`"${close.opportunities[0]!.note}" is in the CRM, and the chat knows`);

  const state = async () => (await readLeads(api, campaignId)).find(({ contact }) => contact.email === email)?.status;
  await until('the end of the sequence', async () => (await state()) !== 'active');
  const { bookings } = await dataOf(api.GET('/v1/integrations/bookings'));
  return [
    [
      'a meeting that was told of twice is one meeting',
      [...differs(answers, [200, 200]), ...differs(bookings.length, 1)],
    ],
    ['its booking stopped the sequence of who booked it', differs(await state(), 'completed')],
    [
      'one deal in the CRM, with its contact, in spite of an outage there',
      [
        ...differs(
          close.opportunities.map(({ value }) => value),
          [490_000],
        ),
        ...differs(
          close.contacts.map(({ emails }) => emails[0].email),
          [email],
        ),
      ],
    ],
    [
      'one message in the chat, which mentions nobody',
      [...differs(discord.messages.length, 1), ...discord.messages.flatMap(({ pings }) => pings)],
    ],
    ['the tools had nothing to refuse', [...close.refusals, ...discord.refusals, ...calendly.refusals]],
  ];
}

async function connect(api: Heron, provider: 'close' | 'discord' | 'calendly', config: object): Promise<string> {
  const body = { provider, label: 'Northlight', config: config as Record<string, unknown> };
  return (await dataOf(api.POST('/v1/integrations/connections', { body }))).id;
}

async function subscribe(api: Heron, id: string, action: string, config: Record<string, unknown>): Promise<void> {
  const body = { event_type: 'meeting.booked', action, config };
  await dataOf(api.POST('/v1/integrations/connections/{id}/events', { params: { path: { id } }, body }));
}

/** Finds a reader of the second chapter's campaign who waits for the second email. */
async function whoWaits(api: Heron): Promise<{ campaignId: string; email: string }> {
  const campaigns = await allOf((cursor) => api.GET('/v1/campaigns', { params: { query: { limit: 50, cursor } } }));
  const { id: campaignId } = campaigns.find(({ name }) => name === 'Lamps for a bad day')!;
  const lead = (await readLeads(api, campaignId)).find(({ status }) => status === 'active');
  if (!lead) throw new Error('nobody waits for a second email');
  return { campaignId, email: lead.contact.email };
}

function differs(actual: unknown, expected: unknown): string[] {
  const [is, should] = [actual, expected].map((value) => JSON.stringify(value));
  return is === should ? [] : [`${is}, and not ${should}`];
}
