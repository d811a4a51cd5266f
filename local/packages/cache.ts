import { homedir } from 'node:os';
import { join } from 'node:path';

/** Returns the folder for a fetched program, with one subfolder per version: below XDG_CACHE_HOME, or ~/.cache. */
export function cacheFolder(program: string): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'heron', program);
}
