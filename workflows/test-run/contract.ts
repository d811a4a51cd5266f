import { defineWorkflow, type ArgsOf } from '../contract.ts';

/**
 * Signals of a test run. A signal only wakes the workflow. The state is in PostgreSQL, so a lost or repeated signal only
 * causes a delay.
 */
export type TestRunSignals = {
  /** A product event completed the test run's wait. */
  event: { eventId: string };
  /** The test run was cancelled. */
  cancelled: { cause: 'person' };
  /** Continues a workflow that failed repeatedly. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Test of a campaign's steps with one prospect. */
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

/** Next step decided by PostgreSQL. Times are epoch milliseconds; `where` describes the step for people. */
export type TestDecision =
  /** Waits for a time, an event, or a mailbox that can send. */
  | { kind: 'wait'; state: 'waiting' | 'held'; until: number; where: string }
  /** Sends the email at its slot, or settles it after a worker has died. */
  | { kind: 'send'; sendId: string; at: number; where: string }
  /** Calls the customer's app. */
  | { kind: 'call'; stepRunId: string; where: string }
  | { kind: 'done'; outcome: string };

/** Activities that the workflow calls. */
export interface TestRunActivities {
  /**
   * Advances the test run as far as possible and returns the next step. A local activity, because it only queries
   * PostgreSQL.
   */
  advanceTestRun(args: TestRunArgs): Promise<TestDecision>;
  /** Sends a reserved email, or settles it after a worker has died. */
  deliverSend(args: { organizationId: string; sendId: string }): Promise<{ outcome: string }>;
  /** Calls the customer's app for an app_action step of a test run and stores its answer. */
  callAppForTest(args: { organizationId: string; stepRunId: string }): Promise<{ outcome: string }>;
}
