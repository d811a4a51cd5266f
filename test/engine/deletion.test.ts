import test from 'ava';
import { reconcile } from '../../domain/operations/system/reconcile.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { signalDirectSend } from '../../domain/sending/control/direct-sends.ts';
import { DAY_MS } from '../../lib/clock.ts';
import { hashPassword } from '../../lib/crypto.ts';
import { newId } from '../../lib/ids.ts';
import { createDirectSend } from '../harness/direct-sends.ts';
import { addMember, createMailbox, createMember } from '../harness/factories.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { PASSWORD } from '../harness/people.ts';
import { plainRun } from '../harness/plain-history.ts';
import { assertNowhere } from '../harness/secrets.ts';
import { assertStatus, call, createWorld, type World } from '../harness/world.ts';

const CURRENT = '/v1/organizations/current';
const clock = new ManualClock(new Date('2026-03-09T09:00:00Z'));
let world: World;
let engine: Engine;
test.before(async () => {
  world = await createWorld({ clock });
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
});

const send = (token: string, method: string, path: string, body?: unknown) =>
  call(world, method, path, { token, body });
const deletionOf = (subject: string) =>
  world.deps.db('deletions').where({ subject_id: subject }).orderBy('id', 'desc').first();
const subjectsTo = (email: string) => world.outgoing.filter(({ to }) => to === email).map(({ subject }) => subject);
const handleOf = (id: string) => engine.temporal.workflow.getHandle(`deletion/${id}`);
/** Lets a waiting run ask again, as its timer does when the clock of the test was the server's. */
const wake = (id: string) => handleOf(id).signal('changed', { cause: 'called_back' });

test.serial('a workspace is called back, and its run ends', async (t) => {
  const tenant = await world.tenant('Green');
  assertStatus(t, await send(tenant.sessionToken, 'DELETE', CURRENT, { name: 'Green' }), 200);
  const { id } = await deletionOf(tenant.organizationId);
  await eventually(async () => subjectsTo(tenant.email).length === 1);
  assertStatus(t, await send(tenant.sessionToken, 'POST', `${CURRENT}/restore`), 200);
  t.is(await handleOf(id).result(), 'called back');
  t.is((await deletionOf(tenant.organizationId)).state, 'called_back');
  t.is((await world.deps.db('organizations').where({ id: tenant.organizationId }).first()).name, 'Green');
});

test.serial('a workspace is erased after 14 days, with its open runs; its owners are mailed three times', async (t) => {
  const tenant = await world.tenant('Blue');
  const { organizationId } = tenant;
  const bystander = await world.tenant('Red');
  assertStatus(t, await send(tenant.sessionToken, 'DELETE', CURRENT, { name: 'Blue' }), 200);
  const { id } = await deletionOf(organizationId);
  await eventually(async () => subjectsTo(tenant.email).length === 1);

  // A run that was left open, as by a worker that wrote after the request.
  const address = `${newId()}@ours.test`;
  const mailbox = { id: await createMailbox(world.deps, organizationId, address), email: address };
  const leftId = await createDirectSend(world.deps, organizationId, mailbox, {
    scheduled_at: new Date(clock.now().getTime() + 40 * DAY_MS),
  });
  await transact(world.system(organizationId), async (tx) =>
    signalDirectSend(tx, leftId, 'changed', { cause: 'cancelled' }),
  );
  const left = engine.temporal.workflow.getHandle(`direct-send/${leftId}`);
  await eventually(async () => (await left.describe().catch(() => undefined))?.status.name === 'RUNNING');

  clock.advance(13 * DAY_MS);
  await wake(id);
  await eventually(async () => subjectsTo(tenant.email).length === 2);
  clock.advance(DAY_MS);
  await wake(id);
  t.is(await handleOf(id).result(), 'erased');
  t.deepEqual(subjectsTo(tenant.email), [
    'Blue will be deleted on Mar 23, 2026',
    'Blue will be deleted tomorrow',
    'Blue was deleted',
  ]);
  const { db } = world.deps;
  t.is(await db('organizations').where({ id: organizationId }).first(), undefined);
  t.is((await db('outbox').where({ tenant: organizationId })).length, 0);
  t.is((await db('deletion_mails').where({ deletion_id: id })).length, 0, 'the addresses are forgotten');
  t.like(await deletionOf(organizationId), { state: 'done', kind: 'workspace', requested_by: tenant.userId });
  t.not((await left.describe()).status.name, 'RUNNING');
  t.truthy(await db('users').where({ id: tenant.userId }).first(), 'the person stays');
  t.truthy(await db('organizations').where({ id: bystander.organizationId }).first());
  assertNowhere(t, await plainRun(engine.temporal, `deletion/${id}`), [tenant.email]);
});

