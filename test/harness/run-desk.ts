import { decideApproval } from '../../domain/approvals/decide.ts';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import { launchRun } from '../../domain/campaigns/runs/launch.ts';
import { advanceRun, preflightRun } from '../../domain/campaigns/runs/preflight.ts';
import type { RunRow } from '../../domain/campaigns/runs/states.ts';
import { newId } from '../../lib/ids.ts';
import { approverCtx } from './approvals.ts';
import { createApiKey, createMailbox, NO_SERVER, type KeyOptions, type Tenant } from './factories.ts';
import { call, type Answer, type World } from './world.ts';

/** Workspace with a mailbox, and helpers that request runs and execute their workflow. */
export interface RunDesk {
  world: World;
  tenant: Tenant;
  mailboxId: string;
  /** Returns a complete request body. `changes` replace fields; undefined removes one. */
  body(changes?: Record<string, unknown>): Record<string, unknown>;
  call(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  /** Requests a run and returns its row. */
  create(changes?: Record<string, unknown>, token?: string): Promise<RunRow>;
  row(runId: string): Promise<RunRow>;
  /** Returns the reasons of the run's state changes, in order. */
  story(runId: string): Promise<string[]>;
  campaign(runId: string): Promise<Record<string, any>>;
  /** Executes one step of the run's workflow. */
  step(run: RunRow): Promise<RunRow>;
  decide(runId: string, decision: 'approved' | 'denied', reason?: string): Promise<void>;
  /** Creates a policy that allows a key to launch campaigns. */
  policy(apiKeyId: string, limits?: Record<string, unknown>): Promise<void>;
  key(options: KeyOptions): Promise<{ apiKey: string; apiKeyId: string }>;
}

/** Creates a workspace with one mailbox: the address `email` on the given mail servers. */
export async function openRunDesk(
  world: World,
  { email = `sam-${newId()}@ours.test`, servers = NO_SERVER } = {},
): Promise<RunDesk> {
  const tenant = await world.tenant();
  const { db } = world.deps;
  const organizationId = tenant.organizationId;
  const mailboxId = await createMailbox(world.deps, organizationId, email, servers);
  const ctx: Ctx = world.system(organizationId);
  const person = approverCtx(world.deps, tenant);
  const desk: RunDesk = {
    world,
    tenant,
    mailboxId,
    body: (changes = {}) => ({
      name: 'Spring offer',
      senders: { mode: 'explicit', mailbox_ids: [mailboxId] },
      daily_limit: 50,
      schedule: { mode: 'auto', timezone: 'Europe/Berlin' },
      stop_on_reply: true,
      opt_out_enabled: true,
      intent: 'launch',
      leads: [
        { email: 'ada@example.com', first_name: 'Ada', company: 'Engines', custom_fields: { plan: 'pro' } },
        { email: 'grace@example.com', first_name: 'Grace' },
      ],
      steps: [
        {
          name: 'First',
          variants: [
            { subject: 'A question, {{.FirstName}}', body_plain: 'Hello {{.FirstName}}, may I ask something?' },
          ],
        },
        { wait_after: 3, variants: [{ subject: '', body_plain: 'Did you see my question?' }] },
      ],
      ...changes,
    }),
    call: (method, path, body, token = tenant.apiKey) =>
      call(world, method, `/v1${path}`, { token, body, headers: { 'idempotency-key': newId() } }),
    async create(changes = {}, token) {
      const answer = await desk.call('POST', '/runs', desk.body(changes), token);
      if (answer.status !== 202) throw new Error(answer.text);
      return desk.row(answer.body.id);
    },
    row: (id) => db('runs').where({ id }).first(),
    async story(runId) {
      const rows = await db('run_events').where({ run_id: runId }).orderBy('seq');
      return rows.map(({ state, data }) => (data.reason ? `${state}: ${data.reason}` : state));
    },
    async campaign(runId) {
      const { campaign_id: id } = await desk.row(runId);
      return db('campaigns').where({ id }).first();
    },
    step(run) {
      if (run.state === 'awaiting_approval') return advanceRun(ctx, run.id);
      return run.state === 'launching' ? launchRun(ctx, run.id) : preflightRun(ctx, run.id);
    },
    async decide(runId, decision, reason) {
      const { approval_id: id } = await desk.row(runId);
      await decideApproval(person, id!, { decision, ...(reason ? { reason } : {}) });
    },
    async policy(apiKeyId, limits = {}) {
      const now = world.deps.clock.now();
      await db('agent_policies').insert({
        id: newId(),
        organization_id: organizationId,
        api_key_id: apiKeyId,
        name: 'May launch',
        enabled: true,
        capabilities: ['campaign.launch'],
        mailbox_ids: [mailboxId],
        max_recipients_per_run: 100,
        max_recipients_per_day: 1000,
        max_actions_per_day: 100,
        expires_at: new Date(now.getTime() + 86_400_000),
        created_at: now,
        updated_at: now,
        ...limits,
      });
    },
    key: (options) => createApiKey(world.deps, organizationId, tenant.userId, options),
  };
  return desk;
}
