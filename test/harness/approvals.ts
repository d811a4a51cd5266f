import { json } from '../../db/connection.ts';
import type { ApprovalContent } from '../../db/json-columns.ts';
import type { AgentPolicyRow, Capability } from '../../db/models/agent-policy.ts';
import type { ApprovalRow } from '../../db/models/approval.ts';
import { authorizeAction, type Requester } from '../../domain/approvals/authorize.ts';
import { holdForApproval, type AwaitingApproval } from '../../domain/approvals/hold.ts';
import { hashRecipients } from '../../domain/approvals/payload.ts';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import type { ApprovalSubject, DurableFamily } from '../../domain/platform/kernel/tx.ts';
import { directSendWorkflow } from '../../workflows/direct-send/contract.ts';
import { newId } from '../../lib/ids.ts';
import type { TestDeps } from './database.ts';
import type { Tenant } from './factories.ts';
import { personCtx } from './oauth.ts';
import { message } from '../../messages/index.ts';

/** Creates a policy directly in the database. It allows everything for a day, unless `changes` says otherwise. */
export async function createPolicy(
  deps: TestDeps,
  { organizationId, apiKeyId }: Pick<Tenant, 'organizationId' | 'apiKeyId'>,
  changes: Partial<AgentPolicyRow> = {},
): Promise<string> {
  const now = deps.clock.now();
  const id = newId();
  await deps.db('agent_policies').insert({
    id,
    organization_id: organizationId,
    api_key_id: apiKeyId,
    name: 'Agent',
    enabled: true,
    capabilities: ['campaign.launch', 'email.compose', 'inbox.reply', 'mailbox.provision'] satisfies Capability[],
    mailbox_ids: [],
    max_recipients_per_run: 1000,
    max_recipients_per_day: 1000,
    max_actions_per_day: 1000,
    max_monthly_mailbox_spend_cents: 10_000,
    expires_at: new Date(now.getTime() + 86_400_000),
    created_at: now,
    updated_at: now,
    ...changes,
  });
  return id;
}

/** Allows a tenant's key every action with all current mailboxes of the workspace. */
export async function allowEverything(
  deps: TestDeps,
  tenant: Pick<Tenant, 'organizationId' | 'apiKeyId'>,
): Promise<void> {
  const mailbox_ids = await deps.db('mailboxes').where({ organization_id: tenant.organizationId }).pluck('id');
  const changed = await deps.db('agent_policies').where({ api_key_id: tenant.apiKeyId }).update({ mailbox_ids });
  if (changed === 0) await createPolicy(deps, tenant, { mailbox_ids });
}

/** Returns the body of POST /agent-policies for a key and a mailbox. */
export function policyBody(apiKeyId: string, mailboxId: string) {
  return {
    api_key_id: apiKeyId,
    name: 'Weekday agent',
    capabilities: ['campaign.launch', 'inbox.reply'],
    mailbox_ids: [mailboxId],
    max_recipients_per_run: 200,
    max_recipients_per_day: 500,
    max_actions_per_day: 20,
    expires_at: '2999-01-01T00:00:00.000Z',
  };
}

/** Returns the content of an email to one person. */
export function approvalContent(changes: Partial<ApprovalContent> = {}): ApprovalContent {
  const addresses = ['ada@example.com'];
  return {
    title: message('action.email', { subject: 'Hello Ada' }),
    recipients: { count: 1, source: { kind: 'addresses' }, fingerprint: hashRecipients(addresses), addresses },
    senders: [{ mailbox_id: newId(), email: 'me@acme.example', name: 'Me' }],
    schedule: null,
    steps: [],
    samples: [
      {
        to: 'ada@example.com',
        from: 'me@acme.example',
        subject: 'Hello Ada',
        text: 'Hello',
        html: '<p>Hello</p>',
      },
    ],
    ...changes,
  };
}

/** Fields of an approval that replace the defaults of {@link createApproval}. */
interface AskedApproval extends Partial<Omit<AwaitingApproval, 'subject'>> {
  subject?: { type: ApprovalRow['subject_type']; id: string };
  content?: ApprovalContent;
}

/** Creates a pending approval with a given content, by default of a key's email. */
export async function createApproval(
  ctx: Ctx,
  { apiKeyId }: Pick<Tenant, 'apiKeyId'>,
  {
    content: payload = approvalContent(),
    subject: asked = { type: 'direct_send', id: newId() },
    ...changes
  }: AskedApproval = {},
): Promise<ApprovalRow> {
  const requester: Requester = { kind: 'api_key', apiKeyId };
  const subject = recordedSubject(asked.type).family.approval!;
  return transact(ctx, (tx) =>
    holdForApproval(tx, ctx.config, {
      requester,
      capability: 'email.compose',
      subject,
      subjectId: asked.id,
      reasons: [{ code: 'no_policy', message: message('approval_reason.no_policy') }],
      locked: { id: newId(), payload },
      ...changes,
    }),
  );
}

/**
 * Creates a subject family for approvals that accepts any subject, executes nothing, and records its calls. `changed`
 * contains the approvals whose subject has changed since the request.
 */
export function recordedSubject(type: ApprovalRow['subject_type'] = 'direct_send') {
  const told: string[] = [];
  const changed = new Set<string>();
  const approval: ApprovalSubject<Pick<ApprovalRow, 'id' | 'payload'>> = {
    type,
    lock: async (_tx, held) => held,
    content: async (_tx, { id, payload }) =>
      changed.has(id) ? { ...payload, title: message('action.launch', { name: 'Something else' }) } : payload,
    execute: async (_tx, _id, { id }) => void told.push(`${id} executed`),
    refused: async (_tx, _subject, { id }, why) => void told.push(`${id} ${why}`),
  };
  const family: DurableFamily = {
    contract: directSendWorkflow,
    mustBeOpen: { unneeded: 'a double' },
    blocked: undefined,
    deadLetters: [],
    approval,
  };
  return { told, changed, family };
}

/** Returns the policy's decision on a key's email. */
export function authorizeEmail(ctx: Ctx, apiKeyId: string, recipients = 1, mailboxIds: string[] = []) {
  return transact(ctx, (tx) =>
    authorizeAction(tx, { kind: 'api_key', apiKeyId }, { capability: 'email.compose', mailboxIds, recipients }),
  );
}

/** Stores a value in a jsonb column and reads it back. */
export async function throughJsonb<T>({ db }: TestDeps, value: T): Promise<T> {
  const { rows } = await db.raw('select ?::jsonb as value', [json(value)]);
  return rows[0].value;
}

/** Returns a context in which a person with the right to send acts in their workspace. */
export function approverCtx(deps: TestDeps, tenant: { userId: string; organizationId: string }): Ctx {
  const ctx = personCtx(deps, tenant);
  return { ...ctx, actor: { ...ctx.actor, orgPermissions: new Set(['send_campaigns']) } };
}
