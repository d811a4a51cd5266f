import { changed, created, deleted } from '../../platform/changes.ts';
import { AgentPolicies, type AgentPolicyRow, type Capability } from '../../../db/models/agent-policy.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { AppError, notFound, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { assertUnchanged } from '../../platform/assert-unchanged.ts';
import { idProblems } from '../../platform/references.ts';
import { assertHeld } from '../../platform/rights.ts';
import { lockPolicy } from '../authorize.ts';
import { message } from '../../../messages/index.ts';

export type { AgentPolicyRow };

/** Complete content of a policy, for creation and replacement. */
interface PolicyInput {
  /** Exactly one of `api_key_id` and `oauth_grant_id` must be set. */
  api_key_id?: string | null | undefined;
  oauth_grant_id?: string | null | undefined;
  name: string;
  enabled: boolean;
  capabilities: Capability[];
  mailbox_ids: string[];
  max_recipients_per_run: number;
  max_recipients_per_day: number;
  max_actions_per_day: number;
  /** Maximum monthly total of one order, in cents. If missing, a person must approve every order. */
  max_monthly_mailbox_spend_cents?: number | null | undefined;
  expires_at: Date;
}

type Given = { [Field in keyof PolicyInput]?: PolicyInput[Field] | undefined };

/** Lists problems in the given fields of a policy: unusable keys, grants or mailboxes, and an end in the past. */
export async function policyProblems(org: OrgScope, given: Given, now: Date): Promise<Problem[]> {
  return [
    ...(await credentialProblems(org, given, now)),
    ...(await idProblems(org, 'mailboxes', given.mailbox_ids ?? [], 'body.mailbox_ids', message('field.no_mailbox'))),
    ...(given.expires_at && given.expires_at <= now
      ? [{ path: 'body.expires_at', message: message('field.past') }]
      : []),
  ];
}

async function credentialProblems(org: OrgScope, given: Given, now: Date): Promise<Problem[]> {
  const problems: Problem[] = [];
  const { api_key_id: keyId, oauth_grant_id: grantId } = given;
  if (keyId) {
    const key = isUuid(keyId) ? await org.table('api_keys').where({ id: keyId, status: 'active' }).first() : undefined;
    if (!key || (key.expires_at && key.expires_at <= now))
      problems.push({ path: 'body.api_key_id', message: message('field.no_api_key') });
  }
  if (grantId) {
    const grant = isUuid(grantId)
      ? await org.table('oauth_grants').where({ id: grantId }).whereNull('revoked_at').first('id')
      : undefined;
    if (!grant) problems.push({ path: 'body.oauth_grant_id', message: message('field.no_grant') });
  }
  return problems;
}

/** Lists all policies of the organization, newest first (GET /agent-policies). */
export async function listPolicies(ctx: Ctx, request: PageRequest): Promise<Page<AgentPolicyRow>> {
  const after = decodeIdCursor('agent_policies', null, request.cursor);
  const query = reader(ctx)
    .query(AgentPolicies)
    .orderBy('id', 'desc')
    .limit(request.limit + 1);
  const rows = await (after === undefined ? query : query.where('id', '<', after));
  return pageOf(rows, request.limit, (last) => encodeCursor('agent_policies', null, [last.id]));
}

/**
 * Creates the policy of a key or grant (POST /agent-policies). It applies from the next action.
 * @throws AppError bad_request with every problem; conflict when the credential already has a policy; forbidden when
 * the policy allows actions that the caller may not perform
 */
export async function createPolicy(ctx: Ctx, input: PolicyInput): Promise<AgentPolicyRow> {
  return transact(ctx, async (tx) => {
    refuseProblems(await policyProblems(tx.org, input, tx.now));
    await assertMayAllow(tx, input);
    const policy = await tx.org.create(AgentPolicies, {
      id: newId(),
      ...toColumns(input),
      created_by: ctx.actor.userId,
      created_at: tx.now,
      updated_at: tx.now,
    });
    tx.emit('agent_policy.created', policyEvent(policy));
    tx.audit({
      action: 'agent_policy.created',
      entityType: 'agent_policy',
      entityId: policy.id,
      changes: created(toColumns(input)),
    });
    return policy;
  });
}

