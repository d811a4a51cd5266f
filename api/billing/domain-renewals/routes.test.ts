import test from 'ava';
import { advanceRenewal } from '../../../domain/billing/domain-renewals/advance.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { createManagedDomain } from '../../../test/harness/payments.ts';
import { call, createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const PATH = '/v1/mailboxes/domains/renewals';
const inDays = (days: number) => new Date(world.deps.clock.now().getTime() + days * DAY_MS);

test('every managed domain is listed with its cycle, whether a person is needed, and what they do', async (t) => {
  const { organizationId, apiKey: token } = await world.tenant();
  const later = await createManagedDomain(world, organizationId, { expiresAt: inDays(300), domain: 'later.example' });
  const due = await createManagedDomain(world, organizationId, { expiresAt: inDays(20), domain: 'due.example' });
  const released = await createManagedDomain(world, organizationId, { expiresAt: inDays(20) });
  await world.deps.db('managed_domains').where({ id: released.domainId }).update({ state: 'released' });
  await world.deps
    .db('mailbox_orders')
    .where({ id: due.orderId })
    .update({ error: JSON.stringify({ code: 'payment_failed' }) });
  for (const { domainId } of [later, due, released]) await advanceRenewal(world.system(organizationId), domainId);
  const { status, body } = await call(world, 'GET', PATH, { token });
  t.is(status, 200);
  t.deepEqual(
    body.data.map(({ domain, state, requires_action }: Record<string, unknown>) => [domain, state, requires_action]),
    [
      ['due.example', 'requires_action', true],
      ['later.example', 'scheduled', false],
    ],
  );
  const [first, second] = body.data;
  t.is(first.error.code, 'renewal_not_eligible');
  t.regex(first.error.fix, /checked again every day/);
  t.is(second.error, null);
  t.is(Date.parse(second.expires_at) - Date.parse(second.renews_at), 30 * DAY_MS);

  const page = await call(world, 'GET', `${PATH}?limit=1`, { token });
  t.true(page.body.pagination.has_more);
  const rest = await call(world, 'GET', `${PATH}?limit=1&cursor=${page.body.pagination.next_cursor}`, { token });
  t.deepEqual([...page.body.data, ...rest.body.data], body.data);
  t.false(rest.body.pagination.has_more);
  t.is((await call(world, 'GET', `${PATH}?cursor=x`, { token })).body.code, 'bad_request');
});

test('another workspace has domains of its own', async (t) => {
  const [mine, theirs] = [await world.tenant(), await world.tenant()];
  await createManagedDomain(world, theirs.organizationId, { expiresAt: inDays(100) });
  t.deepEqual((await call(world, 'GET', PATH, { token: mine.apiKey })).body.data, []);
  t.is((await call(world, 'GET', PATH, { token: theirs.apiKey })).body.data.length, 1);
});
