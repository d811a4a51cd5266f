/**
 * Worker process that only applies events to subscribers: three subscribers that record their effects in tables of the
 * test (`createReactionTables`). Reports over IPC once it is ready, and runs until it is stopped or killed.
 */
import { connect } from '../../db/connection.ts';
import type { Deps } from '../../domain/platform/kernel/context.ts';
import { openBlobStores } from '../../lib/blobs/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { loadConfig } from '../../lib/config/index.ts';
import { createKeyring } from '../../lib/keyring.ts';
import { createEgress } from '../../lib/egress/index.ts';
import { silentLogger } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { createSharedCache } from '../../lib/shared-cache.ts';
import { noRecords } from './world.ts';
import { startReactions } from '../../workers/reactions.ts';
import { COUNTING_SUBSCRIBERS } from './counting-subscribers.ts';

const config = loadConfig();
const noTemporal = () => Promise.reject(new Error('this process has no Temporal'));
const deps: Deps = {
  db: connect({ url: config.PRIMARY_DB, name: `heron-${process.env.PROCESS_NAME ?? 'reactions'}`, prepared: true }),
  config,
  clock: systemClock,
  log: silentLogger,
  keyring: createKeyring(config.CREDENTIALS_ENCRYPTION_KEY, config.CREDENTIALS_PREVIOUS_KEYS),
  egress: createEgress({ allowUnsafe: false }),
  dns: noRecords,
  blobs: openBlobStores(config),
  cache: createSharedCache(systemClock),
  systemMail: { send: () => Promise.resolve(), close() {} },
  families: [],
  workflows: {
    execute: noTemporal,
    health: noTemporal,
    endRunsOf: noTemporal,
    isOpen: noTemporal,
    failingRuns: noTemporal,
    openRuns() {
      throw new Error('this process has no Temporal');
    },
  },
};
const reactions = await startReactions(deps, createMetrics(), COUNTING_SUBSCRIBERS);
process.once('SIGTERM', () => {
  void reactions
    .stop()
    .then(() => deps.db.destroy())
    .then(() => process.exit(0));
});
process.send!({ port: 0 });
