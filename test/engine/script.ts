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
  /**
   * Answers the normal activity, which the workflow uses after the local one has failed; the local one fails until
   * then.
   */
  patient?: true;
  /** Signal sent to the run while the activity works. */
  meanwhile?: Sent;
  /** Time (ms) that the activity continues after that signal. */
  takesMs?: number;
  fails?: { message: string; type: string; nonRetryable?: boolean };
  gives?: unknown;
}

/** Run whose activities answer by script. */
export interface Scripted {
  /** Folder of its family in workflows/. */
  family: string;
  name: string;
  workflowId: string;
  spec: StartSpec;
  answers: Answer[];
  /** Signal that starts the run. */
  begins?: Sent;
  /** The server suggests to continue as new after few events; the continued workflow is recorded. */
  continues?: true;
  /** End of the run. Default: COMPLETED. */
  ends?: 'COMPLETED' | 'FAILED' | 'CANCELLED';
  /** External signals or a cancellation, each once the history has a number of events of a type. */
  later: ((Sent | { cancels: true }) & { events: string; times: number })[];
}

/** Creates a scripted run of a contract. */
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
