import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Import between two rooms. A room is a folder directly below domain/ and api/. */
interface RoomImport {
  /** Importing file, relative to the root. */
  file: string;
  target: string;
  from: string;
  to: string;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { API_GROUND, API_ROOF, ROOMS } = (await import(pathToFileURL(join(ROOT, 'oxlint.config.mjs')).href)) as {
  API_GROUND: string[];
  API_ROOF: string[];
  ROOMS: string[];
};

/** Rooms from the lowest to the highest. Last are the rooms of api/ that may import all others. */
export const ORDER: readonly string[] = [...ROOMS, ...API_ROOF];

/** Returns the imports between rooms of domain/ and api/ below `root`, without tests. */
export async function roomImports(root = ROOT): Promise<RoomImport[]> {
  const found: RoomImport[] = [];
  for (const top of ['domain', 'api']) {
    const entries = await readdir(join(root, top), { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.name.endsWith('.test.ts')) continue;
      const path = join(entry.parentPath, entry.name);
      for (const [, specifier] of (await readFile(path, 'utf8')).matchAll(/(?:from|import\() ?'(\.[^']+)'/g)) {
        const file = relative(root, path).replaceAll('\\', '/');
        const target = relative(root, join(entry.parentPath, specifier!)).replaceAll('\\', '/');
        const [from, to] = [roomOf(file), roomOf(target)];
        if (from && to && from !== to) found.push({ file, target, from, to });
      }
    }
  }
  return found;
}

/** Returns the room of a file; null for files outside of rooms. */
function roomOf(file: string): string | null {
  const [top, room, below] = file.split('/');
  if (top !== 'domain' && top !== 'api') return null;
  // The base folders of api/ are not rooms, because they import domain/, and every room of api/ imports them.
  if (below === undefined || API_GROUND.includes(room!)) return null;
  return room!;
}

/** Returns the imports by which a lower room imports a higher one. */
export function upwardImports(imports: readonly RoomImport[]): RoomImport[] {
  return imports.filter(({ from, to }) => ORDER.indexOf(to) > ORDER.indexOf(from));
}

/** Returns import cycles between rooms, of any length. Each room is in at most one cycle. */
export function circles(imports: readonly RoomImport[]): string[][] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of imports) next.set(from, (next.get(from) ?? new Set()).add(to));
  const done = new Set<string>();
  const found: string[][] = [];
  const visit = (room: string, path: string[]): void => {
    if (path.includes(room)) {
      found.push([...path.slice(path.indexOf(room)), room]);
      return;
    }
    if (done.has(room)) return;
    for (const other of next.get(room) ?? []) visit(other, [...path, room]);
    done.add(room);
  };
  for (const room of next.keys()) visit(room, []);
  return found;
}
