import { utcDay } from '../../lib/clock.ts';
import type { AgentPolicyRow, Capability } from '../../db/models/agent-policy.ts';
import type { PolicyReason } from '../../db/json-columns.ts';
import { ChangedMeanwhile } from '../../db/errors.ts';
import { AppError } from '../../lib/errors.ts';
import { isCredential, type Actor } from '../platform/kernel/actor.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { sendersToAllow, type PoolChoice } from '../sending/campaign/sender-pool.ts';
import { message, type Message } from '../../messages/index.ts';

/** The key, application or person that requests an action, from the request or from a stored row. */
export type Requester = Pick<Actor, 'kind' | 'apiKeyId' | 'oauthGrantId'>;

/** An action that needs authorization. */
export interface Action {
  capability: Capability;
  /** Mailboxes that the action would use. All of them must be in the policy. Empty for an order of mailboxes. */
  mailboxIds: readonly string[];
  /** Number of recipients, including cc and bcc. It is 0 for an order of mailboxes. */
  recipients: number;
  /** Monthly total of an order of mailboxes, in cents. */
  spendCents?: number;
}

/** Result: the action may be executed immediately, or it waits for a person's approval for the given reasons. */
export type Authorization =
  | { decision: 'execute' }
  | { decision: 'awaiting_approval'; reasons: [PolicyReason, ...PolicyReason[]] };

/**
 * Decides whether an action may be executed immediately. Signed-in people and the installation itself need no policy. A
 * key or application needs a policy that allows the action, the mailboxes and the numbers. An allowed action is counted
 * for the UTC day in this transaction, so that concurrent requests together cannot exceed a limit. A refused action is
 * not counted, and every reason is listed. Suppressions, holds, caps, health and limits of the organization are not
 * checked here. They apply regardless of the policy. Locks the day's count until the commit, but not the policy, so
 * that a change of the policy never waits for long. The policy is compared just before the commit ({@link
 * assertSamePolicy}). An old version therefore allows nothing after the request that changed it was answered.
 * @throws AppError unauthorized for a caller without a credential
 */
export async function authorizeAction(tx: Tx, requester: Requester, action: Action): Promise<Authorization> {
  if (!isCredential(requester)) return { decision: 'execute' };
  const credentialId = requester.apiKeyId ?? requester.oauthGrantId;
  if (!credentialId) throw new AppError('unauthorized', message('approval.no_credential'));
  const policy = await readPolicy(tx, requester);
  const allowed = await usableMailboxes(tx, requester);
  const reasons = policy
    ? policyReasons(policy, action, { allowed: allowed ?? [], now: tx.now })
    : [reason(message('approval_reason.no_policy'))];
  if (!allowed) reasons.unshift(reason(message('approval_reason.credential_revoked')));
  if (reasons.length === 0) reasons.push(...(await countAction(tx, credentialId, policy!, action)));
  const [first, ...rest] = reasons;
  if (first) return { decision: 'awaiting_approval', reasons: [first, ...rest] };
  const { id, version } = policy!;
  // Compares the policy as the last statement before the commit, so that its lock is held only briefly.
  tx.atEnd(`~policy/${id}/${version}`, () => assertSamePolicy(tx, id, version));
  return { decision: 'execute' };
}

/**
 * Variant of {@link authorizeAction} for a campaign. It checks the senders that the campaign has now, which may differ
 * from those at the time of the request.
 * @param recipients number of recipients, including cc and bcc
 */
export async function authorizeCampaign(
  tx: Tx,
  requester: Requester,
  campaign: PoolChoice,
  recipients: number,
): Promise<Authorization> {
  // Reads the senders only for a key or application, because people need no policy.
  const mailboxIds = isCredential(requester) ? await sendersToAllow(tx.org, campaign) : [];
  return authorizeAction(tx, requester, { capability: 'campaign.launch', mailboxIds, recipients });
}

/** A policy, with the id of the transaction that has written its current version. */
type ReadPolicy = AgentPolicyRow & { version: string };

async function readPolicy(tx: Tx, requester: Requester): Promise<ReadPolicy | undefined> {
  const [policy] = await tx.org.sql<ReadPolicy>(
    'select *, xmin::text as version from agent_policies where organization_id = :org and (api_key_id = :key or oauth_grant_id = :grant)',
    { key: requester.apiKeyId ?? null, grant: requester.oauthGrantId ?? null },
  );
  return policy;
}

/**
 * Checks that a policy is still the version that allowed an action, and locks it until the commit. A change of the
 * policy takes an exclusive lock ({@link lockPolicy}). PostgreSQL grants locks in the order of their requests, so a
 * waiting change is made before later actions.
 * @throws ChangedMeanwhile so that the transaction is repeated with the new policy
 */
