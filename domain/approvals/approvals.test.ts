import { once } from 'node:events';
import test from 'ava';
import fc from 'fast-check';
import {
  approvalContent,
  approverCtx,
  authorizeEmail,
  createApproval,
  createPolicy,
  recordedSubject,
  throughJsonb,
} from '../../test/harness/approvals.ts';
import { createApiKey, createMember } from '../../test/harness/factories.ts';
import { ManualClock } from '../../test/harness/manual-clock.ts';
import { createWorld, type World } from '../../test/harness/world.ts';
import { newId } from '../../lib/ids.ts';
import { reader, transact } from '../platform/kernel/transact.ts';
import { authorizeAction, type Action } from './authorize.ts';
import { executeApproved, decideApproval } from './decide.ts';
import { expireApproval } from './expire.ts';
import { withdrawApproval } from './hold.ts';
import { hashContent, hashRecipients } from './payload.ts';
import { replacePolicy } from './agent-policies/policies.ts';
import { sweepApprovals } from './sweep.ts';
import { approvalStatus, findApproval } from './view.ts';
import { message } from '../../messages/index.ts';

const APPROVAL_MS = 30 * 60_000;

const NOON = new Date('2026-03-02T12:00:00Z');
const clock = new ManualClock(NOON);
let world: World;
const subject = recordedSubject();
test.before(async () => {
  world = await createWorld({ clock });
  world.deps.families = [subject.family];
});
test.beforeEach(() => clock.set(NOON));
test.after.always(() => world?.close());

const events = async (organizationId: string): Promise<string[]> =>
  world.deps.db('domain_events').where({ organization_id: organizationId }).orderBy('id').pluck('type');

test.serial('people and the installation need no policy; a credential without one waits', async (t) => {
  const tenant = await world.tenant();
  const ctx = world.system(tenant.organizationId);
  const action: Action = { capability: 'campaign.launch', mailboxIds: [newId()], recipients: 5 };
  for (const kind of ['session', 'system'] as const)
    t.deepEqual(await transact(ctx, (tx) => authorizeAction(tx, { kind }, action)), { decision: 'execute' });
  t.like(await authorizeEmail(ctx, tenant.apiKeyId), {
    decision: 'awaiting_approval',
    reasons: [{ code: 'no_policy' }],
  });
  t.is((await world.deps.db('agent_policy_usage').where({ credential_id: tenant.apiKeyId })).length, 0);
});

test.serial('a policy allows what is in it, and every reason against is named', async (t) => {
  const tenant = await world.tenant();
  const ctx = world.system(tenant.organizationId);
  const mine = newId();
  const id = await createPolicy(world.deps, tenant, {
    mailbox_ids: [mine],
    capabilities: ['email.compose', 'mailbox.provision'],
    max_recipients_per_run: 3,
    max_recipients_per_day: 5,
    max_actions_per_day: 2,
    max_monthly_mailbox_spend_cents: 700,
  });
  const codes = async (action: Partial<Action>) => {
    const answer = await transact(ctx, (tx) =>
      authorizeAction(
        tx,
        { kind: 'api_key', apiKeyId: tenant.apiKeyId },
        { capability: 'email.compose', mailboxIds: [mine], recipients: 1, ...action },
      ),
    );
    return answer.decision === 'execute' ? [] : answer.reasons.map(({ code }) => code);
  };
  t.deepEqual(await codes({ capability: 'inbox.reply', mailboxIds: [mine, newId()], recipients: 4 }), [
    'capability_not_granted',
    'mailbox_not_granted',
    'recipients_per_run_exceeded',
  ]);
  t.deepEqual(await codes({ capability: 'mailbox.provision', mailboxIds: [], recipients: 0, spendCents: 701 }), [
    'spend_exceeded',
  ]);
  t.deepEqual(await codes({ recipients: 3 }), []);
  t.deepEqual(await codes({ recipients: 3 }), ['recipients_per_day_exceeded']);
  t.deepEqual(await codes({ recipients: 2 }), []);
  t.deepEqual(await codes({ recipients: 1 }), ['actions_per_day_exceeded', 'recipients_per_day_exceeded']);
  clock.set(new Date('2026-03-03T00:00:00Z'));
  t.deepEqual(
    await codes({ capability: 'mailbox.provision', mailboxIds: [], recipients: 0, spendCents: 700 }),
    [],
    'the next UTC day counts anew',
  );
  await world.deps.db('agent_policies').where({ id }).update({ max_monthly_mailbox_spend_cents: null });
  t.deepEqual(await codes({ capability: 'mailbox.provision', recipients: 0, mailboxIds: [], spendCents: 0 }), [
    'spend_not_granted',
  ]);
  await world.deps.db('agent_policies').where({ id }).update({ enabled: false, expires_at: clock.now() });
  t.deepEqual(await codes({}), ['policy_disabled', 'policy_expired']);
  await world.deps.db('api_keys').where({ id: tenant.apiKeyId }).update({ status: 'revoked' });
  t.deepEqual(await codes({}), ['credential_revoked', 'policy_disabled', 'policy_expired']);
});

