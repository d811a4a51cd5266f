import type { AutomationGraph, AutomationNodeResult, AutomationWaiting } from './graph.ts';
import type { AutomationContact } from './values.ts';

/** State of an active automation run in memory. */
export interface AutomationRunState {
  id: string;
  automationId: string;
  automationName: string;
  graph: AutomationGraph;
  trigger: string;
  data: Record<string, unknown>;
  contact: AutomationContact | null;
  /** Results of the nodes, in the order in which they were obtained. */
  results: AutomationNodeResult[];
  /** Waiting nodes of the run, by node id. */
  waiting: AutomationWaiting;
  /** Length of the chain of events and runs that led to this run. */
  hops: number;
  /**
   * Rights that limit which automations the run may start: the rights of its author and of the authors of the runs that
   * started it.
   */
  rights: readonly string[];
}

/**
 * Copies the waiting nodes, by id, into an object without a prototype, because a node id may be any name, even
 * `constructor`.
 */
export function toWaiting(stored: AutomationWaiting | null): AutomationWaiting {
  return Object.assign(Object.create(null) as AutomationWaiting, stored);
}

/** Number of hops at which a run is not started any more. Stops automations that start each other. */
export const MAX_AUTOMATION_RUN_HOPS = 8;
