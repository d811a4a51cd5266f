import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import test from 'ava';
import { settingsSchema } from '../../lib/config/settings.ts';
import { filesBelow } from '../sources.ts';
import { SHARED } from './limits.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Folders whose code may limit a resource that workspaces share. */
const FOLDERS = ['api', 'db', 'domain', 'lib', 'temporal', 'workers'];
/** Matches the construction of a limiter that gives each workspace a share. */
const SHARES = /new (FairQueue|TargetLimits|RequestsUnderWay)\(/;
/** Matches the names of settings that limit something. */
const LIMITS =
  /^(ORG_.*|.*_PER_(MINUTE|HOUR|DAY)|.*_CONNECTIONS|.*_PENDING|.*_CONCURRENCY|.*_SESSIONS|.*_SLOTS|.*_MAX(_.*)?|DB_(STATEMENT|LOCK)_TIMEOUT_MS|WORKER_CACHED_WORKFLOWS)$/;

const listed = new Set(SHARED.flatMap(({ by }) => by));

test('each setting that limits something has a row in the table of what workspaces share', (t) => {
  const limits = Object.keys(settingsSchema.shape).filter((name) => LIMITS.test(name));
  t.true(limits.length > 20);
  t.deepEqual(
    limits.filter((name) => !listed.has(name)),
    [],
    'add a row to SHARED of local/docs/limits.ts',
  );
});

test('each share in the code has a row, and each row names what exists', async (t) => {
  const files = (await Promise.all(FOLDERS.map((folder) => filesBelow(join(ROOT, folder), new Set(['.ts']))))).flat();
  const paths = files.map((file) => file.replace(ROOT, '')).filter((path) => /(?<!\.test)\.ts$/.test(path));
  const texts = await Promise.all(paths.map(async (path) => readFile(join(ROOT, path), 'utf8')));
  const sharing = paths.filter((_path, n) => SHARES.test(texts[n]!));
  t.true(sharing.length >= 5);
  t.deepEqual(
    sharing.filter((path) => !listed.has(path)),
    [],
    'add a row to SHARED of local/docs/limits.ts',
  );
  const known = new Set([...paths, ...Object.keys(settingsSchema.shape)]);
  t.deepEqual(
    [...listed].filter((name) => !known.has(name)),
    [],
  );
});
