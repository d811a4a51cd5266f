import test from 'ava';
import { isBalanced, readBooks } from '../../domain/billing/mailbox-orders/books.ts';
import { DAY_MS } from '../../lib/clock.ts';
import { eventually } from '../harness/eventually.ts';
import { createOrderWorld, openOrderDesk } from '../harness/mailbox-orders.ts';
import { skippingTests } from '../harness/skipped-time.ts';

const skipping = await skippingTests(test, createOrderWorld);

const YEARS = 3;

skipping(
  'a domain that was ordered with its mailboxes is charged and renewed three years in a row',
  async (t, stage) => {
    const { world, parts, clock } = stage;
    const { db } = world.deps;
    const desk = await openOrderDesk(parts);
    const orderId = await desk.place({ warmup: false });
    await eventually(async () => (await desk.row(orderId)).state === 'awaiting_payment');
    await desk.pay(orderId);
    await stage.passUntil(clock.now().getTime() + DAY_MS);
    await eventually(async () => (await desk.row(orderId)).state === 'ready');
    const domain = () => db('managed_domains').where({ order_id: orderId }).first();
    const { id: domainId, domain: name, expires_at: firstExpiry } = await domain();
    const cycles = () => db('domain_renewals').where({ domain_id: domainId }).orderBy('expires_at');
    const renewed = () =>
      parts.sandbox.effects.filter(({ operation, about }) => operation === 'domains/renew' && about === name);
    const ends = [firstExpiry as Date];
    for (let year = 1; year <= YEARS; year += 1) {
      const expiresAt = ends.at(-1)!;
      const renewAt = expiresAt.getTime() - 30 * DAY_MS;
      await stage.passUntil(renewAt - DAY_MS);
      t.is(renewed().length, year - 1, `a day before the renewal of year ${year}`);
      await stage.passUntil(renewAt + DAY_MS);
      const moved = await eventually(async () => {
        const row = await domain();
        return row.expires_at > expiresAt && row;
      });
      t.is(moved.expires_at.getTime() - expiresAt.getTime(), 365 * DAY_MS);
      t.is(renewed().length, year);
      ends.push(moved.expires_at);
    }
    const rows = await eventually(async () => {
      const found = await cycles();
      return found.length === YEARS + 1 && found;
    });
    t.deepEqual(
      rows.map(({ state, expires_at: expiresAt }) => [state, expiresAt]),
      ends.map((end, index) => [index < YEARS ? 'renewed' : 'scheduled', end]),
    );
    const payments = await db('payments').where({ subject: 'renewal' }).orderBy('created_at');
    t.deepEqual(
      payments.map(({ state, amount_cents: cents, received_cents: received }) => [state, cents === received]),
      Array.from({ length: YEARS }, () => ['paid', true]),
    );
    for (const [index, { created_at: chargedAt }] of payments.entries())
      t.true(Math.abs(chargedAt.getTime() - (ends[index]!.getTime() - 30 * DAY_MS)) < DAY_MS, `year ${index + 1}`);
    for (const books of await readBooks(db)) t.true(isBalanced(books), JSON.stringify(books));
    t.deepEqual(parts.sandbox.violations, []);
  },
);
