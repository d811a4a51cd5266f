/**
 * Runs the worker of a test's world as a separate process that can be killed. Reports over IPC when the worker is
 * ready. WORLD_ENV contains the world's settings as JSON.
 */
import { assemble } from '../../deploy/assemble.ts';
import { silentLogger } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { startWorker } from '../../workers/worker.ts';
import { testConfig } from './world.ts';

const config = testConfig(process.env.PRIMARY_DB!, JSON.parse(process.env.WORLD_ENV!) as Record<string, string>);
const { deps, temporal } = assemble(config, 'worker', { log: silentLogger });
await startWorker({ deps, temporal, metrics: createMetrics() });
process.send!({ port: 0 });
