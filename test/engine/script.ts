import { startSpec, type StartSpec } from '../../temporal/dispatch.ts';
import type { WorkflowContract } from '../../workflows/contract.ts';

/** A signal and its payload. */
export interface Sent {
  signal: string;
  says: unknown[];
}

/** What the next call of an activity comes to. */
export interface Answer {
  activity: string;
  /** Answers the normal activity, to which the run turns when the local one has failed; the local one fails until then. */
  patient?: true;
  /** Sent to the run while the activity works. */
  meanwhile?: Sent;
  /** How long the activity goes on after that signal. */
  takesMs?: number;
  fails?: { message: string; type: string; nonRetryable?: boolean };
  gives?: unknown;
}

/** A run whose activities answer by script. */
export interface Scripted {
  /** The folder of its family in workflows/. */
  family: string;
  name: string;
  workflowId: string;
  spec: StartSpec;
  answers: Answer[];
  /** The server suggests to continue as new after few events; what is recorded is the run that does. */
  continues?: true;
  /** How the run ends. Default: COMPLETED. */
  ends?: 'COMPLETED' | 'FAILED' | 'CANCELLED';
  /** Signals from outside, or that the run is cancelled, each once its history has so many events of a type. */
  later: ((Sent | { cancels: true }) & { events: string; times: number })[];
}

/** Makes a scripted run of a contract. */
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
