import { assemble } from '../../deploy/assemble.ts';
import { loadConfig } from '../../lib/config/index.ts';
import { silentLogger } from '../../lib/log.ts';
import { withRawDb, type TestAssembly } from '../harness/database.ts';
import { startParts, type Parts, type PartsOptions } from './parts.ts';
import type { Check } from './reconcile.ts';

/** Settings of an installation that campaigns are played on. */
export const CAMPAIGN_SETTINGS: Record<string, string> = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'info',
  ALLOW_UNSAFE_WEBHOOK_URLS: 'true',
  ALLOW_PRIVATE_MAIL_HOSTS: 'true',
  ORG_WRITES_PER_MINUTE: '0',
  // Longer than any delay of the mail server, so that a living attempt is never taken for a dead one.
  SEND_CLAIM_MS: '5000',
  LAUNCH_HORIZON_MS: '20000',
  IMAP_POLL_MS: '1000',
  // On a busy machine a conversation may run out of its claim before anything was handed over: by default it is repeated after five minutes.
  SMTP_UNREACHABLE_RETRY_MS: '3000',
};

/** Where the data and the logs are, when something differs. */
export interface Kept {
  folder: string | undefined;
}

/** Plays on an installation of real processes, with this process's own way to its database, and takes it down; what differs leaves data and logs. */
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

/** Whether no check has found anything. */
export function isClean(checks: readonly Check[]): boolean {
  return checks.every(({ faults }) => faults.length === 0);
}
