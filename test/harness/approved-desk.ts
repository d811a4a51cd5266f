import { launchDueLeads } from '../../domain/sending/enrollment/launch.ts';
import { advanceEnrollment } from '../../domain/sending/enrollment/advance.ts';
import { deliverSend } from '../../domain/sending/deliver.ts';
import { advanceDirectSend } from '../../domain/inbox/direct-sends/advance.ts';
import type { ApprovalRow } from '../../domain/approvals/view.ts';
import { connectMailbox } from '../../domain/mailboxes/connect.ts';
import { newId } from '../../lib/ids.ts';
import { openDesk } from './campaign-desk.ts';
import { createContact, createMailbox, createSession, type Tenant } from './factories.ts';
import { createFakeSmtp, type FakeSmtp } from './fake-smtp.ts';
import type { ManualClock } from './manual-clock.ts';
import { call, type Answer, type World } from './world.ts';

/**
 * Campaign whose start was requested by a key without a policy and approved by a person. The test executes the
 * campaign's workflows itself.
 */
export interface ApprovedDesk {
  tenant: Tenant;
  campaignId: string;
  mailboxId: string;
  /** Id of the second mailbox, if `spare` requested one; otherwise empty. */
  spareId: string;
  /** Address of the mailbox. */
  email: string;
  contactIds: string[];
  stepId: string;
  /** The approval that the person gave. */
  approval: ApprovalRow;
  smtp: FakeSmtp;
  /** Connects a mailbox like POST /emails after its check of the servers. Reconnects a mailbox with a known address. */
  connect(email: string, name: string): Promise<void>;
  asKey(method: string, path: string, body?: unknown): Promise<Answer>;
  asPerson(method: string, path: string, body?: unknown): Promise<Answer>;
  decide(approvalId: string): Promise<Answer>;
  /** Disables the first mailbox, so that another one of the pool sends. */
  switchOff(): Promise<void>;
  /**
   * Processes all emails that are due within a day: launches leads, advances the clock over slots and waits, and
   * delivers.
   */
  slotComes(): Promise<void>;
  /** Advances the clock to a time and then to the slot of a single email, and delivers that email. */
  singleComes(id: string, from: Date): Promise<void>;
  campaign(): Promise<any>;
  lead(contactId: string): Promise<any>;
  /** Returns the fields named by the newest entry of the campaign's log that names any; empty if none does. */
  loggedFields(): Promise<string[]>;
  /** Returns the approvals that wait for a person. */
  pending(): Promise<any[]>;
}

/** Monday at noon, UTC. */
const OPEN = new Date('2026-03-02T12:00:00Z');
/** Number of rounds in which all leads of a campaign are advanced. */
const ROUNDS = 12;

/**
 * Opens an approved campaign with its mailboxes and contacts.
 * @param settings.campaign further fields of the campaign; `spare`: columns of a second mailbox; `variant`: fields of
 * an A/B variant of its email
 */
