/**
 * Process that fetches the test package. Arguments: the folder and the expected digest. Prints the path of the program.
 */
import { cachedProgram } from '../../local/packages/cached.ts';
import { probePackage } from './probe-package.ts';

const [cacheDir = '', sha512 = ''] = process.argv.slice(2);
const path = await cachedProgram(probePackage(sha512), { cacheDir, log: () => undefined });
process.send!(path);
process.disconnect();
