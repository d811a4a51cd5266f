import { assemble } from '../../deploy/assemble.ts';
import { loadConfig } from '../../lib/config/index.ts';
import { silentLogger } from '../../lib/log.ts';
import { withRawDb, type TestAssembly } from '../harness/database.ts';
import { startParts, type Parts, type PartsOptions } from './parts.ts';
import type { Check } from './reconcile.ts';

/** Settings of an installation with campaigns. */
export const CAMPAIGN_SETTINGS: Record<string, string> = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'info',
  ALLOW_UNSAFE_WEBHOOK_URLS: 'true',
  ALLOW_PRIVATE_MAIL_HOSTS: 'true',
  ORG_WRITES_PER_MINUTE: '0',
  // This is longer than any delay of the mail server, so that a running attempt is never mistaken for an abandoned one.
  SEND_CLAIM_MS: '5000',
  LAUNCH_HORIZON_MS: '20000',
  IMAP_POLL_MS: '1000',
  // A claim may expire on a busy machine before the email is submitted. The default would repeat the email only after
  // five minutes.
  SMTP_UNREACHABLE_RETRY_MS: '3000',
};

/** Folders of data and logs that are kept if a check has findings. */
export interface Kept {
  folder: string | undefined;
}

/**
 * Runs work on an installation of real processes with a direct database connection, and stops it. Keeps data and logs
 * if a check has findings.
 */
export async function onInstallation<Report extends { checks: Check[] }>(
  options: PartsOptions,
  play: (parts: Parts, assembly: TestAssembly) => Promise<Report>,
): Promise<Report & Kept> {
  const parts = await startParts(options);
  let assembly: TestAssembly | undefined;
  let keepFolder = true;
  try {
    assembly = withRawDb(assemble(loadConfig({ ...parts.env }), 'faults', { log: silentLogger }));
    const report = await play(parts, assembly);
    keepFolder = !isClean(report.checks);
    return { ...report, folder: keepFolder ? parts.folder : undefined };
  } finally {
    await assembly?.close();
    await parts.stop({ keepFolder });
  }
}

/** Returns true if no check has findings. */
export function isClean(checks: readonly Check[]): boolean {
  return checks.every(({ faults }) => faults.length === 0);
}