test.serial("a policy speaks for its own credential and no other's", async (t) => {
  const [mine, theirs] = [await world.tenant(), await world.tenant()];
  await createPolicy(world.deps, theirs);
  const other = await createApiKey(world.deps, mine.organizationId, mine.userId);
  await createPolicy(world.deps, mine);
  const ctx = world.system(mine.organizationId);
  t.is((await authorizeEmail(ctx, mine.apiKeyId)).decision, 'execute');
  t.is((await authorizeEmail(ctx, other.apiKeyId)).decision, 'awaiting_approval');
  t.is((await authorizeEmail(ctx, theirs.apiKeyId)).decision, 'awaiting_approval');
});

test.serial('50 parallel actions against a limit of 10 a day: exactly 10 happen', async (t) => {
  for (const limit of ['actions', 'recipients'] as const) {
    const tenant = await world.tenant();
    await createPolicy(world.deps, tenant, { [`max_${limit}_per_day`]: limit === 'actions' ? 10 : 20 });
    const ctx = world.system(tenant.organizationId);
    const answers = await Promise.all(Array.from({ length: 50 }, () => authorizeEmail(ctx, tenant.apiKeyId, 2)));
    t.is(answers.filter(({ decision }) => decision === 'execute').length, 10, limit);
    t.like(await world.deps.db('agent_policy_usage').where({ credential_id: tenant.apiKeyId }).first(), {
      actions: 10,
      recipients: 20,
    });
  }
});

test.serial(
  'a policy is switched off while an action that it allows is under way; the action then waits for a person',
  async (t) => {
    const tenant = await world.tenant();
    const id = await createPolicy(world.deps, tenant, { max_actions_per_day: 5 });
    const ctx = world.system(tenant.organizationId);
    const decisions: string[] = [];
    const underWay = new AbortController();
    const switchedOff = new AbortController();
    const acting = transact(ctx, async (tx) => {
      const action: Action = { capability: 'email.compose', mailboxIds: [], recipients: 1 };
      const { decision } = await authorizeAction(tx, { kind: 'api_key', apiKeyId: tenant.apiKeyId }, action);
      decisions.push(decision);
      underWay.abort();
      if (!switchedOff.signal.aborted) await once(switchedOff.signal, 'abort');
      return decision;
    });
    if (!underWay.signal.aborted) await once(underWay.signal, 'abort');
    const {
      id: _id,
      organization_id: _org,
      created_at: _at,
      updated_at: _to,
      created_by: _by,
      ...policy
    } = await world.deps.db('agent_policies').where({ id }).first();
    const off = await replacePolicy(approverCtx(world.deps, tenant), id, { ...policy, enabled: false });
    t.false(off.enabled);
    switchedOff.abort();
    t.is(await acting, 'awaiting_approval');
    t.deepEqual(decisions, ['execute', 'awaiting_approval']);
    t.is((await world.deps.db('agent_policy_usage').where({ credential_id: tenant.apiKeyId })).length, 0);
  },
);

test.serial('what is rolled back is not counted', async (t) => {
  const tenant = await world.tenant();
  await createPolicy(world.deps, tenant, { max_actions_per_day: 1 });
  const ctx = world.system(tenant.organizationId);
  await t.throwsAsync(
    transact(ctx, async (tx) => {
      const action: Action = { capability: 'email.compose', mailboxIds: [], recipients: 1 };
      t.is((await authorizeAction(tx, { kind: 'api_key', apiKeyId: tenant.apiKeyId }, action)).decision, 'execute');
      throw new Error('refused later');
    }),
  );
  t.is((await authorizeEmail(ctx, tenant.apiKeyId)).decision, 'execute');
});

