import { readdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const NOT_OURS = new Set(['node_modules', 'dist', '.git', '.heron', 'web']);

/**
 * Splits the arguments of `npm test` into test files and arguments for ava. A file selects itself, a folder selects all
 * tests below it; without either, all tests of the project are selected.
 * @param root the project's folder
 * @throws Error with the name of a test file that does not exist, or of a folder without tests
 */
export function chooseFiles(root: string, given: readonly string[]): { files: string[]; forAva: string[] } {
  const files: string[] = [];
  const forAva: string[] = [];
  for (const argument of given) {
    const found = argument.startsWith('-') ? undefined : statSync(argument, { throwIfNoEntry: false });
    if (found?.isDirectory()) {
      const below = testsIn(root, relative(root, resolve(argument)));
      if (below.length === 0) throw new Error(`${argument} holds no tests`);
      files.push(...below);
    } else if (found) files.push(relative(root, resolve(argument)));
    else if (argument.endsWith('.test.ts')) throw new Error(`${argument} does not exist`);
    else forAva.push(argument);
  }
  return { files: files.length > 0 ? files : testsIn(root, ''), forAva };
}

function testsIn(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : testsIn(root, path);
    return entry.name.endsWith('.test.ts') ? [path] : [];
  });
}
