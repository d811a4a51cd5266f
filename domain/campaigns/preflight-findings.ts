import type { PreflightCheck, PreflightFinding } from '../../db/json-columns.ts';

/** What a preflight looks at: the key of each check, what its passing means, and the most it can take from the score. */
export const PREFLIGHT_CHECKS = {
  launch: { passes: 'Nothing keeps the campaign from starting', most: 60 },
  sending_domains: { passes: 'The sending domains have SPF, DKIM, DMARC and take mail', most: 30 },
  tracking_domain: { passes: 'Links and opens are tracked as they should be', most: 15 },
  unsubscribe: { passes: 'Recipients can opt out', most: 15 },
  content: { passes: 'The copy reads like a letter', most: 20 },
  variables: { passes: 'Every lead has the fields that the copy uses', most: 10 },
  list: { passes: 'The list carries no unusual risk', most: 20 },
  daily_limit: { passes: 'The volume per mailbox is moderate', most: 10 },
  schedule: { passes: 'The sending windows and dates hold the whole campaign', most: 20 },
  ab_variants: { passes: 'The variants can be compared', most: 5 },
} as const satisfies Record<string, { passes: string; most: number }>;

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
export function errorFinding(
  check: PreflightCheckKey,
  code: string,
  message: string,
  fix: string,
  stepId?: string | null,
): WeighedFinding {
  return { ...finding(check, 'error', code, message, fix, stepId), points: ERROR_POINTS };
}

/** A finding that costs points and nothing else. */
export function warningFinding(
  check: PreflightCheckKey,
  points: number,
  code: string,
  message: string,
  fix: string,
  stepId?: string | null,
): WeighedFinding {
  return { ...finding(check, 'warning', code, message, fix, stepId), points };
}

/** A finding that costs nothing: worth knowing, or not known. */
export function infoFinding(
  check: PreflightCheckKey,
  code: string,
  message: string,
  fix: string,
  stepId?: string | null,
): WeighedFinding {
  return { ...finding(check, 'info', code, message, fix, stepId), points: 0 };
}

function finding(
  check: PreflightCheckKey,
  severity: PreflightFinding['severity'],
  code: string,
  message: string,
  fix: string,
  stepId?: string | null,
): Omit<WeighedFinding, 'points'> {
  return { check, code, severity, message, fix, ...(stepId ? { step_id: stepId } : {}) };
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
  /** What to do, most useful first, each once. */
  recommendations: string[];
}

/** Weighs findings: 100 less the points of each check, of which each check can take so much and no more; at most 40 with an error. */
export function weighFindings(found: readonly WeighedFinding[], looked: readonly PreflightCheckKey[]): Verdict {
  const ordered = found.toSorted((a, b) => RANK[a.severity] - RANK[b.severity] || b.points - a.points);
  const passed = ordered.every(({ severity }) => severity !== 'error');
  const lost = looked.reduce((sum, key) => {
    const points = ordered.filter(({ check }) => check === key).reduce((all, one) => all + one.points, 0);
    return sum + Math.min(points, PREFLIGHT_CHECKS[key].most);
  }, 0);
  return {
    passed,
    score: Math.max(0, Math.min(passed ? 100 : MOST_WITH_ERROR, 100 - lost)),
    checks: looked.map((key) =>
      summaryOf(
        key,
        ordered.filter(({ check }) => check === key),
      ),
    ),
    findings: ordered.map(({ points: _, ...kept }) => kept),
    recommendations: [...new Set(ordered.filter(({ severity }) => severity !== 'info').map(({ fix }) => fix))],
  };
}

function summaryOf(key: PreflightCheckKey, found: readonly WeighedFinding[]): PreflightCheck {
  const [worst, ...others] = found;
  if (!worst) return { key, passed: true, severity: 'info', message: PREFLIGHT_CHECKS[key].passes, remediation: '' };
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return {
    key,
    passed: worst.severity === 'info',
    severity: worst.severity,
    message: `${worst.message}${more}`,
    remediation: worst.fix,
  };
}