async function assertSamePolicy(tx: Tx, id: string, version: string): Promise<void> {
  const [, found] = await Promise.all([
    tx.org.lock(lockName(id), { isShared: true }),
    tx.org.sql('select from agent_policies where organization_id = :org and id = :id and xmin::text = :version', {
      id,
      version,
    }),
  ]);
  if (found.length === 0) throw new ChangedMeanwhile('the policy of an action has changed');
}

/** Waits until all actions that a policy has allowed are committed. Call it before the policy is changed or deleted. */
export function lockPolicy(tx: Tx, id: string): Promise<void> {
  return tx.org.lock(lockName(id));
}

function lockName(policyId: string): string {
  return `policy ${policyId.toLowerCase()}`;
}

/**
 * Returns the mailboxes to which a key or grant is currently restricted. An empty list means all. Returns undefined if
 * the key or grant is no longer valid: stored work may be authorized after it has ended.
 */
async function usableMailboxes(tx: Tx, requester: Requester): Promise<readonly string[] | undefined> {
  const [credential] = await tx.org.sql<{ mailboxes: string[] }>(
    `select allowed_email_accounts as mailboxes from api_keys
     where organization_id = :org and id = :key and status = 'active' and (expires_at is null or expires_at > :now)
     union all
     select '{}'::uuid[] from oauth_grants where organization_id = :org and id = :grant and revoked_at is null`,
    { key: requester.apiKeyId ?? null, grant: requester.oauthGrantId ?? null, now: tx.now },
  );
  return credential?.mailboxes;
}

/** Lists the reasons why a policy refuses an action, except the limits per day. */
function policyReasons(
  policy: AgentPolicyRow,
  action: Action,
  { allowed, now }: { allowed: readonly string[]; now: Date },
): PolicyReason[] {
  const { capability, mailboxIds, recipients: count, spendCents: cents = 0 } = action;
  const { expires_at: end, max_recipients_per_run: most, max_monthly_mailbox_spend_cents: spend } = policy;
  // Requires that both the policy and the key allow a mailbox. A policy cannot allow a restricted key to use other
  // mailboxes.
  const mayUse = (id: string) => policy.mailbox_ids.includes(id) && (allowed.length === 0 || allowed.includes(id));
  const outside = new Set(mailboxIds.filter((id) => !mayUse(id))).size;
  const isOrder = capability === 'mailbox.provision';
  return [
    policy.enabled ? [] : reason(message('approval_reason.policy_disabled')),
    end > now ? [] : reason(message('approval_reason.policy_expired', { at: end.toISOString() })),
    policy.capabilities.includes(capability)
      ? []
      : reason(message('approval_reason.capability_not_granted', { capability })),
    outside === 0 ? [] : reason(message('approval_reason.mailbox_not_granted', { count: outside })),
    count <= most ? [] : reason(message('approval_reason.recipients_per_run_exceeded', { count, most })),
    isOrder && spend === null ? reason(message('approval_reason.spend_not_granted')) : [],
    isOrder && spend !== null && cents > spend
      ? reason(message('approval_reason.spend_exceeded', { cents, most: spend }))
      : [],
  ].flat();
}

/**
 * Counts an action for its UTC day, unless this would exceed a limit. Returns the exceeded limits. Waits for concurrent
 * counts of the same key or application.
 */
async function countAction(
  tx: Tx,
  credentialId: string,
  policy: AgentPolicyRow,
  { recipients }: Action,
): Promise<PolicyReason[]> {
  const limits = { actions: policy.max_actions_per_day, recipients: policy.max_recipients_per_day };
  const day = utcDay(tx.now);
  const [counted] = await tx.org.sql(
    `insert into agent_policy_usage as used (organization_id, credential_id, day, actions, recipients)
     select :org, :credential, :day, 1, :recipients where :recipients::int <= :maxRecipients
     on conflict (credential_id, day) do update set actions = used.actions + 1, recipients = used.recipients + excluded.recipients
       where used.actions + 1 <= :maxActions and used.recipients + excluded.recipients <= :maxRecipients
     returning actions`,
    { credential: credentialId, day, recipients, maxActions: limits.actions, maxRecipients: limits.recipients },
  );
  if (counted) return [];
  const [used = { actions: 0, recipients: 0 }] = await tx.org.sql<{ actions: number; recipients: number }>(
    'select actions, recipients from agent_policy_usage where organization_id = :org and credential_id = :credential and day = :day',
    { credential: credentialId, day },
  );
  const sum = { count: used.recipients, more: recipients, most: limits.recipients };
  return [
    used.actions < limits.actions
      ? []
      : reason(message('approval_reason.actions_per_day_exceeded', { count: used.actions, most: limits.actions })),
    used.recipients + recipients <= limits.recipients
      ? []
      : reason(message('approval_reason.recipients_per_day_exceeded', sum)),
  ].flat();
}

const REASONS = 'approval_reason.';

/** Returns a reason. Its code is the last part of its message's code. */
function reason(said: Message): PolicyReason {
  return { code: said.code.slice(REASONS.length), message: said };
}
