import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a run. They are hints: the state is in PostgreSQL. */
export type AutomationSignals = {
  /** The run was ended, or a provider has answered: the workflow decides again. */
  changed: { cause: 'ended' | 'settled' };
  /** Retries a run that kept failing. */
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

/** Next step decided by PostgreSQL. Times are epoch milliseconds; `where` describes the step for people. */
export type AutomationDecision =
  /** Waits for the end of a node's delay; null waits for a provider's answer. */
  | { kind: 'wait'; state: 'waiting'; until: number | null; where: string }
  | { kind: 'call'; nodeId: string; where: string }
  | { kind: 'done'; outcome: string };

/** Activities of this family for the workflow. */
export interface AutomationActivities {
  /** Executes every node that can run now and returns the next step. Local: it only queries PostgreSQL. */
  advanceAutomation(args: AutomationArgs): Promise<AutomationDecision>;
  /** Calls the app of a node and stores its answer, or its final failure, with the run. */
  callAutomationApp(args: AutomationArgs & { nodeId: string }): Promise<{ outcome: string }>;
}
