import { DAY_MS, MINUTE_MS } from '../../../lib/clock.ts';
import { createHash } from 'node:crypto';
import { withCostPath } from '../../../lib/cost-paths.ts';
import type { StepAction } from '../campaign/actions.ts';
import type { Outcome } from '../campaign/graph.ts';
import { refusedByVerification } from '../campaign/launch-checks.ts';
import { addContactTag, removeContactTag } from '../../directory/contact-tags.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { allocate, type Candidate } from '../allocate.ts';
import { entryDelayEnd } from '../../platform/scheduling/slots.ts';
import { suppressedAmong } from '../../directory/suppression-check.ts';
import { recordSendUnsubscribe } from '../outcomes/effects.ts';
import type { FinalState } from '../control/finish.ts';
import { queuedRetryTime } from './queue.ts';
import type { EngineContact, EngineSend, EngineStep, Graph, Snapshot } from './snapshot.ts';
import { executeWait } from './wait.ts';
import { message, type Message } from '../../../messages/index.ts';

/** Result of executing the contact's current step. */
export type Verdict =
  /** The step is over. `at` is the end time, if earlier than now. */
  | { kind: 'passed'; outcome: Outcome; output?: Record<string, unknown>; at?: Date }
  | { kind: 'slot'; sendId: string; mailboxId: string | null; at: Date }
  | { kind: 'call' }
  | { kind: 'wait'; until: Date; why: Message }
  | { kind: 'waitForEvent'; eventName: string; until: Date | null }
  | { kind: 'hold'; until: Date | null; why: Message; state: 'held' | 'blocked' }
  | { kind: 'finished'; state: FinalState; reason: Message };

/**
 * Interval (ms) at which a contact without a usable mailbox retries, in case the signal of a returning mailbox was
 * lost.
 */
export const NO_MAILBOX_MS = 15 * MINUTE_MS;
/** Interval (ms) at which a contact retries a step type that only newer builds know, during a roll-out. */
const UNKNOWN_STEP_MS = MINUTE_MS;

/** Executes the contact's current step as far as that needs only PostgreSQL. */
export async function executeStep(tx: Tx, snapshot: Snapshot, graph: Graph, step: EngineStep): Promise<Verdict> {
  if (snapshot.run!.state === 'blocked')
    return { kind: 'hold', until: null, why: message('wait.step_blocked'), state: 'blocked' };
  if (step.kind === 'email') return executeEmail(tx, snapshot, graph, step);
  if (!step.action) return { kind: 'passed', outcome: 'done' };
  return executeAction(tx, snapshot, step, step.action);
}

async function executeEmail(tx: Tx, snapshot: Snapshot, graph: Graph, step: EngineStep): Promise<Verdict> {
  const { send } = snapshot;
  if (send) {
    if (send.state === 'reserved') return slotOf(send);
    if (send.state === 'bounced') return { kind: 'finished', state: 'bounced', reason: message('ended.bounced') };
    if (send.state === 'failed') return { kind: 'finished', state: 'failed', reason: message('ended.not_sent') };
    return { kind: 'passed', outcome: send.state === 'skipped' || send.state === 'uncertain' ? send.state : 'sent' };
  }
  const due = dueAt(snapshot, step);
  if (due > tx.now) return { kind: 'wait', until: due, why: message('wait.for_day') };
  return askForSlot(tx, snapshot, candidateFor(snapshot, graph, step));
}

/** Returns the slot of a reserved email. */
function slotOf({ id, mailbox_id: mailboxId, slot_at: at }: EngineSend): Extract<Verdict, { kind: 'slot' }> {
  return { kind: 'slot', sendId: id, mailboxId, at };
}

/** Sends an uncertain email again under the same Message-ID, so that a receiving server can recognize a duplicate. */
export async function repeatUncertainEmail(
  tx: Tx,
  snapshot: Snapshot,
  graph: Graph,
  step: EngineStep,
  send: EngineSend,
): Promise<Verdict> {
  if (send.state === 'reserved') return slotOf(send);
  const candidate = candidateFor(snapshot, graph, step);
  return askForSlot(tx, snapshot, { ...candidate, sendId: send.id, stepRunId: send.step_run_id, attempts: 0 });
}

