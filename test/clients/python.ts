import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { output, type ForeignClient } from './foreign-client.ts';
import { cacheFolder } from '../../local/packages/cache.ts';

const HERE = fileURLToPath(new URL('python/', import.meta.url));
const REQUIREMENTS = join(HERE, 'requirements.txt');
/** Environment with the packages of requirements.txt, installed once per machine. */
const ENVIRONMENT = join(cacheFolder('openapi-python-client'), 'venv');
const PYTHON = join(ENVIRONMENT, 'bin', 'python');

/** Client made by openapi-python-client. */
export const pythonClient: ForeignClient = {
  name: 'python',
  async missing() {
    try {
      await output('python3', ['-m', 'venv', ENVIRONMENT]);
      await output(PYTHON, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS]);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  },
  async generate(document, folder) {
    await mkdir(folder);
    const said = await output(join(ENVIRONMENT, 'bin', 'openapi-python-client'), [
      'generate',
      '--path',
      document,
      '--config',
      join(HERE, 'config.yaml'),
      '--meta',
      'none',
      '--output-path',
      join(folder, 'heron_client'),
    ]);
    await copyFile(join(HERE, 'first_campaign.py'), join(folder, 'first_campaign.py'));
    return {
      said,
      // Warnings of the interpreter count as faults of the client.
      run: (env) => output(PYTHON, ['-W', 'error', 'first_campaign.py'], { cwd: folder, env }),
    };
  },
};
