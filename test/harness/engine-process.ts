/** The worker of a test's world as a process of its own, to be killed: says over IPC that it works. WORLD_ENV has the settings of the world, as JSON. */
import { assemble } from '../../deploy/assemble.ts';
import { silentLogger } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { startWorker } from '../../workers/worker.ts';
import { testConfig } from './world.ts';

const config = testConfig(process.env.PRIMARY_DB!, JSON.parse(process.env.WORLD_ENV!) as Record<string, string>);
const { deps, temporal } = assemble(config, 'worker', { log: silentLogger });
await startWorker({ deps, temporal, metrics: createMetrics() });
process.send!({ port: 0 });