test.serial('an approval is decided once, by a person who may send, before it expires', async (t) => {
  const tenant = await world.tenant();
  const ctx = world.system(tenant.organizationId);
  const approval = await createApproval(ctx, tenant);
  t.is(approval.expires_at.getTime() - approval.created_at.getTime(), APPROVAL_MS);
  const person = approverCtx(world.deps, tenant);
  await t.throwsAsync(decideApproval(ctx, approval.id, { decision: 'approved' }), { code: 'forbidden' });
  const viewer = await createMember(world.deps, tenant, 'Viewer');
  const asViewer = {
    ...person,
    actor: { ...person.actor, userId: viewer.userId, orgPermissions: new Set(['view_campaigns'] as const) },
  };
  await t.throwsAsync(decideApproval(asViewer, approval.id, { decision: 'approved' }), { code: 'forbidden' });
  const elsewhere = approverCtx(world.deps, await world.tenant());
  await t.throwsAsync(decideApproval(elsewhere, approval.id, { decision: 'approved' }), { code: 'not_found' });
  await t.throwsAsync(decideApproval(person, 'nothing', { decision: 'approved' }), { code: 'not_found' });

  const both = await Promise.allSettled([
    decideApproval(person, approval.id, { decision: 'approved', reason: 'Looks good' }),
    decideApproval(person, approval.id, { decision: 'denied' }),
  ]);
  t.is(both.filter(({ status }) => status === 'fulfilled').length, 1);
  t.like((both.find(({ status }) => status === 'rejected') as PromiseRejectedResult).reason, { code: 'conflict' });
  t.deepEqual((await events(tenant.organizationId)).slice(0, 2), ['approval.requested', 'approval.decided']);
  t.is(subject.told.filter((line) => line.startsWith(approval.id)).length, 1);

  const late = await createApproval(ctx, tenant);
  clock.advance(APPROVAL_MS);
  t.is(approvalStatus(await findApproval(reader(ctx), late.id), clock.now()), 'expired', 'though nothing wrote it');
  await t.throwsAsync(decideApproval(person, late.id, { decision: 'approved' }), {
    code: 'conflict',
    message: /expired/,
  });
});

test.serial('a decision that comes with the expiry has one winner', async (t) => {
  const tenant = await world.tenant();
  const before = world.system(tenant.organizationId);
  const person = approverCtx(world.deps, tenant);
  for (let round = 0; round < 20; round += 1) {
    clock.set(NOON);
    const { id } = await createApproval(before, tenant);
    const last = { ...person, clock: new ManualClock(new Date(NOON.getTime() + APPROVAL_MS - 1)) };
    const over = { ...before, clock: new ManualClock(new Date(NOON.getTime() + APPROVAL_MS)) };
    const decide = () =>
      decideApproval(last, id, { decision: 'approved' }).then(
        () => true,
        () => false,
      );
    const expire = () => transact(over, (tx) => expireApproval(tx, id, over.config));
    const [decided, expired] =
      round % 2 === 0
        ? await Promise.all([decide(), expire()])
        : await Promise.all([expire(), decide()]).then(([b, a]) => [a, b]);
    t.not(decided, expired, `round ${round}`);
    const { status } = await world.deps.db('approvals').where({ id }).first();
    t.is(status, decided ? 'executed' : 'expired');
    t.deepEqual(
      subject.told.filter((line) => line.startsWith(id)),
      [`${id} ${status}`],
    );
  }
});

test.serial(
  'the sweep ends what is out of time and was ended by no run, with its event, and nothing else',
  async (t) => {
    const tenant = await world.tenant();
    const ctx = world.system(tenant.organizationId);
    const late = await createApproval(ctx, tenant);
    const denied = await createApproval(ctx, tenant);
    await decideApproval(approverCtx(world.deps, tenant), denied.id, { decision: 'denied' });
    clock.advance(1000);
    const inTime = await createApproval(ctx, tenant);
    clock.set(new Date(NOON.getTime() + APPROVAL_MS));
    await sweepApprovals(world.deps);
    const states = await world.deps.db('approvals').where({ organization_id: tenant.organizationId }).orderBy('id');
    t.deepEqual(
      states.map(({ id, status }) => [id, status]),
      [
        [late.id, 'expired'],
        [denied.id, 'denied'],
        [inTime.id, 'pending'],
      ],
    );
    const told = (await events(tenant.organizationId)).filter((type) => type === 'approval.expired');
    t.is(told.length, 1);
    await sweepApprovals(world.deps);
    t.is((await events(tenant.organizationId)).length, 5, 'once');
  },
);

