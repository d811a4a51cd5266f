import type { PreflightCheck, PreflightFinding } from '../../db/json-columns.ts';
import { toFinding } from '../../lib/finding.ts';
import type { Message } from '../../messages/index.ts';

/**
 * Maximum number of points that each check can subtract from the score. A check that has passed is described by the
 * message `preflight.passes.<check>`.
 */
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

/** A finding with the points it subtracts from the score. */
export interface WeighedFinding extends PreflightFinding {
  check: PreflightCheckKey;
  points: number;
}

/**
 * Number of points that an error subtracts. MOST_WITH_ERROR is the maximum score of a campaign with an error, which
 * cannot start.
 */
const ERROR_POINTS = 40;
const MOST_WITH_ERROR = 40;
const RANK = { error: 0, warning: 1, info: 2 } as const;

/** Creates a finding that prevents the campaign from starting. */
export function errorFinding(check: PreflightCheckKey, said: Message, stepId?: string | null): WeighedFinding {
  return { ...toFinding('error', said), check, points: ERROR_POINTS, ...placed(stepId) };
}

/** Creates a finding that lowers the score but does not prevent a start. */
export function warningFinding(
  check: PreflightCheckKey,
  points: number,
  said: Message,
  stepId?: string | null,
): WeighedFinding {
  return { ...toFinding('warning', said), check, points, ...placed(stepId) };
}

/** Creates a finding without points, for information or an unknown result. */
export function infoFinding(check: PreflightCheckKey, said: Message, stepId?: string | null): WeighedFinding {
  return { ...toFinding('info', said), check, points: 0, ...placed(stepId) };
}

function placed(stepId: string | null | undefined): { step_id?: string } {
  return stepId ? { step_id: stepId } : {};
}

/** The summary of a report. */
interface Verdict {
  /** True if no finding is an error. */
  passed: boolean;
  /** Score from 0 to 100; higher is better. */
  score: number;
  checks: PreflightCheck[];
  /** Findings, worst first. */
  findings: PreflightFinding[];
}

/**
 * Computes the score and the summary of a report. The score is 100 minus the points of all checks. Each check subtracts
 * at most its maximum. With an error the score is at most 40.
 */
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
      // Takes the first finding of the check, which is its worst one because the findings are sorted.
      const severity = ordered.find(({ check }) => check === key)?.severity ?? 'info';
      return { key, passed: severity === 'info', severity };
    }),
    findings: ordered.map(({ points: _, ...kept }) => kept),
  };
}
