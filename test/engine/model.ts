import { deleteCampaign } from '../../domain/campaigns/remove.ts';
import { startCampaign, stopCampaign } from '../../domain/campaigns/start.ts';
import { pauseLead, removeLead, resumeLead } from '../../domain/sending/leads/hold.ts';
import { deleteStep, updateStep } from '../../domain/campaigns/steps.ts';
import { updateCampaign } from '../../domain/campaigns/update.ts';
import { deleteContact } from '../../domain/audience/contacts/remove.ts';
import type { Decision } from '../../workflows/enrollment/contract.ts';
import { advanceEnrollment } from '../../domain/sending/enrollment/advance.ts';
import { finishEnrollment } from '../../domain/sending/control/finish.ts';
import { launchDueLeads } from '../../domain/sending/enrollment/launch.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { clearHold, holdMailbox } from '../../domain/sending/control/mailbox-hold.ts';
import { removeMailbox, updateMailbox } from '../../domain/mailboxes/update.ts';
import { recordSendBounce, recordSendUnsubscribe } from '../../domain/sending/outcomes/effects.ts';
import { deliverSend } from '../../domain/sending/deliver.ts';
import { deliverToLead } from '../../domain/sending/enrollment/deliver.ts';
import { suppress } from '../../domain/sending/outcomes/suppress.ts';
import type { ManualClock } from '../harness/manual-clock.ts';
import { AppError } from '../../lib/errors.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../harness/factories.ts';
import { Crash, createFakeSmtp, type Attempt } from '../harness/fake-smtp.ts';
import type { World } from '../harness/world.ts';
import { externalText } from '../../domain/platform/external-text.ts';

/** Random operation. `lead` is the index of one of six leads, `which` that of one of two campaigns or mailboxes. */
export type Operation =
  | {
      kind:
        | 'run'
        | 'deliverAgain'
        | 'reply'
        | 'hold'
        | 'unhold'
        | 'bounce'
        | 'unsubscribe'
        | 'suppress'
        | 'deleteContact'
        | 'removeLead';
      lead: number;
    }
  | {
      kind:
        | 'launch'
        | 'pause'
        | 'resume'
        | 'reschedule'
        | 'editStep'
        | 'mailboxOff'
        | 'mailboxOn'
        | 'mailboxHeld'
        | 'deleteCampaign'
        | 'removeMailbox'
        | 'deleteStep';
      which: number;
    }
  | { kind: 'tick'; seconds: number };

/**
 * Three contacts in two campaigns that share two mailboxes. The mail server's record of accepted emails is the
 * reference.
 */
export interface EngineWorld {
  perform(operation: Operation): Promise<void>;
  /** Returns the number of emails that the server has accepted. */
  mails(): number;
  /** Ends all faults, and completes all work. */
  settleAll(): Promise<void>;
  assertNoneTwice(): void;
  assertRecordAgrees(): Promise<void>;
  assertCountersAgree(): Promise<void>;
}

/** Expected errors of a caller; any other error is a bug. */
const EXPECTED = new Set([
  'not_found',
  'bad_request',
  'campaign_no_mailbox',
  'campaign_invalid',
  'no_leads',
  'no_remaining_leads',
  'leads_undeliverable',
  'empty_step_body',
]);
const OPEN = ['pending', 'active'];
const MAX_PASSES = 80;

