import { z } from 'zod';
import { findingMessage, renderFinding, type PreflightCheck, type PreflightFinding } from '../../lib/finding.ts';
import { message, type Language, type MessageCode } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';

export const severity = z.enum(['error', 'warning', 'info']);

/** Fields of a finding in an answer. */
export const findingFields = {
  code: z.string(),
  severity,
  message: z.string(),
  fix: z.string().meta({ description: 'Action that fixes it; empty if none is needed' }),
  values: z.record(z.string(), z.unknown()).meta({ description: 'Values in `message`, by name' }),
};

/** Stored preflight report. A run or an approval may contain it. */
interface StoredReport {
  checks?: PreflightCheck[];
  findings?: PreflightFinding[];
}

/** Returns a stored preflight report with its texts in a language. */
export function presentReport<Report extends StoredReport>(report: Report, language: Language | undefined) {
  const { checks = [], findings = [], ...rest } = report;
  return {
    ...rest,
    checks: checks.map((check) => ({
      ...check,
      ...summaryOf(
        check,
        findings.filter(({ check: key }) => key === check.key),
        language,
      ),
    })),
    findings: findings.map(({ check, step_id: stepId, ...finding }) => ({
      check,
      ...renderFinding(finding, language),
      ...(stepId ? { step_id: stepId } : {}),
    })),
    recommendations: [
      ...new Set(
        findings
          .filter((finding) => finding.severity !== 'info')
          .flatMap((finding) => findingMessage(finding, 'fix') ?? [])
          .map((fix) => render(fix, language)),
      ),
    ],
  };
}

/** Summarizes a check in one line: its worst finding, or the meaning of a passed check. */
function summaryOf({ key }: PreflightCheck, [worst, ...others]: PreflightFinding[], language: Language | undefined) {
  if (!worst) {
    const passes = { code: `preflight.passes.${key}` as MessageCode, values: {} };
    return { message: render(passes, language), remediation: '' };
  }
  const { code, values } = worst;
  const said =
    others.length === 0
      ? { code, values }
      : message('preflight.and_more', { worst: { code, values }, count: others.length });
  return { message: render(said, language), remediation: renderFinding(worst, language).fix };
}
