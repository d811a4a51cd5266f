import { randomBytes } from 'node:crypto';
import { connect, type Db } from '../../db/connection.ts';
import { grantTrackingRole } from '../../db/tracking-role.ts';
import type { Deps } from '../../domain/platform/kernel/context.ts';
import type { Config } from '../../lib/config/index.ts';
import { TRACKING_SETTINGS } from '../../lib/config/tracking-settings.ts';
import { createTrackingKeyring } from '../../lib/keyring.ts';
import { rawDb } from './database.ts';
import type { World } from './world.ts';

/** Login with the rights of the tracking process. */
interface TrackingLogin {
  url: string;
  drop(): Promise<void>;
}

/**
 * Creates a login that is a member of the role heron_tracking, and grants the role its rights in the database.
 * Databases of one server share their roles, so each test has its own login.
 */
export async function createTrackingLogin(db: Db, databaseUrl: string): Promise<TrackingLogin> {
  const name = `tracking_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  const admin = rawDb(db);
  await admin.raw(`do $$ begin create role heron_tracking nologin;
    exception when duplicate_object or unique_violation then null; end $$`);
  await admin.raw(`create role ${name} login password '${password}' in role heron_tracking`);
  await grantTrackingRole(db);
  const url = new URL(databaseUrl);
  url.username = name;
  url.password = password;
  return { url: url.href, drop: async () => void (await admin.raw(`drop role ${name}`)) };
}

/** Parts of a tracking process, with the login, keys and settings that it has in production. */
export interface TrackingProcess {
  deps: Deps;
  close(): Promise<void>;
}

/**
 * Creates the parts of a tracking process of a world. Reading a setting that a tracking process does not have throws.
 */
export async function createTrackingProcess({ deps, databaseUrl }: World): Promise<TrackingProcess> {
  const login = await createTrackingLogin(deps.db, databaseUrl);
  const db = connect({ url: login.url, max: 5, name: 'heron-tracking', prepared: true });
  const config = new Proxy(deps.config, {
    get(all, name: string) {
      if (!TRACKING_SETTINGS.has(name)) throw new Error(`${name} is no setting of the tracking process`);
      return all[name as keyof Config];
    },
  });
  const keyring = createTrackingKeyring(deps.keyring.tracking.accepted.map((key) => key.toString('hex')));
  return {
    deps: { ...deps, db, config, keyring },
    async close() {
      await db.destroy();
      await login.drop();
    },
  };
}
