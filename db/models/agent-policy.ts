import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** Policy with the limits within which one API key or OAuth grant may act without a person's approval. */
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