/** Requests a slot from the allocator, unless the contact must not get emails. */
async function askForSlot(tx: Tx, snapshot: Snapshot, candidate: Candidate): Promise<Verdict> {
  const { campaign, contact, enrollment } = snapshot;
  const suppressions: Suppressions = snapshot.suppressed
    ? await suppressedAmong(tx.org, [contact.email], tx.now)
    : new Map();
  const closed = mailingRefusal(contact, suppressions, { riskyAllowed: campaign.risky_emails });
  if (closed) return closed;
  const settings = snapshot.settings();
  const [answer] = await withCostPath('allocate', () => allocate(tx, { campaign, settings }, [candidate]));
  switch (answer!.kind) {
    case 'slot':
      if (!enrollment.mailbox_id) snapshot.changes.mailbox_id = answer!.mailboxId;
      return answer!;
    case 'later': {
      const { at, why, queue } = answer!;
      return { kind: 'wait', until: queue ? await queuedRetryTime(tx, snapshot, candidate.stepId, queue) : at, why };
    }
    case 'hold':
      return {
        kind: 'hold',
        until: new Date(tx.now.getTime() + NO_MAILBOX_MS),
        why: message('wait.no_mailbox'),
        state: 'held',
      };
    case 'never':
      return answer!.why === 'campaign_ended'
        ? { kind: 'finished', state: 'completed', reason: message('ended.campaign_ended') }
        : { kind: 'hold', until: null, why: message('wait.no_window'), state: 'held' };
  }
}

/**
 * Returns the due time of an email step: the first email after the entry delay, later ones `wait_after` days after the
 * previous step.
 */
function dueAt({ run, enrollment, campaign, hasSent }: Snapshot, step: EngineStep): Date {
  const afterStep = new Date(run!.started_at.getTime() + step.wait_after * DAY_MS);
  if (hasSent) return afterStep;
  const afterEntry = entryDelayEnd(enrollment.entered_at, campaign.created_at, campaign.entry_delay_minutes);
  return afterStep > afterEntry ? afterStep : afterEntry;
}

type Suppressions = Awaited<ReturnType<typeof suppressedAmong>>;
type Doorkeeping = Pick<EngineContact, 'email' | 'subscribed' | 'verification_status'>;

/**
 * Returns why a contact must not be mailed at all, or undefined. The claim checks again right before sending.
 * Suppressions come first, because they also clear `subscribed`, and only they record the cause.
 */
export function mailingRefusal(
  contact: Doorkeeping,
  suppressions: Suppressions,
  { riskyAllowed }: { riskyAllowed: boolean },
): Extract<Verdict, { kind: 'finished' }> | undefined {
  const suppression = suppressions.get(contact.email);
  if (suppression) {
    const state =
      suppression.source === 'bounce'
        ? 'bounced'
        : suppression.source === 'manual' || suppression.source === 'import'
          ? 'undeliverable'
          : 'unsubscribed';
    const source = message(`suppression_source.${suppression.source}`);
    return { kind: 'finished', state, reason: message('ended.suppressed', { source }) };
  }
  if (!contact.subscribed) return { kind: 'finished', state: 'unsubscribed', reason: message('ended.unsubscribed') };
  if (!refusedByVerification(contact.verification_status, { riskyAllowed })) return undefined;
  return {
    kind: 'finished',
    state: 'undeliverable',
    reason: message('ended.verification', { status: message(`verification_status.${contact.verification_status}`) }),
  };
}

/** Parts of a snapshot that the allocator needs. The launcher has only these parts. */
interface Asking {
  enrollment: Pick<Snapshot['enrollment'], 'id' | 'mailbox_id'>;
  contact: Pick<EngineContact, 'id' | 'email' | 'esp_provider' | 'custom_fields'>;
  run: { id: string; attempts: number } | null;
  hasSent: boolean;
}

