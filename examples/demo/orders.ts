import { setTimeout as sleep } from 'node:timers/promises';
import { allOf, createHeron, dataOf, type Heron } from '../../client/src/index.ts';
import { MARKS } from './campaign.ts';
import { compare, createUntil, type Result } from './chapter.ts';
import type { Shop } from './shop.ts';
import type { World } from './world.ts';

const DOMAIN = 'northlight-lamps.com';
export const READER = 'vera@windows.example';
const PATIENCE_MS = 90_000;

interface OrderOptions {
  apiUrl: string;
  /** Session of the owner, who buys the mailbox. */
  sessionToken: string;
  shop: Shop;
}

/**
 * Fifth chapter: the owner buys a mailbox on a new domain. The provider creates the mailbox after the payment, and the
 * first email is sent from it. A workspace without a plan may have ten mailboxes, so one of the others is removed
 * first.
 */
export async function runOrder(
  { apiUrl, sessionToken, shop }: OrderOptions,
  world: World,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<Result[]> {
  const until = createUntil(signal, PATIENCE_MS);
  const { sandbox, stripe } = shop;
  stripe.sendTo(`${apiUrl}/payments/stripe/events`);
  const person = createHeron({ baseUrl: apiUrl, key: sessionToken });
  await makeRoom(person, say);
  const quote = await dataOf(
    person.POST('/v1/mailboxes/provision/quote', {
      body: { provider: 'google', count: 1, domain: DOMAIN, warmup: false },
    }),
  );
  const order = await dataOf(
    person.POST('/v1/mailboxes/provision', {
      params: { header: { 'Idempotency-Key': 'demo-order' } },
      body: { quote_id: quote.quote_id },
    }),
  );
  if (!('provisioning_id' in order)) throw new Error('the order of a person waits for nobody');
  const price = quote.total_due_today_cents;
  say(`a mailbox at ${DOMAIN} is ordered for ${(price / 100).toFixed(2)} ${quote.currency}`);
  const read = () =>
    dataOf(person.GET('/v1/mailbox-provisioning/{id}', { params: { path: { id: order.provisioning_id } } }));
  const page = await until('the checkout', async () => (await read()).checkout_url ?? undefined);
  const early = sandbox.effects.length;
  await fetch(page, { method: 'POST', signal });
  say('paid on the page of the payment provider');
  await until('the mailbox', async () => (await read()).status === 'ready');
  const made = sandbox.effects.map(({ operation }) => operation);
  say(`the provider has done ${made.join(', ')}; the mailbox is connected`);

  const mailbox = (await mailboxesOf(person)).find(({ email }) => email.endsWith(`@${DOMAIN}`))!;
  await dataOf(
    person.POST('/v1/emails/{id}/send', {
      params: { path: { id: mailbox.id } },
      body: { to: [READER], subject: 'A lamp from our new address', body_plain: `Hello Vera.\n\n${MARKS.hello}?` },
    }),
  );
  await until('the email', async () => world.emailsTo([READER]).length > 0);
  await sleep(1_000, undefined, { signal });
  const arrived = world.emailsTo([READER]).map(({ from, to }) => `${from} to ${to}`);
  say(`its first email has arrived: ${arrived.join(', ')}`);
  return [
    ['nothing was bought before it was paid', early === 0 ? [] : [`${early} things`]],
    ['what was ordered was made, each once', compare(made, ['domains/register', 'mailboxes/create', 'domains/dns'])],
    ['the money that was taken is the price', stripe.balance === price ? [] : [`${stripe.balance} of ${price}`]],
    ['the first email left the new mailbox once', compare(arrived, [`${mailbox.email} to ${READER}`])],
  ];
}

async function makeRoom(person: Heron, say: (line: string) => void): Promise<void> {
  const { remaining } = await dataOf(person.GET('/v1/emails/allowance'));
  if (remaining === null || remaining > 0) return;
  const spent = (await mailboxesOf(person)).find(({ hold }) => hold) ?? (await mailboxesOf(person))[0]!;
  await dataOf(person.DELETE('/v1/emails/{id}', { params: { path: { id: spent.id } } }));
  say(`${spent.email} is taken out, to make room for another`);
}

function mailboxesOf(person: Heron) {
  return allOf((cursor) => person.GET('/v1/emails', { params: { query: { limit: 50, cursor } } }));
}
