import { dataOf, type Heron } from '../../client/src/index.ts';
import { EVENT, SHOP, WAIT_STEP } from './campaign.ts';
import { createUntil } from './chapter.ts';
import type { Diary } from './diary.ts';
import { awayReply, deliveryReport, replyTo } from './emails.ts';
import { readLeads } from './watch.ts';
import type { Email, World } from './world.ts';

/** Dependencies of an act. `draw` returns a number from 0 to 1 that depends only on the person and the given text. */
export interface Scene {
  world: World;
  api: Heron;
  diary: Diary;
  campaignId: string;
  draw: (question: string) => number;
}

/** Action of a recipient on an email, performed some time (ms, from and to) after its arrival. */
export interface Act {
  name: string;
  after: readonly [number, number];
  /**
   * Performs the action and resolves when it is recorded in the diary. Throws if the product did not respond as
   * expected.
   */
  perform: (email: Email, scene: Scene) => Promise<void>;
}

const MAIL_PROGRAMS = [
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Thunderbird/128.4.0',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
];
/** User agents of Apple's and Gmail's proxies, which fetch images before a person opens the email. */
const PROXIES = [
  'Mozilla/5.0',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0',
];
const SCANNER = 'Mozilla/5.0 (compatible; BarracudaSentinel/1.0)';
const REPLIES = [
  'Sounds good, let us talk next week.',
  'Yes, please send me the details.',
  'What would forty desks cost?',
  'Thanks, but not interested.',
];
const AWAY_DAYS = 10;
const WAIT_OPENS_MS = 20_000;
const DAY_MS = 86_400_000;

type Range = readonly [number, number];
const act =
  (name: string, perform: Act['perform']) =>
  (after: Range): Act => ({ name, after, perform });

/** Actions of recipients, as used by the {@link Role}s. */
export const acts = {
  open: act('opens', async (email, { diary, draw }) => {
    await fetchPixel(email, pick(MAIL_PROGRAMS, draw('program')));
    diary.write('opened', email);
  }),
  openByProxy: act('is opened by a proxy', async (email, { diary, draw }) => {
    await fetchPixel(email, pick(PROXIES, draw('proxy')));
    diary.write('machine_opened', email);
  }),
  click: act('clicks', async (email, { diary, draw }) => {
    await follow(email, pick(MAIL_PROGRAMS, draw('program')));
    diary.write('clicked', email);
  }),
  scan: act('is scanned', async (email, { diary }) => {
    await follow(email, SCANNER);
    diary.write('machine_clicked', email);
  }),
  reply: act('replies', async (email, { world, diary, draw }) => {
    world.answer(email.from, await replyTo(email, pick(REPLIES, draw('words'))));
    diary.write('replied', email);
  }),
  awayReply: act('is away', async (email, { world, diary }) => {
    const back = new Date(email.at.getTime() + AWAY_DAYS * DAY_MS);
    world.answer(email.from, await awayReply(email, back));
    diary.write('away', email, back.toISOString().slice(0, 10));
  }),
  reportUndeliverable: act('bounces', async (email, { world, diary }) => {
    world.answer(email.from, deliveryReport(email));
    diary.write('bounced', email);
  }),
  unsubscribe: act('unsubscribes', async (email, { diary }) => {
    expect(email.oneClick, 'the email has no List-Unsubscribe header');
    // Sends the request of a mail program's unsubscribe button (RFC 8058), without confirmation, cookies or redirects.
    const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
    const response = await fetch(email.oneClick!, { method: 'POST', body, redirect: 'manual' });
    expect(response.status === 200, `one-click unsubscribe answered ${response.status}`);
    diary.write('unsubscribed', email);
  }),
  buy: act('buys', async (email, { api, diary, draw, campaignId }) => {
    // Waits first, because the campaign ignores an event of a contact that does not wait for it yet. A quick reader may
    // receive the offer before the wait begins.
    await untilWaiting(api, campaignId, email.to);
    // The shop reports the order to Heron. The report includes the shop's order number, so that a repeated report
    // cannot count twice.
    const number = `N-${String(Math.floor(draw('order') * 1e9)).padStart(9, '0')}`;
    const body = { name: EVENT, email: email.to, data: { number, amount_cents: 4_900 } };
    const params = { header: { 'Idempotency-Key': number } };
    const { matched_waits: waits } = await dataOf(api.POST('/v1/events', { body, params }));
    diary.write('bought', email, number);
    expect(waits === 1, `the event of ${email.to} matched ${waits} waits`);
  }),
};

async function untilWaiting(api: Heron, campaignId: string, email: string): Promise<void> {
  const until = createUntil(AbortSignal.timeout(WAIT_OPENS_MS), WAIT_OPENS_MS);
  await until(`the wait of ${email}`, async () =>
    (await readLeads(api, campaignId)).some(
      (lead) => lead.contact.email === email && lead.current_step === WAIT_STEP && lead.waiting_for !== null,
    ),
  );
}

async function fetchPixel(email: Email, agent: string): Promise<void> {
  expect(email.pixel, 'the email has no open-tracking image');
  const response = await fetch(email.pixel!, { headers: { 'User-Agent': agent } });
  await response.arrayBuffer();
  expect(response.ok && response.headers.get('content-type') === 'image/gif', `the image answered ${response.status}`);
}

async function follow(email: Email, agent: string): Promise<void> {
  const [link] = email.links;
  expect(link, 'the email has no link');
  const response = await fetch(link!, { headers: { 'User-Agent': agent }, redirect: 'manual' });
  const target = response.headers.get('location') ?? '';
  expect(response.status === 302 && target.startsWith(SHOP), `the link answered ${response.status}, to ${target}`);
}

function expect(condition: unknown, otherwise: string): void {
  if (!condition) throw new Error(otherwise);
}

function pick<T>(list: readonly T[], share: number): T {
  return list[Math.floor(share * list.length)]!;
}
