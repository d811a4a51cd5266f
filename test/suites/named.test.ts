import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { EVENT_TYPES } from '../../domain/platform/kernel/events.ts';
import { settingsSchema } from '../../lib/config/settings.ts';
import { ERROR_CODES } from '../../lib/errors.ts';
import { campaignFindings } from '../../messages/en/campaign-findings.ts';
import { instanceFindings } from '../../messages/en/instance-findings.ts';

/*
 * Checks that everything that the API names exists: each error code is raised, each event emitted, each finding
 * reported and each setting read. Exceptions are listed here with their reasons.
 */

/** Error codes that nothing raises. */
const UNRAISED: Record<string, string> = {};

/** Error codes that no test names. */
const UNTESTED: Record<string, string> = {
  unprocessable: 'a booking service gets it for a body that its provider cannot read; the reasons are tested',
  not_implemented: 'the answer to a method that Node knows and no router serves',
};

/** Events that nothing emits. */
const UNEMITTED: Record<string, string> = {};

/** Findings that nothing reports. */
const UNREPORTED: Record<string, string> = {};

/** Names of the API's documents that nothing in the sources uses. `documented.tsv` lists all names. */
const UNUSED: Record<string, string> = {
  INTERNAL_API_TOKEN: 'another name of METRICS_TOKEN',
  REDIS: 'another name of REDIS_URL',
  campaign_variable_incomplete: 'a command line has it; a value that is missing for some leads is `variable_empty`',
  insufficient_credits: 'Heron has no AI credits',
  mailbox_signature_too_large: 'no signature is imported from a provider',
  plan_required: 'every workspace has every feature',
  sso_wrong_browser: 'Heron has no sign-in by another provider',
};

/** Statuses of the documents that no test names. */
const UNREACHED: Record<string, string> = {
  authorizing: 'nothing sets it: a connection waits for its consent as `pending`',
  paused_trial_expired: 'an installation has no trials, so nothing sets it',
};

/** Settings that only the configuration itself reads. */
const UNREAD: Record<string, string> = {
  JWT_SECRET: 'another name of AUTH_SECRET',
  KMS_LOCAL_MASTER_KEY: 'another form of CREDENTIALS_ENCRYPTION_KEY',
  PUBLIC_HOST: 'gives the defaults of other addresses',
};

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCES = ['api', 'domain', 'lib', 'workers', 'activities', 'workflows', 'temporal', 'deploy', 'db', 'local'];
/** Files that only declare names. */
const DECLARATIONS = new Set([
  'lib/errors.ts',
  'domain/platform/kernel/events.ts',
  'domain/platform/kernel/event-payloads.ts',
  'api/http/openapi-guide.ts',
]);

const isTest = (file: string): boolean => file.endsWith('.test.ts') || file.startsWith('test/');
const files = (await Promise.all([...SOURCES, 'test'].map(read))).flat();
const sources = files.filter(([file]) => !isTest(file) && !DECLARATIONS.has(file) && !file.startsWith('lib/config/'));
const source = sources.map(([, text]) => text).join('\n');
const tests = files
  .filter(([file]) => isTest(file) && file !== 'test/suites/named.test.ts')
  .map(([, text]) => text)
  .join('\n');

async function read(folder: string): Promise<[file: string, text: string][]> {
  const found = await readdir(ROOT + folder, { recursive: true });
  return Promise.all(
    found
      .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
      .map(async (file): Promise<[string, string]> => [
        `${folder}/${file}`,
        await readFile(`${ROOT}${folder}/${file}`, 'utf8'),
      ]),
  );
}

/** Returns those names that occur in a text neither as a whole string nor as a property. */
const missing = (names: readonly string[], text: string): string[] =>
  names
    .filter((name) => !new RegExp(`(?<=['"\`.])${name.replaceAll('.', '\\.')}(?!\\w)|^ *${name}: `, 'm').test(text))
    .sort();
const listed = (reasons: Record<string, string>): string[] => Object.keys(reasons).sort();

test('every error code is raised, and named by a test', (t) => {
  t.deepEqual(missing(Object.keys(ERROR_CODES), source), listed(UNRAISED));
  t.deepEqual(missing(Object.keys(ERROR_CODES), tests), listed(UNTESTED));
});

test('every event is emitted', (t) => {
  t.deepEqual(missing(Object.keys(EVENT_TYPES), source), listed(UNEMITTED));
});

test('every finding is reported', (t) => {
  const codes = Object.keys({ ...campaignFindings, ...instanceFindings })
    .filter((code) => code.startsWith('finding.'))
    .map((code) => code.split('.')[1]!);
  t.deepEqual(missing([...new Set(codes)], source), listed(UNREPORTED));
});

test('every setting is read', (t) => {
  const read = new Set(source.match(/\b[A-Z][A-Z0-9_]{2,}\b/g));
  t.deepEqual(
    Object.keys(settingsSchema.shape)
      .filter((name) => !read.has(name))
      .sort(),
    listed(UNREAD),
  );
});

test('every error code, event, finding, setting and status of the documents is used, and every status tested', async (t) => {
  const rows = (await readFile(new URL('documented.tsv', import.meta.url), 'utf8')).trim().split('\n').slice(1);
  const names = rows.map((row) => row.split('\t') as [kind: string, name: string]);
  const settings = new Set(Object.keys(settingsSchema.shape));
  const absent = names.filter(([kind, name]) =>
    kind === 'setting' ? !settings.has(name) : missing([name], source).length > 0,
  );
  t.deepEqual(absent.map(([, name]) => name).sort(), listed(UNUSED));
  const statuses = names.filter(([kind]) => kind === 'status').map(([, name]) => name);
  t.deepEqual(missing(statuses, tests), listed(UNREACHED));
});
