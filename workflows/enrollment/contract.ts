import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Sent by earlier releases, without a payload: "look again". */
export const NUDGE = 'nudge';

/**
 * Signals of an enrollment, named by what caused them. They are hints, which say in the history why a run looked again:
 * what has happened is in PostgreSQL, so one that is lost or repeated only delays.
 */
export type EnrollmentSignals = {
  /** A product event settled a wait of this contact. */
  event: { eventId: string };
  /** The mail came back, was answered or refused: a reply, a bounce, a complaint, an opt-out, an absence. */
  reply: { cause: ReplyCause; messageId: string | null; sendId: string | null };
  /** A person or the launcher changed something: `epoch` is the campaign's control epoch, where that moved. */
  control: { cause: ControlCause; epoch: number | null };
  /** A blocked step, or a run that kept failing, is to go on. */
  retry: { cause: 'operator' | 'sweep'; stepRunId: string | null };
};

/** What came back from outside. */
export type ReplyCause = 'replied' | 'bounced' | 'complained' | 'unsubscribed' | 'undeliverable' | 'out_of_office';
/** What was changed inside. */
export type ControlCause = 'launched' | 'campaign' | 'held' | 'released' | 'finished' | 'overdue' | 'pool';

/** One contact on its way through one campaign. */
export const enrollmentWorkflow = defineWorkflow<EnrollmentSignals>()({
  type: 'enrollment',
  kind: 'enrollment',
  parts: ['campaignId', 'contactId'],
  work: 'timely',
  summary: ({ campaignId, contactId }) => `Contact ${contactId} in campaign ${campaignId}`,
});

/** Arguments of an enrollment run. */
export type EnrollmentArgs = ArgsOf<typeof enrollmentWorkflow>;

/** What PostgreSQL has decided this contact does next. Times are epoch milliseconds. */
export type Decision =
  /** Send a reserved email: once its slot has come, or (null) now. */
  | { kind: 'send'; sendId: string; at: number | null; where: string }
  /** Ask the customer's app. */
  | { kind: 'call'; stepRunId: string; where: string }
  /** Wait until a time, or (null) until somebody says "look again". */
  | { kind: 'sleep'; until: number | null; state: 'waiting' | 'held' | 'blocked'; where: string }
  | { kind: 'done'; outcome: string };

/** Activities of this family, as the workflow sees them. */
export interface EnrollmentActivities {
  /** Moves the contact as far as it can go now and says what comes next. Local: it only asks PostgreSQL. */
  advanceEnrollment(args: EnrollmentArgs): Promise<Decision>;
  /** Sends a reserved email, or settles one a dead worker left behind. */
  deliverSend(args: { organizationId: string; sendId: string }): Promise<{ outcome: string }>;
  /** Calls the customer's app for an app_action step and stores its answer. */
  callApp(args: { organizationId: string; stepRunId: string }): Promise<{ outcome: string }>;
}
