import { utcDay } from '../../../lib/clock.ts';
import { AgentPolicies, CAPABILITIES, type AgentPolicyRow, type Capability } from '../../../db/models/agent-policy.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { heldCapabilities, readHeld } from '../../platform/rights.ts';
import { ownAllowances, type LeadAllowance } from '../lead-allowances/list.ts';

/** Actions that the caller may perform without another person's approval. */
interface EffectivePolicy extends Pick<AgentPolicyRow, 'name' | 'enabled' | 'api_key_id' | 'oauth_grant_id'> {
  /**
   * Source of the rules. `policy`: the policy of the key or application. `none`: a key or application without a policy.
   * `session`: the role of a signed-in person.
   */
  source: 'policy' | 'none' | 'session';
  id: string | null;
  /** True if the caller may perform at least one action without a person's approval. */
  autonomous: boolean;
  capabilities: Capability[];
  /** Null allows every mailbox. */
  mailbox_ids: string[] | null;
  /** Null means that only the organization's limits apply. */
  max_recipients_per_run: number | null;
  max_recipients_per_day: number | null;
  max_actions_per_day: number | null;
  /**
   * For a key or application, null means that a person must approve every order. For a person, null means that there is
   * no limit.
   */
  max_monthly_mailbox_spend_cents: number | null;
  expires_at: Date | null;
  /** Number of actions and recipients counted on the current UTC day. */
  used_today: { actions: number; recipients: number };
  /** Numbers of leads that the key or application may add to active campaigns although its policy does not allow it. */
  lead_allowances: LeadAllowance[];
}

const NOTHING_USED = { actions: 0, recipients: 0 };

/**
 * Returns the rules for the caller (GET /agent-policies/effective). For a key or application, these are its policy,
 * limited to its own scopes and mailboxes. Without a policy, every action needs a person's approval. A signed-in person
 * is limited only by their role.
 */
export async function effectivePolicy(ctx: Ctx): Promise<EffectivePolicy> {
  const { actor } = ctx;
  const org = reader(ctx);
  const held = heldCapabilities(await readHeld(org, actor), CAPABILITIES);
  if (actor.kind === 'session') return personPolicy(held);
  const now = ctx.clock.now();
  const policy = await (actor.apiKeyId
    ? org.query(AgentPolicies).findOne({ api_key_id: actor.apiKeyId })
    : org.query(AgentPolicies).findOne({ oauth_grant_id: actor.oauthGrantId! }));
  const allowances = await ownAllowances(org, actor, now);
  if (!policy) return { ...emptyPolicy(actor), lead_allowances: allowances };
  const capabilities = held.filter((name) => policy.capabilities.includes(name));
  const mailboxes = policy.mailbox_ids.filter((id) => actor.allowedMailboxes?.includes(id) ?? true);
  const [used = NOTHING_USED] = await org.sql<{ actions: number; recipients: number }>(
    'select actions, recipients from agent_policy_usage where organization_id = :org and credential_id = :credential and day = :day',
    { credential: actor.apiKeyId ?? actor.oauthGrantId!, day: utcDay(now) },
  );
  return {
    ...policy,
    source: 'policy',
    autonomous: policy.enabled && policy.expires_at > now && capabilities.length > 0,
    capabilities,
    mailbox_ids: mailboxes,
    used_today: used,
    lead_allowances: allowances,
  };
}

function personPolicy(capabilities: Capability[]): EffectivePolicy {
  return {
    source: 'session',
    id: null,
    api_key_id: null,
    oauth_grant_id: null,
    name: 'Signed-in person',
    enabled: true,
    autonomous: capabilities.length > 0,
    capabilities,
    mailbox_ids: null,
    max_recipients_per_run: null,
    max_recipients_per_day: null,
    max_actions_per_day: null,
    max_monthly_mailbox_spend_cents: null,
    expires_at: null,
    used_today: NOTHING_USED,
    lead_allowances: [],
  };
}

function emptyPolicy(actor: Actor): Omit<EffectivePolicy, 'lead_allowances'> {
  return {
    source: 'none',
    id: null,
    api_key_id: actor.apiKeyId ?? null,
    oauth_grant_id: actor.oauthGrantId ?? null,
    name: 'No policy',
    enabled: false,
    autonomous: false,
    capabilities: [],
    mailbox_ids: [],
    max_recipients_per_run: 0,
    max_recipients_per_day: 0,
    max_actions_per_day: 0,
    max_monthly_mailbox_spend_cents: null,
    expires_at: null,
    used_today: NOTHING_USED,
  };
}
