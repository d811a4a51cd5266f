import { defineWorkflow, type ArgsOf } from '../contract.ts';

/**
 * Signals of an enrollment, named by what caused them. They are hints, which show in the history why a run asked again:
 * the state is in PostgreSQL, so a lost or repeated signal only delays.
 */
export type EnrollmentSignals = {
  /** A product event settled a wait of this contact. */
  event: { eventId: string };
  /** What happened to the mail: a reply, a bounce, a complaint, an opt-out, an absence. */
  reply: { cause: ReplyCause; messageId: string | null; sendId: string | null };
  /** A person or the launcher changed something: `epoch` is the campaign's control epoch, if that changed. */
  control: { cause: ControlCause; epoch: number | null };
  /** A blocked step, or a run that kept failing, is to continue. */
  retry: { cause: 'operator' | 'sweep'; stepRunId: string | null };
};

/** What happened to the mail. */
export type ReplyCause = 'replied' | 'bounced' | 'complained' | 'unsubscribed' | 'undeliverable' | 'out_of_office';
/** What a person or the launcher changed. */
type ControlCause = 'launched' | 'campaign' | 'held' | 'released' | 'finished' | 'overdue' | 'pool';

/** One contact in one campaign. */
export const enrollmentWorkflow = defineWorkflow<EnrollmentSignals>()({
  type: 'enrollment',
  kind: 'enrollment',
  parts: ['campaignId', 'contactId'],
  summary: ({ campaignId, contactId }) => `Contact ${contactId} in campaign ${campaignId}`,
  cancel:
    'An email that is being sent is finished; maintenance opens another run. Pause the campaign or finish the lead to stop.',
});

/** Arguments of an enrollment run. */
export type EnrollmentArgs = ArgsOf<typeof enrollmentWorkflow>;

/**
 * What PostgreSQL has decided this contact does next. Times are epoch milliseconds. `where` describes it for people: the step,
 * and what it waits for. `step` is the step alone, if the contact is at one.
 */
export type Decision =
  | ({ where: string; step: string | null } & (Wait | WaitForEvent | Slot | Hold | Send | Call))
  | Done;

/** Let time pass: a wait step, the day of an email, the time of the allocator's next free slot. */
interface Wait {
  kind: 'wait';
  until: number;
}
/** Wait for a product event of this contact, until its deadline where it has one. */
interface WaitForEvent {
  kind: 'waitForEvent';
  eventName: string;
  until: number | null;
}
/** An email has a slot: send it at that time. */
interface Slot {
  kind: 'slot';
  sendId: string;
  at: number;
}
/** An email is due: send it now, or settle what a dead worker left of it. */
interface Send {
  kind: 'send';
  sendId: string;
}
/** Call the customer's app. */
interface Call {
  kind: 'call';
  stepRunId: string;
}
/** Wait for a change: the campaign is paused, the contact is held, no mailbox can send, or a person has to act (`blocked`). */
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

/** Activities of this family, as the workflow sees them. */
export interface EnrollmentActivities {
  /** Moves the contact as far as it can go now and returns what comes next. Local: it only queries PostgreSQL. */
  advanceEnrollment(args: EnrollmentArgs): Promise<Decision>;
  /** Sends a reserved email, or settles one a dead worker left behind. */
  deliverSend(args: { organizationId: string; sendId: string }): Promise<{ outcome: string }>;
  /** Calls the customer's app for an app_action step and stores its answer. */
  callApp(args: { organizationId: string; stepRunId: string }): Promise<{ outcome: string }>;
}
