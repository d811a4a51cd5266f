import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of this workflow. A signal only wakes the workflow; the state is in PostgreSQL. */
export type AutomationSignals = {
  /** The run was ended, or a provider has answered. The workflow then requests its next step. */
  changed: { cause: 'ended' | 'settled' };
  /** Retries a workflow that failed repeatedly. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Automation run that waits or calls another system. A run that completes immediately has no workflow. */
export const automationWorkflow = defineWorkflow<AutomationSignals>()({
  type: 'automationRun',
  kind: 'automation-run',
  parts: ['runId'],
  summary: ({ runId }) => `Run ${runId} of an automation`,
  cancel: 'Ends this run; maintenance opens another one. Switch the automation off to end its runs.',
});

/** Arguments of the automation workflow. */
export type AutomationArgs = ArgsOf<typeof automationWorkflow>;

/** Next step decided by PostgreSQL. Times are epoch milliseconds. `where` describes the step for people. */
export type AutomationDecision =
  /** Waits for the end of a node's delay, or for a provider's answer if `until` is null. */
  | { kind: 'wait'; state: 'waiting'; until: number | null; where: string }
  | { kind: 'call'; nodeId: string; where: string }
  | { kind: 'done'; outcome: string };

/** Activities that the workflow calls. */
export interface AutomationActivities {
  /**
   * Executes every node that can run now and returns the next step. A local activity, because it only queries
   * PostgreSQL.
   */
  advanceAutomation(args: AutomationArgs): Promise<AutomationDecision>;
  /** Calls the app of a node and stores the answer, or the final failure, with the automation run. */
  callAutomationApp(args: AutomationArgs & { nodeId: string }): Promise<{ outcome: string }>;
}
