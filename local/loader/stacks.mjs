import { SourceMap } from 'node:module';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { keptFile, ROOT } from './kept.mjs';

/** A place in a compiled module, as V8 writes it into a stack. */
const PLACE = /(file:\/\/[^\s():]+\.ts):(\d+):(\d+)/g;
/** URL to its map; undefined where there is none. */
const maps = new Map();

/**
 * Stacks name the lines of the TypeScript. A map is read when a stack that needs it is looked at: Node itself reads the
 * maps of all modules as they are loaded, which costs a tenth of what starting a process does.
 */
export function nameSourceLines() {
  process.setSourceMapsEnabled(false);
  Error.prepareStackTrace = (error, frames) =>
    [describe(error), ...frames.map((frame) => `    at ${String(frame).replace(PLACE, sourcePlace)}`)].join('\n');
}

/** What V8 writes above the frames; also for what cannot be written. */
function describe(error) {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return '<error>';
  }
}

function sourcePlace(place, url, line, column) {
  if (!url.startsWith(ROOT)) return place;
  if (!maps.has(url)) maps.set(url, readMap(url));
  const { originalLine, originalColumn } = maps.get(url)?.findEntry(Number(line) - 1, Number(column) - 1) ?? {};
  return originalLine === undefined ? place : `${url}:${originalLine + 1}:${originalColumn + 1}`;
}

function readMap(url) {
  try {
    const file = fileURLToPath(url);
    return new SourceMap(JSON.parse(readFileSync(`${keptFile(file, readFileSync(file))}.map`, 'utf8')));
  } catch {
    // The file has changed since it was loaded, or is gone.
    return undefined;
  }
}
