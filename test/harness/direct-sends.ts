import { advanceDirectSend } from '../../domain/inbox/direct-sends/advance.ts';
import { recordInbound, type InboundKind } from '../../domain/sending/outcomes/record-inbound.ts';
import { deliverSend } from '../../domain/sending/deliver.ts';
import { newId } from '../../lib/ids.ts';
import type { DirectDecision } from '../../workflows/direct-send/contract.ts';
import { createMailbox, createSession, type Tenant } from './factories.ts';
import type { TestDeps } from './database.ts';
import { createFakeSmtp, type FakeSmtp } from './fake-smtp.ts';
import type { ManualClock } from './manual-clock.ts';
import { call, type Answer, type World } from './world.ts';

/** Workspace with one mailbox. The test itself executes the direct sends, in place of their workflows. */
export interface WritingDesk {
  tenant: Tenant;
  mailboxId: string;
  email: string;
  smtp: FakeSmtp;
  /** Calls the API with the given token; by default as the signed-in person. */
  post(path: string, body: unknown, token?: string, headers?: Record<string, string>): Promise<Answer>;
  get(path: string, token?: string): Promise<Answer>;
  remove(path: string, token?: string): Promise<Answer>;
  advance(id: string): Promise<DirectDecision>;
  deliver(id: string): Promise<{ outcome: string }>;
  /** Continues until the email is done, advancing the clock over waits. Returns the outcome. */
  finish(id: string): Promise<string>;
  read(id: string): Promise<any>;
  readEmail(id: string): Promise<any>;
  receive(raw: Buffer): Promise<InboundKind | null>;
}

/**
 * Creates a workspace with one mailbox.
 * @param mailbox further columns of the mailbox
 */
export async function createWritingDesk(
  { world, clock }: { world: World; clock: ManualClock },
  mailbox: Record<string, unknown> = {},
): Promise<WritingDesk> {
  const { deps } = world;
  const tenant = await world.tenant();
  const { organizationId } = tenant;
  const email = `${newId()}@ours.test`;
  const mailboxId = await createMailbox(deps, organizationId, email, { smtp: { host: '127.0.0.1', port: 1 } }, mailbox);
  const ctx = world.system(organizationId);
  const smtp = createFakeSmtp();
  // Creates a session for each call, because the clock may have passed the end of an earlier one.
  const signIn = () => createSession(deps, tenant.userId, organizationId);
  let uid = 0;
  const desk: WritingDesk = {
    tenant,
    mailboxId,
    email,
    smtp,
    post: async (path, body, token, headers = {}) =>
      call(world, 'POST', `/v1${path}`, { token: token ?? (await signIn()), body, headers }),
    get: async (path, token) => call(world, 'GET', `/v1${path}`, { token: token ?? (await signIn()) }),
    remove: async (path, token) => call(world, 'DELETE', `/v1${path}`, { token: token ?? (await signIn()) }),
    advance: (id) => advanceDirectSend(ctx, id),
    deliver: (id) => deliverSend(ctx, { smtp }, id) as Promise<{ outcome: string }>,
    async finish(id) {
      for (let turns = 0; turns < 50; turns += 1) {
        const decision = await desk.advance(id);
        if (decision.kind === 'done') return decision.outcome;
        const at = decision.kind === 'wait' ? decision.until : decision.at;
        if (at > clock.now().getTime()) clock.set(new Date(at));
        if (decision.kind === 'send') await desk.deliver(id);
      }
      throw new Error('not done after 50 turns');
    },
    read: (id) => deps.db('direct_sends').where({ id }).first(),
    readEmail: (id) => deps.db('sends').where({ id }).first(),
    receive: (raw) =>
      recordInbound(ctx, { id: mailboxId, email }, raw, {
        folder: 'INBOX',
        uidValidity: 1,
        uid: ++uid,
        receivedAt: clock.now(),
      }),
  };
  return desk;
}

/** Creates a scheduled email directly in the database. */
export async function createDirectSend(
  deps: TestDeps,
  organizationId: string,
  mailbox: { id: string; email: string },
  more: Record<string, unknown> = {},
): Promise<string> {
  const id = newId();
  const now = deps.clock.now();
  const messageId = `<${id}@${mailbox.email.split('@')[1]}>`;
  await deps.db('direct_sends').insert({
    id,
    organization_id: organizationId,
    kind: 'compose',
    state: 'queued',
    mailbox_id: mailbox.id,
    to_emails: ['lea@else.test'],
    subject: 'Hello',
    body_plain: 'Hi',
    message_id: messageId,
    thread_id: messageId,
    send_mode: 'scheduled',
    scheduled_at: new Date(now.getTime() + 3_600_000),
    created_at: now,
    updated_at: now,
    ...more,
  });
  return id;
}
