import test, { type ExecutionContext } from 'ava';
import { hashPassword } from '../../../lib/crypto.ts';
import { DAY_MS, MINUTE_MS } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import { chain, createAutomation } from '../../../test/harness/automations.ts';
import { createMember, createSession, type Tenant } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { mailedToken, PASSWORD } from '../../../test/harness/people.ts';
import { awaitLockWaits } from '../../../test/harness/statements.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../../test/harness/world.ts';
import { advanceDeletion } from './advance.ts';
import { stopStarted } from './begin-workspace.ts';
import { beginAccount } from './erase-account.ts';

const CURRENT = '/v1/organizations/current';
const clock = new ManualClock(new Date('2026-03-09T09:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

type Person = Pick<Tenant, 'userId' | 'organizationId'>;

async function ask(person: Person, method: string, path: string, body?: unknown): Promise<Answer> {
  const token = await createSession(world.deps, person.userId, person.organizationId);
  return call(world, method, path, { token, body });
}

const deletionOf = (subject: string) =>
  world.deps.db('deletions').where({ subject_id: subject }).orderBy('id', 'desc').first();
const advance = (id: string) => advanceDeletion(world.deps, id, new AbortController().signal);

/**
 * Creates a person whose account's deletion is due, and who became the only member of a workspace after requesting it.
 */
async function createLeftAlone(t: ExecutionContext) {
  const { db } = world.deps;
  const tenant = await world.tenant('Left');
  const partner = await createMember(world.deps, tenant, 'Owner');
  await db('users')
    .where({ id: tenant.userId })
    .update({ password_hash: await hashPassword(PASSWORD) });
  assertStatus(t, await ask(tenant, 'DELETE', '/v1/auth/me', { password: PASSWORD }), 200);
  const ofPartner = await db('memberships').where({ user_id: partner.userId }).first();
  await db('memberships').where({ user_id: partner.userId }).delete();
  clock.advance(14 * DAY_MS);
  return { tenant, ofPartner, deletion: await deletionOf(tenant.userId) };
}

test.serial('a called back account takes no workspace with it, however late its run is', async (t) => {
  const { tenant, deletion } = await createLeftAlone(t);
  assertStatus(t, await ask(tenant, 'POST', '/v1/auth/me/restore'), 200);
  await beginAccount(world.deps, deletion);
  t.is(await deletionOf(tenant.organizationId), undefined);
});

test.serial('a workspace that somebody joins while its account is about to be erased stays', async (t) => {
  const { db } = world.deps;
  const { tenant, ofPartner, deletion } = await createLeftAlone(t);
  const joining = await db.transaction();
  await joining.raw('select id from organizations where id = ? for update', [tenant.organizationId]);
  const begun = beginAccount(world.deps, deletion);
  await awaitLockWaits(db);
  await joining('memberships').insert(ofPartner);
  await joining.commit();
  await begun;
  t.is(await deletionOf(tenant.organizationId), undefined);
});

test.serial('a workspace whose account was called back is kept by its owners', async (t) => {
  const { db } = world.deps;
  const { tenant, ofPartner, deletion } = await createLeftAlone(t);
  await beginAccount(world.deps, deletion);
  t.is((await deletionOf(tenant.organizationId)).with_account, deletion.id);
  await db('memberships').insert(ofPartner);
  assertStatus(t, await ask(tenant, 'POST', `${CURRENT}/restore`), 409);
  await db('deletions').where({ id: deletion.id }).update({ state: 'called_back' });
  assertStatus(t, await ask(tenant, 'POST', `${CURRENT}/restore`), 200);
});

test.serial('nobody joins a workspace whose deletion is scheduled, until it is kept', async (t) => {
  const tenant = await world.tenant('Closing');
  const email = `${newId()}@else.test`;
  const role = await world.deps.db('roles').where({ organization_id: tenant.organizationId, name: 'Owner' }).first();
  const invited = await ask(tenant, 'POST', `${CURRENT}/invitations`, { email, role_id: role.id });
  assertStatus(t, invited, 201);
  const token = mailedToken(world, email);
  const guest = await world.tenant('Elsewhere');
  await world.deps.db('users').where({ id: guest.userId }).update({ email });
  assertStatus(t, await ask(tenant, 'DELETE', CURRENT, { name: 'Closing' }), 200);
  const refused = await ask(guest, 'POST', '/v1/invitations/accept', { token });
  t.is(refused.body.code, 'workspace_deletion_scheduled');
  assertStatus(t, await ask(tenant, 'POST', `${CURRENT}/restore`), 200);
  assertStatus(t, await ask(guest, 'POST', '/v1/invitations/accept', { token }), 200);
});

test.serial('work that started after the request is stopped by the run, unless the workspace is kept', async (t) => {
  const { db } = world.deps;
  const tenant = await world.tenant('Busy');
  const automationId = await createAutomation(world, tenant.organizationId, 'email.replied', chain());
  const isEnabled = async () => (await db('automations').where({ id: automationId }).first()).enabled;
  assertStatus(t, await ask(tenant, 'DELETE', CURRENT, { name: 'Busy' }), 200);
  const { id, scheduled_at: at } = await deletionOf(tenant.organizationId);
  await db('automations').where({ id: automationId }).update({ enabled: true });
  t.like(await advance(id), { kind: 'wait', wakeAt: at.getTime() + MINUTE_MS });
  t.false(await isEnabled());
  clock.advance(MINUTE_MS);
  t.like(await advance(id), { kind: 'wait', wakeAt: at.getTime() + 13 * DAY_MS });

  await db('automations').where({ id: automationId }).update({ enabled: true });
  const stale = await deletionOf(tenant.organizationId);
  assertStatus(t, await ask(tenant, 'POST', `${CURRENT}/restore`), 200);
  await stopStarted(world.deps, stale);
  t.true(await isEnabled());
});

test.serial('the erasure waits for orders that may still be paid, and stops what has started', async (t) => {
  const { db } = world.deps;
  const tenant = await world.tenant('Owing');
  assertStatus(t, await ask(tenant, 'DELETE', CURRENT, { name: 'Owing' }), 200);
  const { id } = await deletionOf(tenant.organizationId);
  const automationId = await createAutomation(world, tenant.organizationId, 'email.replied', chain());
  const payment = { subject: 'order', subject_id: newId(), amount_cents: 100, currency: 'eur', line_items: '[]' };
  const stamp = { organization_id: tenant.organizationId, created_at: clock.now(), updated_at: clock.now() };
  await db('payments').insert({ ...payment, ...stamp, id: newId(), state: 'open' });
  clock.advance(14 * DAY_MS);
  const waits = { kind: 'wait', wakeAt: clock.now().getTime() + DAY_MS, why: 'mailbox orders of the workspace' };
  t.like(await advance(id), waits);
  t.is((await deletionOf(tenant.organizationId)).state, 'scheduled');
  await db('payments').where({ organization_id: tenant.organizationId }).update({ state: 'expired' });
  t.like(await advance(id), { kind: 'more' });
  t.is((await deletionOf(tenant.organizationId)).state, 'erasing');
  t.false((await db('automations').where({ id: automationId }).first()).enabled);
});
