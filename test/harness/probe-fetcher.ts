/**
 * Separate process that fetches the probe into the folder of the first argument; the second is its digest. Returns its
 * path.
 */
import { cachedProgram } from '../../local/packages/cached.ts';
import { probePackage } from './probe-package.ts';

const [cacheDir = '', sha512 = ''] = process.argv.slice(2);
const path = await cachedProgram(probePackage(sha512), { cacheDir, log: () => undefined });
process.send!(path);
process.disconnect();
