import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { BLOCKED, type Sentence } from '../contract.ts';
import { resourceQueue } from '../queues.ts';
import { showOpen, showState } from '../show.ts';
import {
  contactImportWorkflow,
  type ContactImportActivities,
  type ContactImportArgs,
  type ContactImportSignals,
} from './contract.ts';

const retry = defineSignal<[ContactImportSignals['retry']]>('retry');

/**
 * One CSV import. Rows, checkpoint and result are in PostgreSQL; this workflow repeats the activity until the import
 * has ended.
 */
export async function contactImport(args: ContactImportArgs): Promise<string> {
  const queue = resourceQueue(workflowInfo().taskQueue, 'batch');
  const { importContacts } = proxyActivities<ContactImportActivities>({
    taskQueue: queue,
    summary: 'read the file and apply it in batches',
    // The timeout is long, because reading a file has no fixed limit. A dead worker is detected by its missing
    // heartbeat.
    startToCloseTimeout: '24h',
    heartbeatTimeout: '60s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  const { abandonImport } = proxyActivities<ContactImportActivities>({
    taskQueue: queue,
    summary: 'record that the import failed',
    startToCloseTimeout: '1m',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  let retried = false;
  setHandler(retry, () => {
    retried = true;
  });
  const show = showState();
  for (;;) {
    retried = false;
    show({ state: 'active' });
    showOpen(contactImportWorkflow, 'reading the file; progress is on the import');
    try {
      await importContacts(args);
      setCurrentDetails('ended; the result is on the import');
      return 'ended';
    } catch (error) {
      const cause = error instanceof ActivityFailure ? error.cause : undefined;
      const said = cause instanceof ApplicationFailure ? cause : undefined;
      if (said?.type === BLOCKED) {
        show({ state: 'blocked' });
        showOpen(contactImportWorkflow, said.message);
        await condition(() => retried);
        continue;
      }
      const reason = said?.type === 'import_refused' ? (said.details as [Sentence])[0] : null;
      await abandonImport({ ...args, reason });
      setCurrentDetails('failed; the reason is on the import');
      return 'failed';
    }
  }
}
