import { createCommandApi, type ApiSettings } from './api-client.ts';

/** Fields of the API's report that the command prints. */
interface Report {
  campaign_id: string;
  passed: boolean;
  score: number;
  checks: { key: string; passed: boolean; severity: 'error' | 'warning' | 'info'; message: string }[];
  findings: { severity: 'error' | 'warning' | 'info'; check: string; code: string; message: string; fix: string }[];
}

/**
 * Requests the preflight of a campaign from the API, which stores the report and sends no email.
 * @throws OperatorError when the API refuses or does not answer
 */
export async function preflight(campaignId: string, env: ApiSettings): Promise<Report> {
  const { heron, ask } = createCommandApi(env, 'a key with SEND_CAMPAIGNS');
  return ask(heron.POST('/v1/campaigns/{id}/preflight', { params: { path: { id: campaignId } } }));
}

/**
 * Formats a report as lines for a terminal: a line per check, then the findings, worst first. The fix is below each
 * finding.
 */
export function preflightLines({ passed, score, checks, findings }: Report): string[] {
  const keys = Math.max(...checks.map(({ key }) => key.length));
  return [
    `${passed ? 'passed' : 'NOT PASSED'}, score ${score} of 100`,
    '',
    ...checks.map(({ key, ...check }) => `${markOf(check)}  ${key.padEnd(keys)}  ${check.message}`),
    ...findings.flatMap(({ severity, check, code, message, fix }) => [
      '',
      `${severity}: ${message} (${check}, ${code})`,
      ...(fix ? [`  fix: ${fix}`] : []),
    ]),
  ];
}

function markOf({ passed, severity }: Pick<Report['checks'][number], 'passed' | 'severity'>): string {
  return (passed ? 'ok' : severity.toUpperCase()).padEnd(7);
}
