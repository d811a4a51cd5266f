import { utcDay } from '../../../lib/clock.ts';
import { AgentPolicies, CAPABILITIES, type AgentPolicyRow, type Capability } from '../../../db/models/agent-policy.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { heldCapabilities, readHeld } from '../../platform/rights.ts';
import { ownAllowances, type LeadAllowance } from '../lead-allowances/list.ts';

/** Actions that the caller may perform now without another person's approval. */
interface EffectivePolicy extends Pick<AgentPolicyRow, 'name' | 'enabled' | 'api_key_id' | 'oauth_grant_id'> {
  /**
   * Source of the rules: the credential's policy, `none` for a credential without a policy, or `session` for a person's
   * role.
   */
  source: 'policy' | 'none' | 'session';
  id: string | null;
  /** True if the caller may perform any action without a person. */
  autonomous: boolean;
  capabilities: Capability[];
  /** null: any mailbox. */
  mailbox_ids: string[] | null;
  /** null: only the organization's limits apply. */
  max_recipients_per_run: number | null;
  max_recipients_per_day: number | null;
  max_actions_per_day: number | null;
  /** null: a person approves every order of a credential; a person has no limit. */
  max_monthly_mailbox_spend_cents: number | null;
  expires_at: Date | null;
  /** Actions and recipients counted on this UTC day. */
  used_today: { actions: number; recipients: number };
  /** Leads that the credential may add to campaigns that send, beyond its policy. */
  lead_allowances: LeadAllowance[];
}

const NOTHING_USED = { actions: 0, recipients: 0 };

/**
 * Returns the rules of the calling credential (GET /agent-policies/effective): its policy, limited to the credential's
 * scopes and mailboxes. Without a policy, every action waits for a person. A signed-in person is limited only by their
 * role.
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
