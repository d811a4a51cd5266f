import { homedir } from 'node:os';
import { join } from 'node:path';

/** The folder in which Heron keeps downloads of this kind, one folder per version: below XDG_CACHE_HOME, or ~/.cache. */
export function cacheFolder(kind: 'temporal' | 'temporal-test-server'): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'heron', kind);
}
