import { approvalContent, createApproval, createPolicy } from '../harness/approvals.ts';
import { newId } from '../../lib/ids.ts';
import { createApiKey, createMailbox } from '../harness/factories.ts';
import { call } from '../harness/world.ts';
import { HOSTILE, WIDE, type PageToSee, type Stage } from './stage.ts';

/**
 * Creates waiting and cancelled runs, policies, keys and applications with hostile names, and an approval with
 * findings.
 */
export async function sceneOfAgents({ world, tenant, post }: Stage): Promise<PageToSee[]> {
  const { deps } = world;
  const { organizationId } = tenant;
  const mailbox = await createMailbox(deps, organizationId, 'agent@northwind.example');
  const body = (name: string) => ({
    name,
    senders: { mode: 'explicit', mailbox_ids: [mailbox] },
    daily_limit: 50,
    schedule: { mode: 'auto', timezone: 'Europe/Berlin' },
    stop_on_reply: true,
    opt_out_enabled: true,
    intent: 'launch',
    leads: [{ email: 'ada@example.com', first_name: 'Ada' }],
    steps: [{ type: 'email', variants: [{ subject: 'Hello', body_plain: 'Hello' }] }],
  });
  const run = async (name: string) => {
    const answer = await call(world, 'POST', '/v1/runs', {
      token: tenant.apiKey,
      headers: { 'idempotency-key': newId() },
      body: body(name),
    });
    if (answer.status >= 300) throw new Error(answer.text);
    return answer.body.id as string;
  };
  const first = await run('Lights for shops in Bremen');
  await post(`/runs/${await run(WIDE)}/cancel`, {});
  await run(HOSTILE);
  const { apiKeyId } = await createApiKey(deps, organizationId, tenant.userId);
  await createPolicy(deps, tenant, { name: HOSTILE, mailbox_ids: [mailbox] });
  const application = await post('/oauth/applications', {
    name: WIDE,
    redirect_uris: [`https://app.example.com/${'long/'.repeat(20)}`],
    scopes: ['read_campaigns'],
    allowed_webhook_domains: ['hooks.northwind.example'],
  });
  await post('/events', {
    name: 'signup.completed',
    email: 'product@example.com',
    user_id: 'user-1',
    data: { plan: HOSTILE },
  });
  await createApproval(world.system(organizationId), tenant, {
    content: approvalContent({
      schedule: { days: 31, start_time: '09:00', end_time: '17:00', schedule_windows: [], timezone: 'Europe/Berlin' },
    }),
    preflight: {
      findings: [
        { check: 'ab_variants', code: 'finding.ab_variant_unused', severity: 'warning', values: { name: HOSTILE } },
        { check: 'dns', code: 'finding.dmarc_missing', severity: 'info', values: { domains: ['example.com'] } },
      ],
    },
  });
  return [
    ['agents', '/agents'],
    ['agents-empty', '/agents', 'empty'],
    ['agents-run', `/agents/runs/${first}`],
    ['agents-policies', '/agents/policies'],
    ['agents-policies-empty', '/agents/policies', 'empty'],
    ['agents-keys', '/agents/keys'],
    ['agents-key', `/agents/keys/${apiKeyId}`],
    ['agents-key-policy', `/agents/keys/${apiKeyId}?tab=policy`],
    ['agents-key-usage', `/agents/keys/${apiKeyId}?tab=usage`],
    ['agents-key-requests', `/agents/keys/${apiKeyId}?tab=requests`],
    ['agents-events', '/agents/events'],
    ['agents-events-empty', '/agents/events', 'empty'],
    ['agents-application', `/agents/applications/${application.id}`],
    ['agents-applications', '/agents/applications'],
    ['agents-applications-empty', '/agents/applications', 'empty'],
    ['agents-connect', '/agents/connect'],
    ['mailboxes-orders-empty', '/mailboxes/orders', 'empty'],
  ];
}
