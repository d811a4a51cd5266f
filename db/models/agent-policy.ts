import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** Limits within which one API key or OAuth grant acts without a person. */
export type AgentPolicyRow = Row<'agent_policies'>;

/** An action that a policy can allow. */
export type Capability = 'campaign.launch' | 'email.compose' | 'inbox.reply' | 'mailbox.provision';

export const CAPABILITIES: readonly Capability[] = [
  'campaign.launch',
  'email.compose',
  'inbox.reply',
  'mailbox.provision',
];

export const AgentPolicies = orgEntity('agent_policies', []);
