import type { PreflightCheck, PreflightFinding } from '../../db/json-columns.ts';
import { found } from '../../lib/finding.ts';
import type { Message } from '../../messages/index.ts';

/** The most that each check can take from the score. What its passing means is the sentence `preflight.passes.<check>`. */
export const PREFLIGHT_CHECKS = {
  launch: 60,
  sending_domains: 30,
  tracking_domain: 15,
  unsubscribe: 15,
  content: 20,
  variables: 10,
  list: 20,
  daily_limit: 10,
  schedule: 20,
  ab_variants: 5,
} as const;

export type PreflightCheckKey = keyof typeof PREFLIGHT_CHECKS;

/** A finding, and what it takes from the score. */
export interface WeighedFinding extends PreflightFinding {
  check: PreflightCheckKey;
  points: number;
}

/** What an error takes, and what a score with one cannot exceed: such a campaign does not start. */
const ERROR_POINTS = 40;
const MOST_WITH_ERROR = 40;
const RANK = { error: 0, warning: 1, info: 2 } as const;

/** A finding that keeps the campaign from starting. */
export function errorFinding(check: PreflightCheckKey, said: Message, stepId?: string | null): WeighedFinding {
  return { ...found('error', said), check, points: ERROR_POINTS, ...placed(stepId) };
}

/** A finding that costs points and nothing else. */
export function warningFinding(
  check: PreflightCheckKey,
  points: number,
  said: Message,
  stepId?: string | null,
): WeighedFinding {
  return { ...found('warning', said), check, points, ...placed(stepId) };
}

/** A finding that costs nothing: worth knowing, or not known. */
export function infoFinding(check: PreflightCheckKey, said: Message, stepId?: string | null): WeighedFinding {
  return { ...found('info', said), check, points: 0, ...placed(stepId) };
}

function placed(stepId: string | null | undefined): { step_id?: string } {
  return stepId ? { step_id: stepId } : {};
}

/** What a report says over its findings. */
interface Verdict {
  /** No finding is an error. */
  passed: boolean;
  /** 0 to 100. */
  score: number;
  checks: PreflightCheck[];
  /** Worst first. */
  findings: PreflightFinding[];
}

/** Weighs findings: 100 less the points of each check, of which each check can take so much and no more; at most 40 with an error. */
export function weighFindings(found: readonly WeighedFinding[], looked: readonly PreflightCheckKey[]): Verdict {
  const ordered = found.toSorted((a, b) => RANK[a.severity] - RANK[b.severity] || b.points - a.points);
  const passed = ordered.every(({ severity }) => severity !== 'error');
  const lost = looked.reduce((sum, key) => {
    const points = ordered.filter(({ check }) => check === key).reduce((all, one) => all + one.points, 0);
    return sum + Math.min(points, PREFLIGHT_CHECKS[key]);
  }, 0);
  return {
    passed,
    score: Math.max(0, Math.min(passed ? 100 : MOST_WITH_ERROR, 100 - lost)),
    checks: looked.map((key) => {
      // They are ordered: the first of a check is its worst.
      const severity = ordered.find(({ check }) => check === key)?.severity ?? 'info';
      return { key, passed: severity === 'info', severity };
    }),
    findings: ordered.map(({ points: _, ...kept }) => kept),
  };
}
