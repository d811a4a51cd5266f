/**
 * Records the database of this build with open workflows, as a backup in test/upgrade/<last migration>: `node
 * bundle/run.mjs test/upgrade/record.ts` with HERON_TEST_PG and HERON_TEST_TEMPORAL set. Run it once for each release
 * with the release's build; later builds must be able to use it (upgrade.test.ts).
 */
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { MIGRATIONS } from '../../db/migrations/index.ts';
import { recordScene } from './scene.ts';

const folder = fileURLToPath(new URL(MIGRATIONS.at(-1)!.name, import.meta.url));
await rm(folder, { recursive: true, force: true });
const { tables } = await recordScene(folder);
console.log(`${folder}: ${tables.filter(({ rows }) => rows > 0).length} tables`);
process.exit(0);
