import { homedir } from 'node:os';
import { join } from 'node:path';

/** The folder in which Heron keeps a program that it fetched, one folder per version: below XDG_CACHE_HOME, or ~/.cache. */
export function cacheFolder(program: string): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'heron', program);
}
