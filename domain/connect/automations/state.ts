import type { AutomationGraph, AutomationNodeResult, AutomationWaiting } from './graph.ts';
import type { AutomationContact } from './values.ts';

/** A run under way, in memory. */
export interface RunState {
  id: string;
  automationId: string;
  automationName: string;
  graph: AutomationGraph;
  trigger: string;
  data: Record<string, unknown>;
  contact: AutomationContact | null;
  /** Of the nodes that are settled, in their order. */
  results: AutomationNodeResult[];
  /** Nodes that are not over, by id. */
  waiting: AutomationWaiting;
  /** Reactions in a row that led to it. */
  hops: number;
  /** What it may start: rights of its author, and of those of the runs that led to it, as each saved its automation. */
  rights: readonly string[];
}

/** Nodes that wait, by id. The object has nothing else: an id may be any name, `constructor` too. */
export function toWaiting(stored: AutomationWaiting | null): AutomationWaiting {
  return Object.assign(Object.create(null) as AutomationWaiting, stored);
}

/** A run that this many reactions in a row led to is not begun: automations that start each other end there. */
export const MAX_RUN_HOPS = 8;
