import test from 'ava';
import { createPolicy } from '../../../test/harness/approvals.ts';
import {
  createOrderWorld,
  freshDomain,
  openOrderDesk,
  type OrderDesk,
  type OrderWorld,
} from '../../../test/harness/mailbox-orders.ts';
import { assertStatus, call, createWorld } from '../../../test/harness/world.ts';
import { message } from '../../../messages/index.ts';

let orders: OrderWorld;
test.before(async () => {
  orders = await createOrderWorld();
});
test.after.always(() => orders?.close());

const decide = (desk: OrderDesk, id: string, decision: string) =>
  desk.call('POST', `/approvals/${id}/decision`, { decision });
const MINUTE_MS = 60_000;
/** Moves all times of a quote `minutes` into the past. */
async function age(quoteId: string, minutes: number): Promise<void> {
  const { db } = orders.world.deps;
  const earlier = (column: string) => db.raw(`${column} - make_interval(mins => ?)`, [minutes]);
  await db('mailbox_quotes')
    .where({ id: quoteId })
    .update({ created_at: earlier('created_at'), expires_at: earlier('expires_at') });
  await db('approvals')
    .whereIn('subject_id', db('mailbox_quotes').where({ id: quoteId }).select('order_id'))
    .update({ created_at: earlier('created_at'), expires_at: earlier('expires_at') });
}

test.serial('the providers have the prices of the moment', async (t) => {
  const desk = await openOrderDesk(orders);
  const { status, body } = await desk.call('GET', '/mailboxes/provision/providers');
  t.is(status, 200);
  t.deepEqual(body.data[0], {
    provider: 'google',
    name: 'Google Workspace',
    currency: 'usd',
    mailbox_monthly_cents: 350,
    warmup_monthly_cents: 200,
    max_mailboxes: 50,
  });
});

test.serial(
  'a quote: mailboxes spread over domains, addresses from names, live prices, good for 15 minutes; it buys nothing',
  async (t) => {
    const desk = await openOrderDesk(orders);
    const [first, second] = [freshDomain(), freshDomain()];
    const names = [
      { first_name: 'Ana', last_name: 'Núñez' },
      { first_name: 'Bo', last_name: '' },
    ];
    const before = orders.sandbox.effects.length;
    const { status, body } = await desk.quote({
      domain: undefined,
      domains: [first.toUpperCase(), second],
      count: 5,
      warmup: true,
      names,
    });
    t.is(status, 200, JSON.stringify(body));
    t.like(body, {
      provider: 'google',
      count: 5,
      domain: first,
      domain_registration: true,
      warmup: true,
      currency: 'usd',
      mailbox_monthly_cents: 1_750,
      warmup_monthly_cents: 1_000,
      domain_cents: 2_400,
      total_monthly_cents: 2_750,
      total_due_today_cents: 5_150,
    });
    t.deepEqual(
      body.domains.map((one: { domain: string; mailboxes: number }) => [one.domain, one.mailboxes]),
      [
        [first, 3],
        [second, 2],
      ],
    );
    t.deepEqual(
      body.mailboxes.map((one: { email: string }) => one.email),
      [`ana.nunez@${first}`, `bo@${first}`, `ana@${first}`, `bo@${second}`, `ana.nunez@${second}`],
    );
    const { created_at: at } = await orders.world.deps.db('mailbox_quotes').where({ id: body.quote_id }).first();
    t.is(Date.parse(body.expires_at) - at.getTime(), 15 * MINUTE_MS);
    t.is(
      body.line_items.reduce((sum: number, one: { total_cents: number }) => sum + one.total_cents, 0),
      5_150,
    );
    t.is(orders.sandbox.effects.length, before, 'nothing was bought');
  },
);