export async function openApproved(
  { world, clock }: { world: World; clock: ManualClock },
  {
    leads = 1,
    campaign: fields = {},
    spare,
    variant,
    contact = {},
  }: {
    leads?: number;
    campaign?: Record<string, unknown>;
    spare?: Record<string, unknown>;
    variant?: Record<string, unknown>;
    contact?: Record<string, unknown>;
  } = {},
): Promise<ApprovedDesk> {
  const { deps } = world;
  const { db } = deps;
  const desk = await openDesk(world);
  const { tenant } = desk;
  const { organizationId } = tenant;
  const ctx = world.system(organizationId);
  const smtp = createFakeSmtp();
  const email = `${newId()}@ours.test`;
  const mailboxId = await createMailbox(deps, organizationId, email);
  const spareId = spare ? await createMailbox(deps, organizationId, `${newId()}@ours.test`, undefined, spare) : '';
  const signIn = () => createSession(deps, tenant.userId, organizationId);
  const asKey = (method: string, path: string, body?: unknown) =>
    call(world, method, `/v1${path}`, { token: tenant.apiKey, ...(body === undefined ? {} : { body }) });
  const asPerson = async (method: string, path: string, body?: unknown) =>
    call(world, method, `/v1${path}`, { token: await signIn(), ...(body === undefined ? {} : { body }) });
  const decide = (id: string) => asPerson('POST', `/approvals/${id}/decision`, { decision: 'approved' });

  const campaign = await desk.campaign({
    steps: [{ subject: 'Hello {{.FirstName}}', body_plain: 'Hi {{.FirstName}} of {{.industry}}' }],
    open_tracking: false,
    link_tracking: false,
    ...fields,
  });
  const campaignId = campaign.id as string;
  if (variant) await asKey('POST', `/campaigns/${campaignId}/ab-variants`, variant);
  const contactIds: string[] = [];
  for (let n = 0; n < leads; n += 1)
    contactIds.push(
      await createContact(db, clock.now(), organizationId, {
        first_name: 'Lea',
        custom_fields: { industry: 'Steel' },
        ...contact,
      }),
    );
  await asKey('POST', `/campaigns/${campaignId}/leads`, { contact_ids: contactIds });
  const held = await asKey('POST', `/campaigns/${campaignId}/start`, {});
  if (held.status !== 202) throw new Error(held.text);
  const decided = await decide(held.body.approval_id);
  if (decided.body.status !== 'executed') throw new Error(decided.text);
  // Sets the clock to a time within the sending windows of the campaign.
  clock.set(OPEN);
  const { id: stepId } = await db('campaign_steps').where({ campaign_id: campaignId }).first('id');
  const approval = await db('approvals').where({ id: held.body.approval_id }).first();

  return {
    tenant,
    campaignId,
    mailboxId,
    spareId,
    email,
    contactIds,
    stepId,
    approval,
    smtp,
    async connect(address, name) {
      const service = {
        host: 'mail.else.test',
        port: 465,
        username: address,
        password: 'pw',
        security: 'tls',
      } as const;
      await connectMailbox(ctx, { email: address, name, smtp: service, imap: service });
    },
    asKey,
    asPerson,
    decide,
    async switchOff() {
      await db('mailboxes').where({ id: mailboxId }).update({ status: 'inactive' });
    },
    slotComes: () => playCampaign({ world, clock }, { organizationId, campaignId, smtp }),
    async singleComes(id, from) {
      if (from > clock.now()) clock.set(from);
      for (let turns = 0; turns < ROUNDS; turns += 1) {
        const decision = await advanceDirectSend(ctx, id);
        if (decision.kind !== 'send') return;
        if (decision.at > clock.now().getTime()) clock.set(new Date(decision.at));
        await deliverSend(ctx, { smtp }, id);
      }
    },
    campaign: () => desk.row(campaignId),
    lead: (contactId) => db('enrollments').where({ campaign_id: campaignId, contact_id: contactId }).first(),
    async loggedFields() {
      const lines = await db('campaign_logs').where({ campaign_id: campaignId }).orderBy('id', 'desc');
      return lines.map(({ message }) => message.values.fields).find((named) => named !== undefined) ?? [];
    },
    pending: () => db('approvals').where({ organization_id: organizationId, status: 'pending' }).orderBy('id'),
  };
}

/**
 * Runs a campaign: launches its leads, advances the clock over slots and waits, and delivers emails, for {@link ROUNDS}
 * rounds.
 */
export async function playCampaign(
  { world, clock }: { world: World; clock: ManualClock },
  { organizationId, campaignId, smtp }: { organizationId: string; campaignId: string; smtp: FakeSmtp },
): Promise<void> {
  const ctx = world.system(organizationId);
  for (let round = 0; round < ROUNDS; round += 1) {
    await launchDueLeads(ctx, campaignId);
    const leads = world.deps.db('enrollments').where({ campaign_id: campaignId, state: 'active' });
    for (const { id } of await leads.orderBy('id')) {
      const decision = await advanceEnrollment(ctx, id);
      const at = decision.kind === 'slot' ? decision.at : decision.kind === 'wait' ? decision.until : 0;
      if (at > clock.now().getTime()) clock.set(new Date(at));
      if (decision.kind === 'slot' || decision.kind === 'send') await deliverSend(ctx, { smtp }, decision.sendId);
    }
  }
}
