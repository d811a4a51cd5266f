/**
 * Process with only mailbox sync: `sync-process.ts <database URL> <options of startSync as JSON>`. Prints `watching`
 * when the sync has started.
 */
import { connect } from '../../db/connection.ts';
import { systemClock } from '../../lib/clock.ts';
import { createKeyring } from '../../lib/keyring.ts';
import { silentLogger } from '../../lib/log.ts';
import { startSync } from '../../workers/sync.ts';
import { testConfig } from './world.ts';

const [databaseUrl, options] = process.argv.slice(2) as [string, string];
const config = testConfig(databaseUrl, { IMAP_POLL_MS: '300' });
const db = connect({ url: config.PRIMARY_DB, max: 10 });
const keyring = createKeyring(config.CREDENTIALS_ENCRYPTION_KEY);
const deps = { db, clock: systemClock, config, log: silentLogger, keyring } as Parameters<typeof startSync>[0];
await startSync(deps, JSON.parse(options));
process.stdout.write('watching');
