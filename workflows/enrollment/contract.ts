import { defineWorkflow, type ArgsOf } from '../contract.ts';

/**
 * Signals of an enrollment. Each has the name of its cause, so that the history shows why the workflow requested
 * another step. A signal only wakes the workflow. The state is in PostgreSQL, so a lost or repeated signal only causes
 * a delay.
 */
export type EnrollmentSignals = {
  /** A product event completed a wait of this contact. */
  event: { eventId: string };
  /** A received message changed the enrollment: a reply, bounce, complaint, opt-out or away message. */
  reply: { cause: ReplyCause; messageId: string | null; sendId: string | null };
  /**
   * A person or the launcher made a change. `epoch` is the campaign's control epoch, if that changed. A launch may
   * contain the slot of the first email.
   */
  control: { cause: ControlCause; epoch: number | null } | Launched;
  /** Continues a blocked step, or a workflow that failed repeatedly. */
  retry: { cause: 'operator' | 'sweep'; stepRunId: string | null };
};

/** Kind of a received message that changed the enrollment. */
export type ReplyCause = 'replied' | 'bounced' | 'complained' | 'unsubscribed' | 'undeliverable' | 'out_of_office';
/** Kind of change that a person or the launcher made. */
type ControlCause = 'launched' | 'campaign' | 'held' | 'released' | 'finished' | 'overdue' | 'pool';

/**
 * The launcher has stored the first decision of a new workflow: its email has a slot, or is due now if `at` is null.
 */
export type Launched = {
  cause: 'launched';
  epoch: number;
  sendId: string;
  mailboxId: string;
  at: number | null;
  where: string;
  step: string;
};

/** Workflow of one contact in one campaign. */
export const enrollmentWorkflow = defineWorkflow<EnrollmentSignals>()({
  type: 'enrollment',
  kind: 'enrollment',
  parts: ['campaignId', 'contactId'],
  summary: ({ campaignId, contactId }) => `Contact ${contactId} in campaign ${campaignId}`,
  cancel:
    'An email that is being sent is finished; maintenance opens another run. Pause the campaign or finish the lead to stop.',
});

/** Arguments of the enrollment workflow. */
export type EnrollmentArgs = ArgsOf<typeof enrollmentWorkflow>;

/**
 * Next step of this contact, decided by PostgreSQL. Times are epoch milliseconds. `where` describes the step and its
 * wait for people. `step` is the name of the contact's step, if there is one.
 */
export type Decision =
  | ({ where: string; step: string | null } & (Wait | WaitForEvent | Slot | Hold | Send | Call))
  | Done;

/** Waits for a time: the end of a wait step, the day of an email, or the allocator's next free slot. */
interface Wait {
  kind: 'wait';
  until: number;
}
/** Waits for a product event of this contact, until a deadline if there is one. */
interface WaitForEvent {
  kind: 'waitForEvent';
  eventName: string;
  until: number | null;
}
/** An email has a slot of a mailbox and is sent at that time. */
interface Slot {
  kind: 'slot';
  sendId: string;
  mailboxId: string | null;
  at: number;
}
/** An email is due: it is sent now, or settled after a worker has died. */
interface Send {
  kind: 'send';
  sendId: string;
  mailboxId: string | null;
}
/** Calls the customer's app. */
interface Call {
  kind: 'call';
  stepRunId: string;
}
/**
 * Waits for a change: the campaign is paused, the contact is held, no mailbox can send, or a person must act
 * (`blocked`).
 */
interface Hold {
  kind: 'hold';
  until: number | null;
  state: 'held' | 'blocked';
}
/** The contact has finished. */
interface Done {
  kind: 'done';
  outcome: string;
}

/**
 * Arguments of the activity that sends an email. `lead` is absent for emails that belong to no campaign;
 * `lead.mailboxId` is the mailbox that will probably send the email.
 */
export interface DeliverArgs {
  organizationId: string;
  sendId: string;
  lead?: Pick<EnrollmentArgs, 'campaignId' | 'contactId'> & { mailboxId: string | null };
}

/** Activities that the workflow calls. */
export interface EnrollmentActivities {
  /**
   * Advances the contact as far as possible and returns the next step. A local activity, because it only queries
   * PostgreSQL.
   */
  advanceEnrollment(args: EnrollmentArgs): Promise<Decision>;
  /**
   * Sends a reserved email, or settles it after a worker died. Then decides the next step of the email's `lead`. `next`
   * is absent if that decision failed; then call {@link EnrollmentActivities.advanceEnrollment}.
   */
  deliverSend(args: DeliverArgs): Promise<{ outcome: string; next?: Decision }>;
  /** Calls the customer's app for an app_action step and stores its answer. */
  callApp(args: { organizationId: string; stepRunId: string }): Promise<{ outcome: string }>;
}
