import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/**
 * Note of a test process: the tests of a file that it will run, or the time (elapsed and processor) of the file's tests
 * and hooks.
 */
type Note = { file: string; titles: string[] } | { file: string; seconds: number; cpuSeconds: number };

/** Writes a note to the file in HERON_TEST_NOTES, for the process that started the tests. */
export function note(one: Note): void {
  const path = process.env.HERON_TEST_NOTES;
  if (path) appendFileSync(path, `${JSON.stringify(one)}\n`);
}

/** Time (s) of the tests of each file, the longest first. */
export interface FileTime {
  file: string;
  seconds: number;
  cpuSeconds: number;
}

/** Reads the notes of a run. */
export function readNotes(path: string): { titles: string[]; times: FileTime[] } {
  const notes = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  const titles: string[] = [];
  const times: FileTime[] = [];
  for (const line of notes) {
    const one = JSON.parse(line) as Note;
    if ('titles' in one) titles.push(...one.titles.map((title) => `${one.file} › ${title}`));
    else times.push(one);
  }
  return { titles: titles.sort(), times: times.sort((a, b) => b.seconds - a.seconds) };
}
