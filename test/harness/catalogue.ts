import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCatalogue, type CatalogueReader } from '../../db/catalogue/reader.ts';
import { loadCatalogue, type LoadReport } from '../../domain/audience/prospect-catalogue/load.ts';
import { createEmptyDatabase } from './database.ts';

/** Prospect catalogue of one test file. */
export interface TestCatalogue {
  /** URL of the catalogue's database for its owner role. */
  url: string;
  reader: CatalogueReader;
  /** Loads records from a file of JSON lines, like the command line. */
  load(records: readonly object[]): Promise<LoadReport>;
  drop(): Promise<void>;
}

/** Creates an empty catalogue; {@link TestCatalogue.load} creates its tables. */
export async function createTestCatalogue(): Promise<TestCatalogue> {
  const database = await createEmptyDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'heron-catalogue-'));
  const reader = openCatalogue({ url: database.url });
  return {
    url: database.url,
    reader,
    async load(records) {
      const file = join(folder, 'records.jsonl');
      await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
      return loadCatalogue({ url: database.url, file, source: 'Acme Data', sourcePeriod: '2024' });
    },
    async drop() {
      await reader.close();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns a catalogue id, always the same for a number. */
export function catalogueIdOf(kind: 'p' | 'c', number: number): string {
  return `${kind}${String(number).padStart(23, '0')}`;
}