test.serial(
  'the checkout returns to a page of the installation, also after an approval, and to no other',
  async (t) => {
    const desk = await openOrderDesk(orders);
    const ours = `${new URL(orders.world.deps.config.APP_URL).origin}/mailboxes`;
    const order = async (returnUrl: string, token?: string) => {
      const { body } = await desk.quote({}, token);
      const request = { quote_id: body.quote_id, return_url: returnUrl };
      return desk.call('POST', '/mailboxes/provision', request, token);
    };
    for (const url of ['https://else.test/', ours.replace(/:\d+/, ':9')]) {
      const refused = await order(url);
      t.deepEqual([refused.status, refused.body.code], [400, 'redirect_not_allowed'], url);
      t.is(refused.body.problems[0].path, 'body.return_url');
    }
    t.is((await order('javascript:alert(1)')).body.problems[0].path, 'body.return_url');
    const returns = async (orderId: string) =>
      (await orders.world.deps.db('payments').where({ subject_id: orderId }).first('return_url'))!.return_url;
    const placed = await order(ours);
    assertStatus(t, placed, 202);
    t.is(await returns(placed.body.provisioning_id), ours);
    const { apiKey } = desk.tenant;
    await createPolicy(orders.world.deps, desk.tenant, { max_monthly_mailbox_spend_cents: 1 });
    const held = await order(ours, apiKey);
    await decide(desk, held.body.approval_id, 'approved');
    const quoted = orders.world.deps.db('mailbox_quotes').where({ organization_id: desk.tenant.organizationId });
    for (const { order_id: id } of await quoted.whereNotNull('consumed_at')) t.is(await returns(id), ours);
  },
);

test.serial('a quote names every fault, with the code of the first', async (t) => {
  const desk = await openOrderDesk(orders);
  const taken = freshDomain();
  orders.sandbox.foreign.add(taken);
  const code = async (body: Record<string, unknown>) => {
    const answer = await desk.quote(body);
    t.true(answer.body.problems.length > 0 && answer.status === 400, answer.text);
    return [answer.body.code, ...answer.body.problems.map((one: { path: string }) => one.path)];
  };
  t.deepEqual(await code({ provider: 'yahoo' }), ['provision_provider_invalid', 'body.provider']);
  t.deepEqual(await code({ count: 0 }), ['provision_count_invalid', 'body.count']);
  t.deepEqual(await code({ count: 51 }), ['provision_count_invalid', 'body.count']);
  for (const domain of ['', 'localhost', 'mail.example.com', 'exa mple.com', 'https://example.com', '10.0.0.1', 'com'])
    t.deepEqual(await code({ domain }), ['provision_domain_invalid', 'body.domain'], domain);
  t.deepEqual(await code({ domain: undefined }), ['provision_domain_invalid', 'body.domain']);
  t.deepEqual(await code({ domains: [freshDomain()] }), ['provision_domains_invalid', 'body.domains']);
  const three = [freshDomain(), freshDomain(), freshDomain()];
  t.deepEqual(await code({ domain: undefined, domains: three }), ['provision_domains_invalid', 'body.domains']);
  t.deepEqual(await code({ domain: undefined, domains: [three[0], three[0]] }), [
    'provision_domains_invalid',
    'body.domains.1',
  ]);
  t.deepEqual(await code({ domain: taken }), ['domain_unavailable', 'body.domain']);
  t.deepEqual(await code({ provider: 'x', count: 0, domain: undefined, domains: ['no', taken] }), [
    'provision_provider_invalid',
    'body.provider',
    'body.domains.0',
    'body.count',
    'body.domains.1',
  ]);
});

test.serial('a provider that does not answer: 503, and nothing is kept', async (t) => {
  const desk = await openOrderDesk(orders);
  orders.sandbox.behave({ does: 'fail', operation: 'domains/check' });
  const answer = await desk.quote();
  t.like(answer, { status: 503, body: { code: 'mailbox_provisioning_failed' } });
  assertStatus(t, await desk.quote(), 200);
});

test.serial('a signed-in person orders a quote once; another has none of it', async (t) => {
  const desk = await openOrderDesk(orders);
  const { quote_id: id } = (await desk.quote({ warmup: true })).body;
  const ordered = await desk.order(id);
  assertStatus(t, ordered, 202);
  t.like(ordered.body, { status: 'awaiting_payment', quote_id: id, mailboxes_requested: 2, needs_person: false });
  t.like((await desk.order(id)).body, { code: 'quote_consumed' });
  assertStatus(t, await desk.order(id), 409);
  const other = await openOrderDesk(orders);
  t.like((await other.order(id)).body, { code: 'quote_not_found' });
  assertStatus(t, await other.order('nonsense'), 404);
  t.is(await desk.payment(ordered.body.provisioning_id), 'open');
  const { data } = (await desk.call('GET', '/mailbox-provisioning')).body;
  t.is(data[0].provisioning_id, ordered.body.provisioning_id);
  t.deepEqual(await desk.events(ordered.body.provisioning_id), ['awaiting_payment']);
});

