import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { SENSITIVE } from '../../lib/config/secrets.ts';
import { freePort } from '../../local/servers.ts';
import { createTestDatabase } from '../harness/database.ts';
import { heron } from '../harness/heron.ts';

const drawn = (bytes = 24) => randomBytes(bytes).toString('base64url');

async function folder(t: ExecutionContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'heron-support-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  await mkdir(join(path, 'logs'));
  return path;
}

/** Writes logs with secrets in every possible form. Returns the texts that a bundle must not contain. */
async function plantInLogs(dataDir: string): Promise<string[]> {
  const [token, password, key, word, code] = [drawn(), drawn(), randomBytes(32).toString('hex'), drawn(), drawn()];
  const [person, other] = [`anna.${drawn(6)}@post.example`, `bo+${drawn(6)}@müller.example`];
  const lines = [
    JSON.stringify({ level: 30, msg: 'setup', setupUrl: `http://127.0.0.1/setup/${token}` }),
    JSON.stringify({ level: 30, msg: 'mail', mail: { to: person, subject: code, text: `code ${code}` } }),
    JSON.stringify({
      level: 50,
      msg: `refused ${other}`,
      err: { message: `password=${password}`, stack: 'at line 1' },
    }),
    `FATAL: cannot reach postgres://heron:${password}@db.example/heron for <${person}>`,
    `Authorization: Bearer ${word}`,
    `the key ${key} of ${other}`,
  ];
  await writeFile(join(dataDir, 'logs', 'worker.log'), `${lines.join('\n')}\n`);
  return [token, password, key, word, code, person, other, person.split('@')[0]!];
}

/** Returns random values for secrets, in the form that each needs. */
function drawnSettings(): Record<string, string> {
  const others = new Set(['PRIMARY_DB', 'PROSPECT_DB', 'PROSPECT_OWNER_DB', 'REDIS_URL', 'NATS_URL', 'CODEC_KEYS']);
  const keys = new Set(['CREDENTIALS_ENCRYPTION_KEY', 'CREDENTIALS_PREVIOUS_KEYS', 'TRACKING_KEYS', 'SECRET_KEY_BASE']);
  const settings = Object.fromEntries(
    [...SENSITIVE]
      .filter((name) => !others.has(name) && !name.startsWith('TEMPORAL_'))
      .map((name) => [name, keys.has(name) ? randomBytes(32).toString('hex') : drawn()]),
  );
  // JWT_SECRET is another name of AUTH_SECRET.
  return {
    ...settings,
    JWT_SECRET: settings.AUTH_SECRET!,
    KMS_LOCAL_MASTER_KEY: randomBytes(32).toString('base64'),
  };
}

test('a bundle holds what a helper asks for, and no secret, token, password or address', async (t) => {
  const HERON_DATA_DIR = await folder(t);
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  const planted = await plantInLogs(HERON_DATA_DIR);
  const file = join(HERON_DATA_DIR, 'bundle.md');
  const url = new URL(database.url);
  const settings = { ...drawnSettings(), SMTP_USERNAME: `post-${drawn(6)}@heron.example` };
  const { code, stderr } = await heron(['support-bundle', file], {
    ...settings,
    TEMPORAL_ADDRESS: process.env.HERON_TEST_TEMPORAL!,
    SES_ACCESS_KEY_ID: 'ses-account',
    BLOB_S3_ACCESS_KEY_ID: 's3-account',
    HERON_DATA_DIR,
    APP_ENV: 'dev',
    PRIMARY_DB: database.url,
    LOG_LEVEL: 'warn',
  });
  t.is(code, 0, stderr);
  const text = await readFile(file, 'utf8');
  for (const secret of [...planted, ...Object.values(settings), url.password].filter(Boolean))
    t.false(text.includes(secret), `${secret} stands in the bundle`);
  t.is((await stat(file)).mode & 0o777, 0o600);
  for (const part of [
    /^Heron \d/m,
    /^Node v\d+.*npm/m,
    /PostgreSQL: PostgreSQL \d/,
    /Temporal server: \d/,
    /^AUTH_SECRET\s+sha256:[0-9a-f]{8}\s+environment$/m,
    /^LOG_LEVEL\s+warn\s+environment$/m,
    /outbox, waiting: 0/,
    /^0001_baseline$/m,
    /The database schema matches this build/,
    /"msg":"refused \[address\]"/,
    /disk: \d+ MiB free/,
  ])
    t.regex(text, part);
});

test('with everything away, and with faulty settings, a bundle says what could not be had', async (t) => {
  const HERON_DATA_DIR = await folder(t);
  const planted = await plantInLogs(HERON_DATA_DIR);
  const file = join(HERON_DATA_DIR, 'bundle.md');
  const password = drawn();
  const away = {
    HERON_DATA_DIR,
    PRIMARY_DB: `postgres://heron:${password}@127.0.0.1:${await freePort()}/heron`,
    TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`,
  };
  for (const [env, said] of [
    [away, /Temporal server: not available/],
    [{ ...away, API_PORT: 'no port' }, /The configuration has 1 fault/],
  ] as const) {
    const { code, stderr } = await heron(['support-bundle', file], env);
    t.is(code, 0, stderr);
    const text = await readFile(file, 'utf8');
    t.regex(text, said);
    t.regex(text, /PRIMARY_DB\s+sha256:[0-9a-f]{8}\s+environment/);
    t.regex(text, /not available/);
    t.regex(text, /--- worker\.log/);
    for (const secret of [...planted, password]) t.false(text.includes(secret), `${secret} stands in the bundle`);
  }
});
