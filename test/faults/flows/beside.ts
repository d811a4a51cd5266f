import type { TestAssembly } from '../../harness/database.ts';
import type { Parts } from '../parts.ts';
import type { Check } from '../reconcile.ts';
import type { Workspace } from './stage.ts';

/** Running installation on which flows are played. */
export interface Installation {
  parts: Parts;
  assembly: TestAssembly;
  /** Row ids of the flows so far, by marker. */
  played: { ids: ReadonlyMap<string, string> };
  log: (line: string) => void;
}

/** Activity during the flows, such as further faults. */
export interface Beside {
  /** Called at the start of a round, with its workspace. */
  onRound(workspace: Workspace): Promise<void>;
  /** Pauses until the next round, so that everything can settle. */
  rest(): Promise<void>;
  /** Stops the activity, waits for its effects to end, and returns the checks of its records. */
  finish(): Promise<Check[]>;
}
