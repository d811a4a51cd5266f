import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** Note of a test process: the tests that it is to run of a file, or the time (wall, processor) that it took for the file's tests and hooks. */
export type Note = { file: string; titles: string[] } | { file: string; seconds: number; cpuSeconds: number };

/** Writes a note to the file that HERON_TEST_NOTES names, for the process that started the tests. */
export function note(one: Note): void {
  const path = process.env.HERON_TEST_NOTES;
  if (path) appendFileSync(path, `${JSON.stringify(one)}\n`);
}

/** Time (s) that the tests of each file took, the longest first; parts of a file are added up. */
export interface FileTime {
  file: string;
  seconds: number;
  cpuSeconds: number;
}

/** Reads the notes of a run. */
export function readNotes(path: string): { titles: string[]; times: FileTime[] } {
  const notes = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  const titles: string[] = [];
  const times = new Map<string, FileTime>();
  for (const line of notes) {
    const one = JSON.parse(line) as Note;
    if ('titles' in one) titles.push(...one.titles.map((title) => `${one.file} › ${title}`));
    else {
      const { file, seconds, cpuSeconds } = times.get(one.file) ?? { file: one.file, seconds: 0, cpuSeconds: 0 };
      times.set(file, { file, seconds: seconds + one.seconds, cpuSeconds: cpuSeconds + one.cpuSeconds });
    }
  }
  return { titles: titles.sort(), times: [...times.values()].sort((a, b) => b.seconds - a.seconds) };
}
