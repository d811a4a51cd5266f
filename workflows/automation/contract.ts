import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a run. They are hints: the state is in PostgreSQL. */
export type AutomationSignals = {
  /** It was ended, or a provider has answered: look. */
  changed: { cause: 'ended' | 'settled' };
  /** A run that kept failing is to continue. */
  retry: { cause: 'operator' | 'sweep' };
};

/** A run of an automation that waits, or calls another system. One that can be done at once has no workflow. */
export const automationWorkflow = defineWorkflow<AutomationSignals>()({
  type: 'automationRun',
  kind: 'automation-run',
  parts: ['runId'],
  summary: ({ runId }) => `Run ${runId} of an automation`,
  cancel: 'Ends this run; maintenance opens another one. Switch the automation off to end its runs.',
});

/** Arguments of a run. */
export type AutomationArgs = ArgsOf<typeof automationWorkflow>;

/** What PostgreSQL has decided comes next. Times are epoch milliseconds; `where` describes it for people. */
export type AutomationDecision =
  /** Until a wait of a node is over; null until a provider has answered. */
  | { kind: 'wait'; state: 'waiting'; until: number | null; where: string }
  | { kind: 'call'; nodeId: string; where: string }
  | { kind: 'done'; outcome: string };

/** Activities of this family, as the workflow sees them. */
export interface AutomationActivities {
  /** Does every node that can be done now and returns what comes next. Local: it only asks PostgreSQL. */
  advanceAutomation(args: AutomationArgs): Promise<AutomationDecision>;
  /** Calls the app of a node; its answer, or that it failed for the last time, is stored with the run. */
  callAutomationApp(args: AutomationArgs & { nodeId: string }): Promise<{ outcome: string }>;
}