/** Returns the allocator's input for a contact at an email step. */
export function candidateFor(asking: Asking, graph: Graph, step: EngineStep): Candidate {
  const { enrollment, contact, run, hasSent } = asking;
  return {
    enrollmentId: enrollment.id,
    contactId: contact.id,
    stepId: step.id,
    stepRunId: run?.id ?? null,
    attempts: run?.attempts ?? 0,
    recipient: contact.email,
    espProvider: contact.esp_provider,
    contactTimezone: contact.custom_fields.timezone ?? null,
    isFirst: !hasSent,
    stickyMailboxId: enrollment.mailbox_id,
    notBefore: null,
    variantId: variantFor(graph, step, enrollment.id),
  };
}

/**
 * Returns the winning variant. If there is none, draws one by weight. The same contact gets the same variant each time
 * the step is reached. Variants without a step belong to the first email.
 */
export function variantFor(graph: Graph, step: EngineStep, enrollmentId: string): string | null {
  const firstEmail = graph.steps.find(({ kind }) => kind === 'email');
  const pool = graph.variants.filter(
    ({ step_id: of }) => of === step.id || (of === null && step.id === firstEmail?.id),
  );
  const winner = pool.find(({ promoted_at: promoted }) => promoted !== null);
  if (winner) return winner.id;
  const total = pool.reduce((sum, { weight }) => sum + weight, 0);
  if (total === 0) return null;
  let draw =
    (createHash('sha256').update(`${enrollmentId}/${step.id}/variant`).digest().readUInt32BE() / 2 ** 32) * total;
  for (const variant of pool) {
    draw -= variant.weight;
    if (draw < 0) return variant.id;
  }
  return pool.at(-1)!.id;
}

async function executeAction(tx: Tx, snapshot: Snapshot, step: EngineStep, action: StepAction): Promise<Verdict> {
  const { contact, campaign, enrollment, run } = snapshot;
  switch (action.type) {
    case 'app_action':
      return { kind: 'call' };
    case 'wait': {
      const until = new Date(run!.started_at.getTime() + action.wait_minutes * MINUTE_MS);
      return until > tx.now
        ? { kind: 'wait', until, why: message('wait.waiting') }
        : { kind: 'passed', outcome: 'elapsed', at: until };
    }
    case 'wait_for_event':
      return executeWait(tx, snapshot, action);
    case 'add_tag':
      await addContactTag(tx, contact.id, action.category_id);
      return { kind: 'passed', outcome: 'done' };
    case 'remove_tag':
      await removeContactTag(tx, contact.id, action.category_id);
      return { kind: 'passed', outcome: 'done' };
    case 'run_automation':
      // The event starts one automation run for each time that a contact reaches the step.
      tx.emit('automation.requested', {
        automation_id: action.automation_id,
        cause: `step/${run!.id}`,
        run_id: null,
        contact_id: contact.id,
        contact_email: contact.email,
        campaign_id: campaign.id,
        step_id: step.id,
      });
      return { kind: 'passed', outcome: 'done' };
    case 'create_task':
    case 'create_deal':
    case 'move_deal_stage':
      // A subscriber of the event changes the CRM, once per step run.
      tx.emit('step.crm_requested', {
        step_run_id: run!.id,
        campaign_id: campaign.id,
        step_id: step.id,
        contact_id: contact.id,
        action,
      });
      return { kind: 'passed', outcome: 'done' };
    case 'notify':
      tx.emit('campaign.action', {
        campaign_id: campaign.id,
        campaign_name: campaign.name,
        step_id: step.id,
        step_name: step.name,
        contact_id: contact.id,
        contact_email: contact.email,
        message: action.message,
      });
      return { kind: 'passed', outcome: 'done' };
    case 'unsubscribe':
      await recordSendUnsubscribe(
        tx,
        { campaignId: campaign.id, enrollmentId: enrollment.id, contactId: contact.id, email: contact.email },
        'action',
      );
      return { kind: 'finished', state: 'unsubscribed', reason: message('ended.unsubscribe_step') };
    case 'end':
      return { kind: 'finished', state: 'completed', reason: message('ended.end_step') };
    default:
      return {
        kind: 'hold',
        until: new Date(tx.now.getTime() + UNKNOWN_STEP_MS),
        why: message('wait.newer_worker', { kind: (action satisfies never as StepAction).type }),
        state: 'held',
      };
  }
}
