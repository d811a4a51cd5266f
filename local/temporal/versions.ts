import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Version of the oldest server that has all features used by Heron's workflows. */
const OLDEST_SERVER = [1, 27] as const;

interface CliVersions {
  cli: string;
  server: string;
}

/**
 * Returns the versions of a CLI and of the server inside it.
 * @throws Error when the program does not run, or does not report them
 */
export async function readVersions(path: string): Promise<CliVersions> {
  const { stdout } = await run(path, ['--version'], { timeout: 20_000 });
  const match = /temporal version (\S+) \(Server (\d+\.\d+[^,)\s]*)/.exec(stdout);
  if (!match) throw new Error('it does not say which Temporal server it holds');
  return { cli: match[1]!, server: match[2]! };
}

/**
 * Inspects a program. Returns its versions if Heron can use it, `missing` if it does not exist, or the reason why it
 * cannot be used.
 */
export async function inspectCli(path: string): Promise<CliVersions | 'missing' | { refused: string }> {
  try {
    await access(path, constants.X_OK);
  } catch {
    return 'missing';
  }
  try {
    const versions = await readVersions(path);
    const [major = 0, minor = 0] = versions.server.split('.').map(Number);
    const old = major < OLDEST_SERVER[0] || (major === OLDEST_SERVER[0] && minor < OLDEST_SERVER[1]);
    return old ? { refused: `its server ${versions.server} is older than ${OLDEST_SERVER.join('.')}` } : versions;
  } catch (error) {
    return { refused: error instanceof Error ? error.message.split('\n', 1)[0]! : String(error) };
  }
}
