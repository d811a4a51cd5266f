/**
 * Worker that replaces the stack's own and counts its statements by code path. It answers the message `take` with the
 * counts since the previous `take`.
 */
import { assemble } from '../../deploy/assemble.ts';
import { loadConfig } from '../../lib/config/index.ts';
import { silentLogger } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { withRawDb } from '../../test/harness/database.ts';
import { countStatements, PATHS_OF_ACTIVITIES, startPaths } from '../../test/harness/statement-counter.ts';
import { startWorker } from '../../workers/worker.ts';

const assembly = withRawDb(assemble(loadConfig(), 'worker', { log: silentLogger }));
const { deps, temporal } = assembly;
startPaths();
const counter = countStatements(deps.db);
const worker = await startWorker({ deps, metrics: createMetrics(), temporal, aroundActivity: PATHS_OF_ACTIVITIES });
process.on('message', () => process.send!(counter.take()));
process.once('SIGTERM', () => {
  void worker
    .stop()
    .then(() => assembly.close())
    .then(() => process.exit(0));
});
process.send!({ port: 0 });