test.serial('an order that is ready leads to its mailboxes, with every step done', async (t) => {
  const desk = await openOrderDesk(orders);
  const id = await desk.place();
  await desk.pay(id);
  await desk.drive(id);
  const { status, body, text } = await desk.call('GET', `/mailbox-provisioning/${id}`);
  t.is(status, 200, text);
  t.like(body, { provisioning_id: id, status: 'ready', needs_person: false });
  t.deepEqual(new Set(body.steps.map(({ status: of }: { status: string }) => of)), new Set(['done']));
  for (const { email, email_account_id: mailboxId } of body.mailboxes)
    t.is((await desk.call('GET', `/emails/${mailboxId}`)).body.email, email);
});

test.serial('two requests with one quote, at once, with different keys: one order', async (t) => {
  const desk = await openOrderDesk(orders);
  const { quote_id: id } = (await desk.quote()).body;
  const answers = await Promise.all([desk.order(id), desk.order(id), desk.order(id)]);
  t.deepEqual(answers.map(({ status }) => status).sort(), [202, 409, 409]);
});

test.serial('the same Idempotency-Key gives the same order; without one it is refused', async (t) => {
  const desk = await openOrderDesk(orders);
  const { quote_id: id } = (await desk.quote()).body;
  const send = (headers: Record<string, string>) =>
    call(orders.world, 'POST', '/v1/mailboxes/provision', {
      token: desk.tenant.sessionToken,
      body: { quote_id: id },
      headers,
    });
  const [first, again] = [await send({ 'idempotency-key': 'one' }), await send({ 'idempotency-key': 'one' })];
  assertStatus(t, first, 202);
  t.is(again.text, first.text);
  assertStatus(t, await send({}), 400);
});

test.serial('a quote older than 15 minutes is refused', async (t) => {
  const desk = await openOrderDesk(orders);
  const { quote_id: id } = (await desk.quote()).body;
  await age(id, 15);
  t.like(await desk.order(id), { status: 409, body: { code: 'quote_expired' } });
});

test.serial(
  'a key within its policy orders; above its spend, without one and without a cap a person decides',
  async (t) => {
    const desk = await openOrderDesk(orders);
    const { apiKey } = desk.tenant;
    const policyId = await createPolicy(orders.world.deps, desk.tenant, { max_monthly_mailbox_spend_cents: 700 });
    const within = await desk.order((await desk.quote({}, apiKey)).body.quote_id, apiKey);
    t.like(within.body, { status: 'awaiting_payment' }, within.text);
    const above = await desk.order((await desk.quote({ count: 3 }, apiKey)).body.quote_id, apiKey);
    assertStatus(t, above, 202);
    t.like(above.body, { result: 'awaiting_approval' });
    t.regex(above.body.reasons[0], /costs 1,050 cents a month; the policy allows 700/);
    await orders.world.deps
      .db('agent_policies')
      .where({ id: policyId })
      .update({ max_monthly_mailbox_spend_cents: null });
    const uncapped = await desk.order((await desk.quote({}, apiKey)).body.quote_id, apiKey);
    t.regex(uncapped.body.reasons[0], /a person approves every order/);
  },
);