export async function createEngineWorld(world: World, clock: ManualClock, attempts: Attempt[]): Promise<EngineWorld> {
  const { db, config } = world.deps;
  const { organizationId } = await world.tenant();
  const ctx = world.system(organizationId);
  const smtp = createFakeSmtp();
  let nth = 0;
  let calm = false;
  smtp.next = async () => {
    const attempt = calm ? 'accept' : (attempts[nth++] ?? 'accept');
    // Waits long enough for other operations to run while the server responds.
    if (!calm) await new Promise((resolve) => setTimeout(resolve, (nth % 3) * 15));
    return attempt;
  };
  const mailboxes = await Promise.all(
    ['a', 'b'].map((name) =>
      createMailbox(
        world.deps,
        organizationId,
        `${name}@s.example.com`,
        { smtp: { host: '127.0.0.1', port: 1 } },
        { min_wait_time: 1 },
      ),
    ),
  );
  const campaigns = [
    await createCampaign(
      world.deps,
      organizationId,
      [
        { subject: 'S', body_plain: '<<A first>>' },
        { kind: 'wait', action: { type: 'wait', wait_minutes: 5 } },
        { body_plain: '<<A second>>' },
      ],
      { ramp_enabled: true, ramp_start: 100, ramp_increment: 1 },
    ),
    await createCampaign(world.deps, organizationId, [
      { subject: 'S', body_plain: '<<B first>>' },
      { body_plain: '<<B second>>' },
    ]),
  ];
  const contacts = await Promise.all([0, 1, 2].map(() => createContact(db, clock.now(), organizationId)));
  const leads = (
    await Promise.all(campaigns.map(({ campaignId }) => enroll(world.deps, organizationId, campaignId, contacts)))
  ).flat();
  const campaignOf = (lead: number) => campaigns[Math.floor(lead / 3)]!.campaignId;
  const contactOf = (lead: number) => contacts[lead % 3]!;

  /** Runs one iteration of a contact's workflow. */
  async function run(enrollmentId: string): Promise<{ until: number | null; done: boolean }> {
    const lead = leads.indexOf(enrollmentId);
    return obey(await advanceEnrollment(ctx, enrollmentId), {
      campaignId: campaignOf(lead),
      contactId: contactOf(lead),
    });
  }

  /** Executes a decision of a lead's workflow, and the next decision that the delivery of an email returns. */
  async function obey(
    decision: Decision,
    lead: { campaignId: string; contactId: string },
  ): Promise<{ until: number | null; done: boolean }> {
    if (decision.kind === 'done') return { until: null, done: true };
    if (decision.kind === 'wait' || decision.kind === 'waitForEvent' || decision.kind === 'hold')
      return { until: decision.until, done: false };
    if (decision.kind === 'call') throw new Error('no step of the model asks an app');
    if (decision.kind === 'slot') return { until: decision.at, done: false };
    const delivery = await deliverToLead(ctx, { smtp }, decision.sendId, { ...lead, mailboxId: decision.mailboxId });
    if ('next' in delivery && delivery.next) return obey(delivery.next, lead);
    return { until: 'retryAt' in delivery ? delivery.retryAt : clock.now().getTime(), done: false };
  }

  async function act(operation: Operation): Promise<unknown> {
    switch (operation.kind) {
      case 'tick':
        return clock.advance(operation.seconds * 1000);
      case 'run':
        return run(leads[operation.lead]!);
      case 'deliverAgain': {
        const send = await db('sends')
          .where({ enrollment_id: leads[operation.lead] })
          .whereIn('state', ['reserved', 'sending'])
          .first();
        return send && deliverSend(ctx, { smtp }, send.id);
      }
      case 'reply':
        return transact(ctx, (tx) =>
          finishEnrollment(tx, leads[operation.lead]!, 'replied', { reason: externalText('the contact replied') }),
        );
      case 'bounce': {
        const send = await db('sends')
          .where({ enrollment_id: leads[operation.lead] })
          .whereIn('state', ['sent', 'uncertain', 'sending'])
          .first();
        return (
          send &&
          transact(ctx, (tx) =>
            recordSendBounce(tx, send, { hard: true, reason: externalText('no such user'), source: 'dsn' }),
          )
        );
      }
      case 'hold':
        return pauseLead(ctx, campaignOf(operation.lead), contactOf(operation.lead), {
          until: operation.lead % 2 ? null : new Date(clock.now().getTime() + 600_000),
          reason: 'held',
        });
      case 'unhold':
        return resumeLead(ctx, campaignOf(operation.lead), contactOf(operation.lead));
      case 'unsubscribe': {
        const send = await db('sends')
          .where({ enrollment_id: leads[operation.lead] })
          .whereIn('state', ['sent', 'uncertain'])
          .first();
        return (
          send && transact(ctx, (tx) => recordSendUnsubscribe(tx, { sendId: send.id, email: send.recipient }, 'link'))
        );
      }
      case 'suppress':
        return transact(ctx, async (tx) =>
          suppress(tx, {
            email: `${contactOf(operation.lead)}@example.com`,
            reason: externalText('asked'),
            source: 'manual',
          }),
        );
      case 'deleteContact':
        return deleteContact(ctx, contactOf(operation.lead));
      case 'removeLead':
        return removeLead(ctx, campaignOf(operation.lead), contactOf(operation.lead));
      case 'launch':
        return launchDueLeads(ctx, campaigns[operation.which]!.campaignId);
      case 'pause':
        return stopCampaign(ctx, campaigns[operation.which]!.campaignId);
      case 'resume':
        return startCampaign(ctx, campaigns[operation.which]!.campaignId);
      case 'reschedule':
        return updateCampaign(ctx, campaigns[operation.which]!.campaignId, {
          timezone: clock.now().getTime() % 2000 ? 'Europe/Budapest' : 'America/New_York',
        });
      case 'editStep':
        return updateStep(ctx, campaigns[operation.which]!.campaignId, campaigns[operation.which]!.stepIds[1]!, {
          name: `at ${clock.now().toISOString()}`,
        });
      case 'deleteStep':
        return deleteStep(ctx, campaigns[0]!.campaignId, campaigns[0]!.stepIds[1]!);
      case 'mailboxOff':
        return updateMailbox(ctx, mailboxes[operation.which]!, { status: 'inactive' });
      case 'mailboxOn':
        return updateMailbox(ctx, mailboxes[operation.which]!, { status: 'active' });
      case 'mailboxHeld':
        return transact(ctx, (tx) =>
          holdMailbox(tx, mailboxes[operation.which]!, {
            code: 'auth_failed',
            reason: externalText('no'),
            until: new Date(clock.now().getTime() + 900_000),
          }),
        );
      case 'deleteCampaign':
        return deleteCampaign(ctx, campaigns[0]!.campaignId);
      case 'removeMailbox':
        return removeMailbox(ctx, mailboxes[0]!);
    }
  }

  const openLeads = () => db('enrollments').where({ organization_id: organizationId }).whereIn('state', OPEN);

  /** Removes every obstacle, like a person would. */
  async function heal(): Promise<void> {
    calm = true;
    await db('mailboxes').where({ organization_id: organizationId }).update({ status: 'active' });
    for (const { id } of await db('mailboxes').where({ organization_id: organizationId }))
      await transact(ctx, (tx) => clearHold(tx, id));
    for (const lead of await openLeads()) await resumeLead(ctx, lead.campaign_id, lead.contact_id);
    for (const { campaignId } of campaigns) {
      if (await db('campaigns').where({ id: campaignId }).whereNot({ status: 'active' }).first()) {
        await startCampaign(ctx, campaignId).catch((error: unknown) => {
          if (!(error instanceof AppError)) throw error;
        });
      }
    }
  }

  return {
    mails: () => smtp.taken.length,
    async perform(operation) {
      try {
        await act(operation);
      } catch (error) {
        if (error instanceof Crash || (error instanceof AppError && EXPECTED.has(error.code))) return;
        throw new Error(
          `${JSON.stringify(operation)}: ${(error as Error).stack}\ncaused by ${String((error as Error).cause)}`,
          { cause: error },
        );
      }
    },
    async settleAll() {
      await heal();
      for (let pass = 0; ; pass += 1) {
        const open = await openLeads();
        const wakes: number[] = [];
        for (const { id } of open) {
          const { until, done } = await run(id);
          if (until === null && !done)
            throw new Error(
              `enrollment ${id} waits for nothing: ${JSON.stringify(await db('enrollments').where({ id }).first())}`,
            );
          if (until !== null) wakes.push(until);
        }
        const underWay = await db('sends').where({ organization_id: organizationId, state: 'sending' });
        for (const { id } of underWay) {
          const delivery = await deliverSend(ctx, { smtp }, id);
          if ('retryAt' in delivery) wakes.push(delivery.retryAt);
        }
        if (open.length === 0 && underWay.length === 0) break;
        if (pass === MAX_PASSES) throw new Error(`does not come to an end: ${JSON.stringify(await openLeads())}`);
        clock.set(
          new Date(
            Math.max(clock.now().getTime() + 1, Math.min(...wakes, clock.now().getTime() + config.SEND_CLAIM_MS * 20)),
          ),
        );
      }
      const left = await db('sends')
        .where({ organization_id: organizationId })
        .whereIn('state', ['reserved', 'sending']);
      if (left.length > 0) throw new Error(`emails that will never be settled: ${JSON.stringify(left)}`);
      for (const { campaignId } of campaigns) {
        const turn = await launchDueLeads(ctx, campaignId);
        if (!('report' in turn) || turn.report.kind !== 'done')
          throw new Error(`the launcher goes on: ${JSON.stringify(turn)}`);
      }
    },
    assertNoneTwice() {
      const seen = new Set<string>();
      for (const { to, raw } of smtp.taken) {
        const key = `${to[0]} ${/<<(.*?)>>/.exec(raw)?.[1]}`;
        if (seen.has(key)) throw new Error(`mailed twice: ${key}`);
        seen.add(key);
      }
    },
    async assertRecordAgrees() {
      const rows = await db('sends as s')
        .leftJoin('enrollments as e', 'e.id', 's.enrollment_id')
        .where({ 's.organization_id': organizationId })
        .select('s.*', 'e.state as lead_state', 'e.finished_at');
      const taken = new Set(smtp.taken.map(({ messageId }) => messageId));
      for (const row of rows) {
        const isTaken = taken.delete(row.message_id);
        const mustBe =
          row.state === 'sent' ||
          (row.state === 'bounced' && row.sent_at !== null && row.smtp_response?.startsWith('250'));
        const mayBe =
          mustBe ||
          row.state === 'uncertain' ||
          row.state === 'sending' ||
          // A delivery report can arrive for an uncertain email.
          (row.state === 'bounced' && (row.sent_at !== null || row.handover !== null));
        if (mustBe && !isTaken)
          throw new Error(`recorded as ${row.state}, but the server never took it: ${JSON.stringify(row)}`);
        if (isTaken && !mayBe)
          throw new Error(`recorded as ${row.state}, but the server took it: ${JSON.stringify(row)}`);
        // True for an email that was claimed again after the worker died, but never offered to the server.
        const offeredLater =
          row.finished_at &&
          row.claimed_at > row.finished_at &&
          row.error_detail?.code !== 'sent.worker_died' &&
          row.state !== 'sending';
        if (offeredLater && isTaken) throw new Error(`mailed after the end: ${JSON.stringify(row)}`);
        if (row.state === 'reserved' && row.lead_state !== null && !OPEN.includes(row.lead_state))
          throw new Error(`a slot for a lead that has finished: ${JSON.stringify(row)}`);
      }
      if (taken.size > 0) throw new Error(`taken by the server and on no record: ${[...taken].join(', ')}`);
    },
    async assertCountersAgree() {
      const { rows } = await db.raw(
        `with expected as (
           select 'campaign' as scope, campaign_id as id, slot_day as day, count(*) as n from sends where organization_id = :org and campaign_id is not null group by 2, 3
           union all select 'campaign_new', campaign_id, slot_day, count(*) from sends where organization_id = :org and campaign_id is not null and is_first group by 2, 3
           union all select 'mailbox', mailbox_id, (slot_at at time zone 'utc')::date, count(*) from sends where organization_id = :org and mailbox_id is not null group by 2, 3
         ), counted as (
           select scope, scope_id as id, day, count as n from daily_counters where organization_id = :org and count <> 0
             and (exists (select 1 from campaigns c where c.id = scope_id) or exists (select 1 from mailboxes m where m.id = scope_id))
         )
         select coalesce(e.scope, c.scope) as scope, coalesce(e.day, c.day) as day, e.n as rows, c.n as counted
         from expected e full join counted c on c.scope = e.scope and c.id = e.id and c.day = e.day where e.n is distinct from c.n`,
        { org: organizationId },
      );
      if (rows.length > 0) throw new Error(`counts and rows differ: ${JSON.stringify(rows)}`);
    },
  };
}
