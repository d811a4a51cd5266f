import type { Decision, Done } from './contract.ts';

/**
 * Runs that earlier releases began carry the id of their enrollment. That argument distinguishes them, as `patched` would, without
 * the two events and the update of the visibility store that a patch costs every new run.
 */
export interface ArgsOfEarlierReleases {
  enrollmentId?: string;
}

/** Decisions as earlier releases recorded them. */
export type DecisionOfEarlierReleases =
  | { kind: 'send'; sendId: string; at: number | null; where: string }
  | { kind: 'call'; stepRunId: string; where: string }
  | { kind: 'sleep'; until: number | null; state: 'waiting' | 'held' | 'blocked'; where: string }
  | Done;

/** A decision in the form of this release. */
export function asDecision(decision: Decision | DecisionOfEarlierReleases): Decision {
  if (decision.kind === 'sleep') {
    const { until, state, where } = decision;
    if (state !== 'waiting') return { kind: 'hold', until, state, where, step: null };
    return until === null
      ? { kind: 'waitForEvent', eventName: '', until, where, step: null }
      : { kind: 'wait', until, where, step: null };
  }
  if (decision.kind === 'send' && 'at' in decision) {
    const { sendId, at, where } = decision;
    return at === null ? { kind: 'send', sendId, where, step: null } : { kind: 'slot', sendId, at, where, step: null };
  }
  return decision as Decision;
}