test.serial(
  'approved: the order is made, once, also from a quote older than 15 minutes by then; denied: it is not',
  async (t) => {
    const desk = await openOrderDesk(orders);
    const { apiKey } = desk.tenant;
    const { quote_id: id } = (await desk.quote({}, apiKey)).body;
    const held = await desk.order(id, apiKey);
    t.like(held.body, { result: 'awaiting_approval' }, held.text);
    t.is(held.body.approval_url, `${orders.world.deps.config.APP_URL}/approvals/${held.body.approval_id}`);
    t.is((await desk.order(id, apiKey)).body.approval_id, held.body.approval_id, 'asked again');
    const shown = (await desk.call('GET', '/approvals')).body.data[0];
    t.like(shown, { action_type: 'mailbox.provision', subject_type: 'mailbox_order' });
    t.like(shown.payload.details, { monthly: message('price.monthly', { price: '7.00 USD' }), due_today: '19.00 USD' });
    await age(id, 20);
    const decided = await decide(desk, held.body.approval_id, 'approved');
    assertStatus(t, decided, 200);
    t.is(decided.body.status, 'executed', 'the approval makes the order');
    const ordered = await orders.world.deps.db('mailbox_orders').where({ id: shown.subject_id }).first();
    t.like(ordered, { actor_kind: 'api_key', api_key_id: desk.tenant.apiKeyId, user_id: desk.tenant.userId });
    const passed = await desk.order(id, apiKey);
    assertStatus(t, passed, 202);
    t.is(passed.body.status, 'awaiting_payment');
    t.is(passed.body.provisioning_id, shown.subject_id);
    t.is((await desk.order(id, apiKey)).body.provisioning_id, shown.subject_id, 'the same order');
    t.like((await desk.order(id)).body, { code: 'quote_consumed' }, 'somebody else did not ask for it');

    const { quote_id: refusedQuote } = (await desk.quote({}, apiKey)).body;
    const asked = await desk.order(refusedQuote, apiKey);
    await decide(desk, asked.body.approval_id, 'denied');
    t.like((await desk.order(refusedQuote, apiKey)).body, { result: 'awaiting_approval' });
    await age(refusedQuote, 31);
    t.like((await desk.order(refusedQuote, apiKey)).body, { code: 'quote_expired' });
  },
);

test.serial('more mailboxes than the workspace may have are refused before anything is ordered', async (t) => {
  const desk = await openOrderDesk(orders);
  const { quote_id: id } = (await desk.quote({ count: 11 })).body;
  t.like(await desk.order(id), { status: 403, body: { code: 'mailbox_allowance_reached' } });
});

test.serial('cancelled before the payment: nothing was bought, and nobody can pay any more', async (t) => {
  const desk = await openOrderDesk(orders);
  const id = await desk.place();
  const cancelled = await desk.call('POST', `/mailbox-provisioning/${id}/cancel`);
  t.like(cancelled, { status: 200, body: { status: 'cancelled' } }, cancelled.text);
  t.is((await desk.call('POST', `/mailbox-provisioning/${id}/cancel`)).body.updated_at, cancelled.body.updated_at);
  await desk.drive(id);
  t.is(await desk.payment(id), 'expired');
  t.deepEqual(await desk.events(id), ['awaiting_payment', 'cancelled']);
});

test.serial('another workspace sees no order, and cancels none', async (t) => {
  const desk = await openOrderDesk(orders);
  const id = await desk.place();
  const other = await openOrderDesk(orders);
  assertStatus(t, await other.call('GET', `/mailbox-provisioning/${id}`), 404);
  assertStatus(t, await other.call('POST', `/mailbox-provisioning/${id}/cancel`), 404);
  t.is((await other.call('GET', '/mailbox-provisioning')).body.data.length, 0);
  t.is((await desk.row(id)).state, 'awaiting_payment');
});

test.serial('an installation without a provider answers 503 to what buys; what was ordered can be read', async (t) => {
  const world = await createWorld();
  t.teardown(() => world.close());
  const { sessionToken: token } = await world.tenant();
  const body = { provider: 'google', count: 1, domain: 'example.com' };
  const answers = [
    await call(world, 'GET', '/v1/mailboxes/provision/providers', { token }),
    await call(world, 'POST', '/v1/mailboxes/provision/quote', { token, body }),
    await call(world, 'POST', '/v1/mailboxes/provision', {
      token,
      body: { quote_id: 'x' },
      headers: { 'idempotency-key': 'k' },
    }),
  ];
  for (const answer of answers) t.like(answer, { status: 503, body: { code: 'mailbox_provisioning_unavailable' } });
  t.deepEqual((await call(world, 'GET', '/v1/mailbox-provisioning', { token })).body.data, []);
});
