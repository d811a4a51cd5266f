/**
 * `npm run test:stripe-mock`: sends every request that Heron makes to Stripe to Stripe's own mock server, which refuses
 * requests that Stripe's published schema does not allow. The binary is `stripe-mock` in the path or STRIPE_MOCK (`go
 * install github.com/stripe/stripe-mock@latest`). Without it nothing is tested, which is reported, and is a failure if
 * CI is set.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import {
  chargeSaved,
  createCheckout,
  expireCheckout,
  readPayment,
  savedMethod,
} from '../../domain/billing/payments/checkout.ts';
import { openPayment } from '../../domain/billing/payments/open.ts';
import { advanceRefund } from '../../domain/billing/payments/refund.ts';
import { requestRefund } from '../../domain/billing/payments/request-refund.ts';
import { newId } from '../../lib/ids.ts';
import { startBackingServices } from '../../local/backing.ts';
import { createWorld } from '../harness/world.ts';
import { message } from '../../messages/index.ts';

/** Requests that Heron makes to Stripe, without ids. */
const EXPECTED = [
  'DELETE /v1/subscriptions/:id',
  'GET /v1/checkout/sessions/:id',
  'GET /v1/customers/:id',
  'GET /v1/invoice_payments',
  'GET /v1/payment_intents/:id',
  'GET /v1/refunds',
  'GET /v1/refunds/:id',
  'GET /v1/subscriptions/:id',
  'POST /v1/checkout/sessions',
  'POST /v1/checkout/sessions/:id/expire',
  'POST /v1/payment_intents',
  'POST /v1/refunds',
];

const binary = process.env.STRIPE_MOCK ?? 'stripe-mock';
if (spawnSync(binary, ['-version']).error) {
  console.error(
    `NOT TESTED: there is no ${binary}. go install github.com/stripe/stripe-mock@latest, or set STRIPE_MOCK.`,
  );
  process.exit(process.env.CI ? 1 : 0);
}

/** Answered requests as `METHOD /path`, with the status and the reason of a refusal. */
const answers: { call: string; status: number; why: string }[] = [];
const mock = spawn(binary, ['-http-addr', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'inherit'] });
let said = '';
mock.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
while (!/Listening for HTTP at address: .*:(\d+)/.test(said)) await sleep(50);
const mockUrl = `http://127.0.0.1:${/Listening for HTTP at address: .*:(\d+)/.exec(said)![1]}`;
const proxy = createServer((request, response) => void pass(request, response));
await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
const backing = process.env.HERON_TEST_PG
  ? undefined
  : await startBackingServices({ persistent: false, log: () => {} });
if (backing) process.env.HERON_TEST_PG = backing.databaseUrl;
const world = await createWorld({
  env: {
    STRIPE_SECRET_KEY: 'sk_test_123',
    STRIPE_WEBHOOK_SECRET: 'whsec_123',
    STRIPE_API_BASE: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  },
});
try {
  await callEverything(world.system((await world.tenant()).organizationId));
} finally {
  await world.close();
  await backing?.stop();
  proxy.close();
  proxy.closeAllConnections();
  mock.kill();
}
const made = [...new Set(answers.map(({ call }) => call))].sort();
for (const call of made) {
  const refused = answers.filter((one) => one.call === call && one.status >= 400);
  console.log(`${refused.length === 0 ? 'ok  ' : 'FAIL'}  ${call}`);
  for (const { status, why } of refused) console.log(`        ${status} ${why}`);
}
const missing = EXPECTED.filter((call) => !made.includes(call));
for (const call of missing) console.log(`FAIL  ${call} was not asked`);
for (const call of made.filter((one) => !EXPECTED.includes(one))) console.log(`FAIL  ${call} is not listed`);
const failed =
  missing.length +
  made.filter((one) => !EXPECTED.includes(one)).length +
  answers.filter(({ status }) => status >= 400).length;
console.log(`\n${made.length} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** Makes the adapter send every request, with each form of its parameters. */
async function callEverything(ctx: Ctx): Promise<void> {
  for (const interval of ['month', 'once'] as const) {
    const id = await open(ctx, interval);
    await createCheckout(ctx, id);
    await expireCheckout(ctx, id);
  }
  const charged = await open(ctx, 'once');
  const columns = {
    provider_customer_id: 'cus_1',
    provider_payment_id: 'pi_1',
    provider_subscription_id: `sub_${charged}`,
  };
  const payment = { ...(await readPayment(ctx, charged)), ...columns };
  await savedMethod(ctx, payment);
  await savedMethod(ctx, { ...payment, provider_payment_id: null, provider_subscription_id: null });
  await chargeSaved(ctx, payment, { customerId: 'cus_1', methodId: 'pm_1' });
  // Requests refunds of a payment, of a month's invoice, and of a payment whose refund was requested before.
  for (const how of [
    { provider_payment_id: `pi_${newId()}`, provider_subscription_id: `sub_${newId()}` },
    { provider_invoice_id: `in_${newId()}` },
    { provider_payment_id: `pi_${newId()}`, provider_refund_id: `re_${newId()}` },
  ]) {
    const id = await open(ctx, 'month');
    await transact(ctx, async (tx) => {
      await tx.org
        .table('payments')
        .where({ id })
        .update({ state: 'paid', paid_at: tx.now, ...how });
      await requestRefund(tx, id, 'order_cancelled');
    });
    await advanceRefund(ctx, { paymentId: id });
  }
  // Makes the requests that only follow a refusal, because the mock never refuses a valid request.
  const { stripeOf } = await import('../../domain/billing/payments/stripe.ts');
  await stripeOf(ctx).checkout.sessions.retrieve('cs_1');
}

async function open(ctx: Ctx, interval: 'month' | 'once'): Promise<string> {
  const organizationId = ctx.actor.organizationId!;
  const payment = await transact(ctx, (tx) =>
    openPayment(tx, {
      organizationId,
      subject: 'order',
      subjectId: newId(),
      amountCents: 1_900,
      currency: 'USD',
      lineItems: [
        { label: message('line.domain', { domain: 'acme.example' }), quantity: 1, unit_cents: 1_200, interval: 'once' },
        { label: message('line.mailboxes', { provider: 'google' }), quantity: 2, unit_cents: 350, interval },
      ],
    }),
  );
  return payment.id;
}

/** Forwards a request to the mock, and records its response. */
async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const headers = { ...request.headers } as Record<string, string>;
  for (const name of ['host', 'connection', 'content-length', 'transfer-encoding']) delete headers[name];
  const answer = await fetch(`${mockUrl}${request.url}`, {
    method: request.method!,
    headers,
    ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
  });
  const body = await answer.text();
  const path = request.url!.split('?')[0]!.replace(/\/(cs|sub|pi|re|cus|in)_[^/]+/, '/:id');
  answers.push({ call: `${request.method} ${path}`, status: answer.status, why: answer.ok ? '' : body.slice(0, 300) });
  response.writeHead(answer.status, { 'content-type': 'application/json' });
  response.end(body);
}
