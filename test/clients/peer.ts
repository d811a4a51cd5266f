import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../../local/packages/cache.ts';
import { output } from './foreign-client.ts';

const HERE = fileURLToPath(new URL('peer/', import.meta.url));
/** Python environment with the packages of requirements.txt, installed once per machine. */
const ENVIRONMENT = join(cacheFolder('peer-sdk'), 'venv');
const PYTHON = join(ENVIRONMENT, 'bin', 'python');

/** Installs the peer's SDK. Returns the reason why it is not available; undefined if it is. */
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
 * Calls those methods of a peer's SDK that use routes which Heron has, too.
 * @throws Error with the output of the program when a method returns a wrong result
 */
export function runPeer(env: Record<string, string>): Promise<string> {
  return output(PYTHON, ['shared_methods.py'], { cwd: HERE, env });
}
