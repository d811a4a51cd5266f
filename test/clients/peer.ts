import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../../local/packages/cache.ts';
import { output } from './foreign-client.ts';

const HERE = fileURLToPath(new URL('peer/', import.meta.url));
/** Environment with the packages of requirements.txt, installed once per machine. */
const ENVIRONMENT = join(cacheFolder('peer-sdk'), 'venv');
const PYTHON = join(ENVIRONMENT, 'bin', 'python');

/** Returns the reason why the peer's SDK is not available; undefined if it is. Fetches it. */
export async function peerMissing(): Promise<string | undefined> {
  try {
    await output('python3', ['-m', 'venv', ENVIRONMENT]);
    const requirements = join(HERE, 'requirements.txt');
    await output(PYTHON, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements]);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Calls the methods of a peer's SDK whose routes Heron has.
 * @throws Error with the output of the program when a method reads something else than it should
 */
export function runPeer(env: Record<string, string>): Promise<string> {
  return output(PYTHON, ['shared_methods.py'], { cwd: HERE, env });
}
