import { z } from 'zod';
import { effectivePolicy } from '../../../domain/approvals/agent-policies/effective.ts';
import { listHolders } from '../../../domain/approvals/agent-policies/holders.ts';
import {
  createPolicy,
  deletePolicy,
  listPolicies,
  policyProblems,
  replacePolicy,
  type AgentPolicyRow,
} from '../../../domain/approvals/agent-policies/policies.ts';
import { reader } from '../../../domain/platform/kernel/transact.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { expectedVersion, idParams, iso, paged, pageQuery, presentPage } from '../../http/schemas.ts';
import * as schemas from './schemas.ts';

const people = {
  area: 'agent-policies',
  scope: 'session',
  permission: { anyOf: ['owner', 'manage_settings'] },
} as const;

/**
 * Routes of agent policies: actions of API keys and applications that need no approval. Only people create and change
 * policies.
 */
export const agentPolicyRoutes: readonly AnyRoute[] = [
  route({
    area: 'agent-policies',
    scope: 'any',
    permission: null,
    operationId: 'agentPolicies.getEffective',
    method: 'get',
    path: '/agent-policies/effective',
    summary: 'Read what the caller may do without another person',
    description:
      'Contains only the parts of the policy that the scopes and mailboxes of the calling credential allow. A credential without a policy gets an empty one: a person decides on each of its actions. A signed-in person is limited only by their role.',
    success: { status: 200, body: schemas.effectivePolicy },
    handler: async (ctx) => {
      const { id, source, autonomous, used_today, expires_at, lead_allowances, ...policy } = await effectivePolicy(ctx);
      return {
        id,
        source,
        autonomous,
        ...shown(policy),
        expires_at: iso(expires_at),
        used_today,
        lead_allowances: lead_allowances.map((one) => ({
          campaign_id: one.campaign_id,
          leads_per_day: one.leads_per_day,
          used_today: one.used_today,
        })),
      };
    },
  }),
  route({
    ...people,
    operationId: 'agentPolicies.list',
    method: 'get',
    path: '/agent-policies',
    summary: 'Policies, newest first',
    query: z.object(pageQuery(200, 100)),
    success: { status: 200, body: paged(schemas.policy) },
    handler: async (ctx, { query }) => presentPage(await listPolicies(ctx, query), present),
  }),
  route({
    ...people,
    operationId: 'agentPolicies.listHolders',
    method: 'get',
    path: '/agent-policies/holders',
    summary: 'List the credentials that a policy can be set for',
    description:
      'Lists usable API keys and active OAuth grants of the workspace, the latest 500 of each, newest first, with the policy of each.',
    success: { status: 200, body: schemas.holders },
    handler: async (ctx) => ({
      data: (await listHolders(ctx)).map((one) => ({
        ...one,
        last_used_at: iso(one.last_used_at),
        created_at: iso(one.created_at),
      })),
    }),
  }),
  route({
    ...people,
    operationId: 'agentPolicies.create',
    method: 'post',
    path: '/agent-policies',
    summary: 'Create a policy for an API key or an application',
    description:
      "Within its policy the credential launches campaigns, sends emails and replies and orders mailboxes without a person. Everything else waits for a person. Suppressions, holds, caps, health and the workspace's limits always apply. A credential has at most one policy. A policy that is switched on allows only what the role of the caller may do itself: sending needs `send_campaigns`, orders of mailboxes need `manage_settings`.",
    body: schemas.policyBody,
    furtherProblems: (ctx, body) => policyProblems(reader(ctx), body, ctx.clock.now()),
    success: { status: 201, body: schemas.policy },
    errors: ['conflict'],
    handler: async (ctx, { body }) => present(await createPolicy(ctx, body)),
  }),
  route({
    ...people,
    operationId: 'agentPolicies.replace',
    method: 'put',
    path: '/agent-policies/:id',
    summary: 'Replace a policy',
    description:
      'Omitted fields get their defaults: `enabled` becomes true, and no monthly spend is set. The policy applies at once; actions of today stay counted. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409.',
    params: idParams,
    body: schemas.policyBody.safeExtend(expectedVersion),
    furtherProblems: (ctx, { expected_updated_at: _seen, ...body }) =>
      policyProblems(reader(ctx), body, ctx.clock.now()),
    stops: ({ enabled }) => !enabled,
    success: { status: 200, body: schemas.policy },
    errors: ['conflict'],
    handler: async (ctx, { params, body: { expected_updated_at: expectedUpdatedAt, ...body } }) =>
      present(await replacePolicy(ctx, params.id, body, { expectedUpdatedAt })),
  }),
  route({
    ...people,
    operationId: 'agentPolicies.delete',
    method: 'delete',
    path: '/agent-policies/:id',
    summary: 'Delete a policy; all actions of its credential then wait for a person',
    params: idParams,
    stops: true,
    success: { status: 204 },
    handler: async (ctx, { params }) => deletePolicy(ctx, params.id),
  }),
];

function present(policy: AgentPolicyRow): z.input<typeof schemas.policy> {
  return {
    id: policy.id,
    organization_id: policy.organization_id,
    ...shown(policy),
    expires_at: iso(policy.expires_at),
    created_at: iso(policy.created_at),
    updated_at: iso(policy.updated_at),
  };
}

type Shown = Pick<
  z.input<typeof schemas.policy>,
  'api_key_id' | 'oauth_grant_id' | 'name' | 'enabled' | 'max_monthly_mailbox_spend_cents'
>;

/** Returns the fields that a policy and an effective policy share. */
function shown<
  P extends {
    capabilities: readonly string[];
    mailbox_ids: string[] | null;
    max_recipients_per_run: number | null;
    max_recipients_per_day: number | null;
    max_actions_per_day: number | null;
  },
>(policy: Shown & P) {
  return {
    api_key_id: policy.api_key_id,
    oauth_grant_id: policy.oauth_grant_id,
    name: policy.name,
    enabled: policy.enabled,
    capabilities: policy.capabilities as z.input<typeof schemas.policy>['capabilities'],
    mailbox_ids: policy.mailbox_ids as P['mailbox_ids'],
    max_recipients_per_run: policy.max_recipients_per_run as P['max_recipients_per_run'],
    max_recipients_per_day: policy.max_recipients_per_day as P['max_recipients_per_day'],
    max_actions_per_day: policy.max_actions_per_day as P['max_actions_per_day'],
    max_monthly_mailbox_spend_cents: policy.max_monthly_mailbox_spend_cents,
  };
}