test.serial(
  'an approval that cannot be ended keeps none of the others from its end, and has its own in a later sweep',
  async (t) => {
    const { db } = world.deps;
    const tenant = await world.tenant();
    const ctx = world.system(tenant.organizationId);
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.push((await createApproval(ctx, tenant)).id);
    const [first, bad, last] = ids as [string, string, string];
    const states = async () =>
      Object.fromEntries((await db('approvals').whereIn('id', ids)).map((row) => [row.id, row.status]));
    await db.raw(
      `create function stuck() returns trigger language plpgsql as $$ begin raise exception 'stuck'; end $$`,
    );
    await db.raw(
      `create trigger stuck before update on approvals for each row when (new.id = '${bad}') execute function stuck()`,
    );
    clock.advance(APPROVAL_MS);
    await t.throwsAsync(sweepApprovals(world.deps), { instanceOf: AggregateError, message: '1 of 3 failed' });
    t.deepEqual(await states(), { [first]: 'expired', [bad]: 'pending', [last]: 'expired' });
    await db.raw('drop function stuck cascade');
    t.is(await sweepApprovals(world.deps), 1);
    t.deepEqual(Object.values(await states()), ['expired', 'expired', 'expired']);
  },
);

test.serial('asked again: the same content has the same approval, other content a new one', async (t) => {
  const tenant = await world.tenant();
  const ctx = world.system(tenant.organizationId);
  const asked = { type: 'direct_send', id: newId() } as const;
  const content = approvalContent();
  const [first, again] = await Promise.all([
    createApproval(ctx, tenant, { subject: asked, content }),
    createApproval(ctx, tenant, { subject: asked, content }),
  ]);
  t.is(first.id, again.id);
  const other = await createApproval(ctx, tenant, {
    subject: asked,
    content: { ...content, title: message('action.launch', { name: 'Another' }) },
  });
  t.not(other.id, first.id);
  t.like(await world.deps.db('approvals').where({ id: first.id }).first(), { status: 'expired' });
  await decideApproval(approverCtx(world.deps, tenant), other.id, { decision: 'approved' });
  const third = await createApproval(ctx, tenant, {
    subject: asked,
    content: { ...content, title: message('action.launch', { name: 'Another' }) },
  });
  t.is(third.status, 'pending', 'what was carried out is asked for anew');
  t.deepEqual(await events(tenant.organizationId), [
    'approval.requested',
    'approval.expired',
    'approval.requested',
    'approval.decided',
    'approval.executed',
    'approval.requested',
  ]);
});

test.serial('what is carried out is what was approved, once', async (t) => {
  const tenant = await world.tenant();
  const ctx = world.system(tenant.organizationId);
  const person = approverCtx(world.deps, tenant);
  const decide = (id: string, decision: 'approved' | 'denied' = 'approved') => decideApproval(person, id, { decision });
  const told = ({ id }: { id: string }) =>
    subject.told.filter((line) => line.startsWith(id)).map((line) => line.split(' ')[1]);

  const good = await createApproval(ctx, tenant);
  t.is((await decide(good.id)).status, 'executed');
  t.deepEqual(told(good), ['executed']);
  const again = () =>
    transact(ctx, async (tx) =>
      executeApproved(tx, subject.family.approval!, good.subject_id, await findApproval(tx.org, good.id), ctx.config),
    );
  t.false(await again(), 'an approval is good for one time');
  t.is((await findApproval(reader(ctx), good.id)).status, 'executed');
  t.is(told(good).filter((what) => what === 'executed').length, 1);

  const changed = await createApproval(ctx, tenant);
  subject.changed.add(changed.id);
  t.like(await decide(changed.id), { status: 'expired', reason: message('approval.content_changed') });
  t.deepEqual(told(changed), ['changed']);

  const denied = await createApproval(ctx, tenant);
  t.is((await decide(denied.id, 'denied')).status, 'denied');
  t.deepEqual(told(denied), ['denied']);

  const gone = await createApproval(ctx, tenant);
  const withdraw = () =>
    transact(ctx, (tx) =>
      withdrawApproval(tx, { type: 'direct_send', id: gone.subject_id }, message('approval.email_cancelled')),
    );
  t.true(await withdraw());
  t.false(await withdraw(), 'it has ended');
  await t.throwsAsync(decide(gone.id), { code: 'conflict' });
  t.deepEqual(told(gone), []);
});

test.serial('the hash is of the value: not of the order of keys, nor of what jsonb makes of it', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (details) => {
      fc.pre(!JSON.stringify(details).includes('\\u0000'));
      const content = approvalContent({ details: { details } });
      t.is(hashContent(await throughJsonb(world.deps, content)), hashContent(content));
      t.not(hashContent({ ...content, title: message('action.launch', { name: 'Another' }) }), hashContent(content));
    }),
    { numRuns: 50 },
  );
  t.is(hashRecipients(['b@x.example', 'A@x.example']), hashRecipients(['a@x.example', 'b@x.example']));
  t.not(hashRecipients(['a@x.example']), hashRecipients(['a@x.example', 'b@x.example']));
});
