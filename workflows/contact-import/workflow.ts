import { ActivityFailure, ApplicationFailure, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { ContactImportActivities, ContactImportArgs } from './contract.ts';

/** A file is read for as long as it takes; a worker that dies is noticed by its missing heartbeat. */
const { importContacts } = proxyActivities<ContactImportActivities>({
  startToCloseTimeout: '24h',
  heartbeatTimeout: '60s',
  summary: 'read the file and apply it in batches',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m', maximumAttempts: 50 },
});

const { abandonImport } = proxyActivities<ContactImportActivities>({
  startToCloseTimeout: '1m',
  summary: 'record that the import failed',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
});

/** One CSV import. Rows, checkpoint and result are in PostgreSQL; this run only sees to it that it ends. */
export async function contactImport(args: ContactImportArgs): Promise<string> {
  setCurrentDetails('reading the file; progress is on the import');
  try {
    await importContacts(args);
    setCurrentDetails('ended; the result is on the import');
    return 'ended';
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : undefined;
    const told = cause instanceof ApplicationFailure && cause.type === 'import_refused';
    await abandonImport({ ...args, reason: told ? cause.message : 'The import could not be finished; start it again' });
    setCurrentDetails('failed; the reason is on the import');
    return 'failed';
  }
}
