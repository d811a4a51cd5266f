import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a test run. They are hints: the state is in PostgreSQL, so a lost or repeated one only delays. */
export type TestRunSignals = {
  /** A product event settled the wait of the run. */
  event: { eventId: string };
  /** It was cancelled. */
  cancelled: { cause: 'person' };
  /** A run that kept failing is to continue. */
  retry: { cause: 'operator' | 'sweep' };
};

/** One prospect on the way through a campaign's steps, for a test. */
export const testRunWorkflow = defineWorkflow<TestRunSignals>()({
  type: 'testRun',
  kind: 'test-run',
  parts: ['testRunId'],
  work: 'interactive',
  reuse: 'afterFailure',
  summary: ({ testRunId }) => `Test run ${testRunId}`,
  cancel: 'An email that is being sent is finished; maintenance opens another run. Cancel the test in Heron to end it.',
});

/** Arguments of a test run. */
export type TestRunArgs = ArgsOf<typeof testRunWorkflow>;

/** What PostgreSQL has decided comes next. Times are epoch milliseconds; `where` describes it for people. */
export type TestDecision =
  /** Until time has passed, an event has come, or the mailbox can send. */
  | { kind: 'wait'; state: 'waiting' | 'held'; until: number; where: string }
  /** An email has a slot: send it then, or settle what a dead worker left of it. */
  | { kind: 'send'; sendId: string; at: number; where: string }
  /** Call the customer's app. */
  | { kind: 'call'; stepRunId: string; where: string }
  | { kind: 'done'; outcome: string };

/** Activities of this family, as the workflow sees them. */
export interface TestRunActivities {
  /** Moves the run as far as it can go now and returns what comes next. Local: it only queries PostgreSQL. */
  advanceTestRun(args: TestRunArgs): Promise<TestDecision>;
  /** Sends a reserved email, or settles one a dead worker left behind. */
  deliverSend(args: { organizationId: string; sendId: string }): Promise<{ outcome: string }>;
  /** Calls the customer's app for an app_action step of a test run and stores its answer. */
  callAppForTest(args: { organizationId: string; stepRunId: string }): Promise<{ outcome: string }>;
}
