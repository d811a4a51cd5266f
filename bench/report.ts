import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { BenchResult } from './context.ts';

const RESULTS = fileURLToPath(new URL('results/', import.meta.url));
const REPORT = fileURLToPath(new URL('RESULTS.md', import.meta.url));

interface StoredResult extends BenchResult {
  name: string;
  takenAt: string;
  machine: string;
  versions: Record<string, string>;
}

/** Prints a result as a table. */
export function printResult({ figures, targets }: BenchResult): void {
  const width = Math.max(...figures.map(({ label }) => label.length), ...targets.map(({ what }) => what.length));
  console.log('');
  for (const { label, value } of figures) console.log(`  ${label.padEnd(width)}  ${value}`);
  for (const { what, target, got, met } of targets)
    console.log(`  ${what.padEnd(width)}  ${got} (target ${target}: ${met ? 'met' : 'MISSED'})`);
}

/** Stores a result, with the machine and the versions that were measured. */
export async function writeResult(name: string, result: BenchResult, versions: Record<string, string>): Promise<void> {
  const stored: StoredResult = { name, takenAt: new Date().toISOString(), machine: machine(), versions, ...result };
  await mkdir(RESULTS, { recursive: true });
  await writeFile(`${RESULTS}${name}.json`, `${JSON.stringify(stored, null, 2)}\n`);
}

/** Writes RESULTS.md from the stored results. Keeps the sections of other programs at its end. */
export async function writeReport(names: readonly string[]): Promise<void> {
  const others = (await readFile(REPORT, 'utf8').catch(() => ''))
    .split(/^(?=## )/m)
    .slice(1)
    .filter((part) => !names.some((name) => part.startsWith(`## ${name}\n`)))
    .map((part) => `${part.trimEnd()}\n`);
  const sections: string[] = [];
  for (const name of names) {
    const text = await readFile(`${RESULTS}${name}.json`, 'utf8').catch(() => undefined);
    if (!text) continue;
    // Results before an optimization. The file is written by hand, from a run of the earlier commit.
    const before = await readFile(`${RESULTS}${name}-before.json`, 'utf8').catch(() => undefined);
    sections.push(section(JSON.parse(text) as StoredResult, before ? (JSON.parse(before) as StoredResult) : undefined));
  }
  await writeFile(
    REPORT,
    [
      '# Benchmarks',
      '',
      'Made by `npm run bench`. Ratios within one run: both sides on the same machine and servers, in turn, medians of the rounds.',
      'PostgreSQL with fsync, Temporal (development server) with its state in a file, every process of its own, all on the one machine.',
      'Single values are in `results/`.',
      '',
      ...sections,
      ...others,
    ].join('\n'),
  );
}

function section(
  { name, takenAt, machine: where, versions, figures, targets }: StoredResult,
  before: StoredResult | undefined,
): string {
  return [
    `## ${name}`,
    '',
    `${takenAt.slice(0, 10)}, ${where}; ${Object.entries(versions)
      .map(([part, version]) => `${part} ${version}`)
      .join(', ')}`,
    '',
    '| what | value |',
    '|---|---|',
    ...figures.map(({ label, value }) => `| ${label} | ${value} |`),
    ...(before?.figures ?? []).map(({ label, value }) => `| before: ${label} | ${value} |`),
    ...(before?.targets ?? []).map(({ what, got }) => `| before: ${what} | ${got} |`),
    '',
    '| target | wanted | got | |',
    '|---|---|---|---|',
    ...targets.map(({ what, target, got, met }) => `| ${what} | ${target} | ${got} | ${met ? 'met' : '**missed**'} |`),
    '',
  ].join('\n');
}

function machine(): string {
  const cores = cpus();
  return `${cores.length} x ${cores[0]?.model.trim() ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${platform()} ${release()} ${arch()}`;
}
