import { dirname } from 'node:path';

/** Test files that are always run, because they are quick and apply to every change. */
const ALWAYS = ['test/house.test.ts'];
/** Tests of a folder's files that are in other folders. */
const STANDS_FOR: Record<string, string[]> = {
  'domain/sending/': ['test/engine/'],
  'domain/connect/delivery/': ['test/engine/webhooks.test.ts'],
  'workflows/': ['test/suites/workflows.test.ts', 'test/engine/'],
  'activities/': ['test/engine/'],
  'temporal/': ['test/engine/'],
  'db/migrations/': ['db/', 'test/suites/deploy.test.ts'],
  'deploy/': ['test/suites/deploy.test.ts'],
  'api/': ['test/suites/walk-access.test.ts', 'test/suites/openapi.test.ts'],
};
/** Maximum number of imports from the changed file to a test. */
const NEAR = 2;

/**
 * Chooses the test files for a change, the nearest first. They are in a changed file's folder, belong to its area in
 * `api/` and `domain/`, test its folder, or import it within a few steps.
 * @param changed paths from the root
 * @param imports for every source file, the files that it imports
 */
export function chooseTests(changed: readonly string[], imports: ReadonlyMap<string, readonly string[]>): string[] {
  const tests = [...imports.keys()].filter((file) => file.endsWith('.test.ts'));
  const distance = new Map<string, number>(ALWAYS.filter((file) => imports.has(file)).map((file) => [file, 0]));
  const mark = (file: string, steps: number): void => {
    if (file.endsWith('.test.ts') && steps < (distance.get(file) ?? Infinity)) distance.set(file, steps);
  };
  for (const file of changed) {
    if (imports.has(file)) mark(file, 0);
    const area = areaOf(file);
    for (const each of tests) {
      if (dirname(each) === dirname(file)) mark(each, 1);
      if (area && areaOf(each) === area) mark(each, 1);
      for (const [folder, stands] of Object.entries(STANDS_FOR)) {
        if (file.startsWith(folder) && stands.some((prefix) => each.startsWith(prefix))) mark(each, 2);
      }
    }
  }
  const importers = reverse(imports);
  let layer = new Set(changed);
  for (let steps = 1; steps <= NEAR; steps += 1) {
    layer = new Set([...layer].flatMap((file) => importers.get(file) ?? []));
    for (const file of layer) mark(file, steps);
  }
  return [...distance].sort(([a, x], [b, y]) => x - y || a.localeCompare(b)).map(([file]) => file);
}

/** Returns the area of a file of api/ or domain/, such as `audience/contacts`; null for other files. */
function areaOf(file: string): string | null {
  return /^(?:api|domain)\/(.+)\/[^/]+$/.exec(file)?.[1] ?? null;
}

function reverse(imports: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const importers = new Map<string, string[]>();
  for (const [file, targets] of imports) {
    for (const target of targets) importers.set(target, [...(importers.get(target) ?? []), file]);
  }
  return importers;
}
