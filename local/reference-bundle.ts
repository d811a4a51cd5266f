/**
 * `node bundle/run.mjs local/reference-bundle.ts [version]`: fetches the browser bundle of @scalar/api-reference from the registry and puts it, compressed,
 * beside the page that loads it. The package itself is no dependency: it would bring 270 others, and all that is used of them is in
 * this one file.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompressSync, constants } from 'node:zlib';

const NAME = '@scalar/api-reference';
const FOLDER = fileURLToPath(new URL('../api/operations/system/reference/', import.meta.url));

const run = promisify(execFile);
const version = process.argv[2] ?? 'latest';
const scratch = await mkdtemp(join(tmpdir(), 'heron-reference-'));
try {
  const { stdout } = await run('npm', ['pack', `${NAME}@${version}`, '--json'], { cwd: scratch });
  const [packed] = JSON.parse(stdout) as [{ version: string; integrity: string }];
  const archive = (await readdir(scratch)).find((file) => file.endsWith('.tgz'))!;
  await run('tar', ['-xzf', archive, 'package/dist/browser/standalone.js'], { cwd: scratch });
  const script = await readFile(join(scratch, 'package', 'dist', 'browser', 'standalone.js'));
  await writeFile(
    join(FOLDER, 'scalar.js.br'),
    brotliCompressSync(script, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
  );
  const about = {
    package: NAME,
    version: packed.version,
    license: 'MIT',
    integrity: packed.integrity,
    script: `sha256-${createHash('sha256').update(script).digest('base64')}`,
  };
  await writeFile(join(FOLDER, 'scalar.json'), `${JSON.stringify(about, null, 2)}\n`);
  console.log(`${NAME} ${packed.version}: ${script.length} bytes`);
} finally {
  await rm(scratch, { recursive: true });
}
