import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { output, type ForeignClient } from './foreign-client.ts';

const HERE = fileURLToPath(new URL('go/', import.meta.url));

/** Client made by oapi-codegen. */
export const goClient: ForeignClient = {
  name: 'go',
  async missing() {
    try {
      await output('go', ['mod', 'download'], { cwd: HERE });
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  },
  async generate(document, folder) {
    await cp(HERE, folder, { recursive: true });
    await mkdir(join(folder, 'heron'));
    const said = await output('go', ['tool', 'oapi-codegen', '-config', 'config.yaml', document], { cwd: folder });
    await output('go', ['build', '-o', 'first-campaign', '.'], { cwd: folder });
    return { said, run: (env) => output(join(folder, 'first-campaign'), [], { env }) };
  },
};