test.serial('an account is erased with the workspace of its own; others keep what it made', async (t) => {
  const { db } = world.deps;
  const tenant = await world.tenant('Alone');
  const team = await world.tenant('Team');
  await addMember(world.deps, team.organizationId, tenant.userId, 'Member');
  await db('users')
    .where({ id: tenant.userId })
    .update({ password_hash: await hashPassword(PASSWORD) });
  const keyId = newId();
  const { id: _id, ...key } = await db('api_keys').where({ id: team.apiKeyId }).first();
  await db('api_keys').insert({ ...key, id: keyId, user_id: tenant.userId, secret_hash: 'other' });
  const connectionId = newId();
  await db('integration_connections').insert({
    id: connectionId,
    organization_id: team.organizationId,
    connected_by: tenant.userId,
    provider: 'hubspot',
    label: 'CRM',
    status: 'disconnected',
    auth_method: 'oauth',
    sealed: Buffer.from('x'),
    external_account_id: '1',
    external_account_name: '1',
    display_fields: '[]',
    config_capabilities: '[]',
    sync_direction: 'push',
    health_due_at: clock.now(),
    created_at: clock.now(),
    updated_at: clock.now(),
  });
  assertStatus(t, await send(tenant.sessionToken, 'DELETE', '/v1/auth/me', { password: PASSWORD }), 200);
  const account = await deletionOf(tenant.userId);
  const workspace = await deletionOf(tenant.organizationId);
  t.is(workspace.with_account, account.id);
  await eventually(async () => subjectsTo(tenant.email).length === 2);

  clock.advance(14 * DAY_MS);
  await wake(account.id);
  await wake(workspace.id);
  t.is(await handleOf(workspace.id).result(), 'erased');
  clock.advance(DAY_MS);
  await eventually(async () => {
    await wake(account.id).catch(() => undefined);
    return (await deletionOf(tenant.userId)).state === 'done';
  });
  t.is(await handleOf(account.id).result(), 'erased');
  t.is(await db('users').where({ id: tenant.userId }).first(), undefined);
  t.is((await db('sessions').where({ user_id: tenant.userId })).length, 0);
  t.like(await db('api_keys').where({ id: keyId }).first(), { status: 'revoked' });
  t.is((await db('api_keys').where({ id: team.apiKeyId }).first()).status, 'active', 'keys of others stay');
  const connection = await db('integration_connections').where({ id: connectionId }).first();
  t.is(connection.connected_by, team.userId, 'the connection stays with an owner of the team');
  t.is((await db('memberships').where({ organization_id: team.organizationId })).length, 1);
  t.deepEqual(subjectsTo(tenant.email).sort(), [
    'Alone was deleted',
    'Alone will be deleted on Apr 6, 2026',
    'Your account was deleted',
    'Your account will be deleted on Apr 6, 2026',
  ]);
});

test.serial(
  'a lost run of a deletion is found; an account that alone owns a team waits for another owner',
  async (t) => {
    const { db } = world.deps;
    const tenant = await world.tenant('Later shared');
    await db('users')
      .where({ id: tenant.userId })
      .update({ password_hash: await hashPassword(PASSWORD) });
    const partner = await createMember(world.deps, tenant, 'Owner');
    assertStatus(t, await send(tenant.sessionToken, 'DELETE', '/v1/auth/me', { password: PASSWORD }), 200);
    const { id } = await deletionOf(tenant.userId);
    await eventually(async () => subjectsTo(tenant.email).length === 1);
    await handleOf(id).terminate('lost');
    await eventually(async () => {
      const families = await reconcile(world.deps, { resume: true });
      return families.find(({ family }) => family === 'deletion')!.missing === 1;
    });
    const member = await db('roles').where({ organization_id: tenant.organizationId, name: 'Member' }).first('id');
    await db('memberships').where({ user_id: partner.userId }).update({ role_id: member.id });
    clock.advance(15 * DAY_MS);
    await eventually(async () => {
      await wake(id);
      return (await handleOf(id).describe()).status.name === 'RUNNING';
    });
    t.is((await deletionOf(tenant.userId)).state, 'scheduled', 'the workspace keeps its owner');
    const owner = await db('roles').where({ organization_id: tenant.organizationId, name: 'Owner' }).first('id');
    await db('memberships').where({ user_id: partner.userId }).update({ role_id: owner.id });
    await wake(id);
    t.is(await handleOf(id).result(), 'erased');
    t.truthy(await db('organizations').where({ id: tenant.organizationId }).first());
  },
);