/**
 * Replaces a policy (PUT /agent-policies/:id). Fields that are not sent are reset. When this function returns, all
 * actions that the old policy allowed are committed. Today's counts are kept.
 * @param options.expectedUpdatedAt the `updated_at` that the caller has seen
 * @throws AppError not_found, conflict if `updated_at` has changed, and as {@link createPolicy}
 */
export async function replacePolicy(
  ctx: Ctx,
  id: string,
  input: PolicyInput,
  { expectedUpdatedAt }: { expectedUpdatedAt?: Date | undefined } = {},
): Promise<AgentPolicyRow> {
  if (!isUuid(id)) throw notFound('policy');
  return transact(ctx, async (tx) => {
    await lockPolicy(tx, id);
    const before = await tx.org.query(AgentPolicies).findById(id);
    if (!before) throw notFound('policy');
    assertUnchanged('policy', before.updated_at, expectedUpdatedAt);
    refuseProblems(await policyProblems(tx.org, input, tx.now));
    await assertMayAllow(tx, input);
    const columns = toColumns(input);
    const changes = changed(before, columns);
    const fields = Object.keys(changes);
    if (fields.length === 0) return before;
    const policy = await tx.org.query(AgentPolicies).patchAndFetchById(id, { ...columns, updated_at: tx.now });
    tx.emit('agent_policy.updated', { ...policyEvent(policy!), fields });
    tx.audit({ action: 'agent_policy.updated', entityType: 'agent_policy', entityId: id, changes });
    return policy!;
  });
}

/**
 * Refuses a policy with more rights than its author has. A disabled policy allows nothing, so everybody who may write
 * policies can disable one.
 * @throws AppError forbidden naming the capabilities
 */
async function assertMayAllow(tx: Tx, { enabled, capabilities }: PolicyInput): Promise<void> {
  if (!enabled) return;
  await assertHeld(
    tx.org,
    tx.actor,
    { capabilities },
    (beyond) =>
      new AppError('forbidden', message('policy.beyond_role', { capabilities: beyond }), {
        fix: message('policy.beyond_role.fix'),
      }),
  );
}

/**
 * Deletes a policy (DELETE /agent-policies/:id). From then on, every action of the key or application needs a person's
 * approval.
 * @throws AppError not_found
 */
export async function deletePolicy(ctx: Ctx, id: string): Promise<void> {
  if (!isUuid(id)) throw notFound('policy');
  await transact(ctx, async (tx) => {
    await lockPolicy(tx, id);
    const [policy] = await tx.org.query(AgentPolicies).where({ id }).delete().returning('*');
    if (!policy) throw notFound('policy');
    tx.emit('agent_policy.deleted', policyEvent(policy));
    tx.audit({
      action: 'agent_policy.deleted',
      entityType: 'agent_policy',
      entityId: id,
      changes: deleted({ name: policy.name }),
    });
  });
}

function toColumns(input: PolicyInput) {
  return {
    api_key_id: input.api_key_id ?? null,
    oauth_grant_id: input.oauth_grant_id ?? null,
    name: input.name,
    enabled: input.enabled,
    capabilities: [...new Set(input.capabilities)].sort(),
    mailbox_ids: [...new Set(input.mailbox_ids.map((mailbox) => mailbox.toLowerCase()))].sort(),
    max_recipients_per_run: input.max_recipients_per_run,
    max_recipients_per_day: input.max_recipients_per_day,
    max_actions_per_day: input.max_actions_per_day,
    max_monthly_mailbox_spend_cents: input.max_monthly_mailbox_spend_cents ?? null,
    expires_at: input.expires_at,
  };
}

function policyEvent({ id, name, api_key_id, oauth_grant_id }: AgentPolicyRow) {
  return { policy_id: id, name, api_key_id, oauth_grant_id };
}
