import { startSpec, type StartSpec } from '../../temporal/dispatch.ts';
import type { WorkflowContract } from '../../workflows/contract.ts';

/** Signal with its payload. */
export interface Sent {
  signal: string;
  says: unknown[];
}

/** Result of the next call of an activity. */
export interface Answer {
  activity: string;
  /** Fails the local activity, and answers the normal activity that the workflow then uses. */
  patient?: true;
  /** Signal sent to the workflow while the activity works. */
  meanwhile?: Sent;
  /** Time (ms) that the activity continues after that signal. */
  takesMs?: number;
  fails?: { message: string; type: string; nonRetryable?: boolean };
  gives?: unknown;
}

/** Workflow whose activities answer by script. */
export interface Scripted {
  /** Folder of its family in workflows/. */
  family: string;
  name: string;
  workflowId: string;
  spec: StartSpec;
  answers: Answer[];
  /** Signal that starts the workflow. */
  begins?: Sent;
  /** True if the server shall suggest to continue as new after few events. The continued workflow is recorded. */
  continues?: true;
  /** Expected final status of the workflow. Default: COMPLETED. */
  ends?: 'COMPLETED' | 'FAILED' | 'CANCELLED';
  /** Signals or a cancellation, each sent once the history contains `times` events of the type `events`. */
  later: ((Sent | { cancels: true }) & { events: string; times: number })[];
}

/** Creates a script for a workflow of a contract. */
export function scripted<Args>(
  contract: WorkflowContract<Args>,
  args: Args,
  family: string,
  name: string,
  answers: Answer[],
  later: Scripted['later'] = [],
): Scripted {
  return { family, name, workflowId: contract.id(args), spec: startSpec(contract, args), answers, later };
}
