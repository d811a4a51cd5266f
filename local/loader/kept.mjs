import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's folder as a URL, with a slash at its end. */
export const ROOT = new URL('../../', import.meta.url).href;

/** Where compiled modules are kept. */
export const CACHE = fileURLToPath(new URL('../../.heron/cache/modules/', import.meta.url));
/** Changes with the options of the compiler, so that what was kept with others is not used. */
const FORMAT = `2 ${process.version}`;

/** The file that keeps a compiled module, by its path and text; its source map lies beside it as `.map`. */
export function keptFile(file, text) {
  return join(CACHE, createHash('sha256').update(`${FORMAT}\n${file}\n`).update(text).digest('hex'));
}
