/**
 * `npm run test:clients`: generates Python and Go clients of the OpenAPI document with generators of other projects,
 * without a warning. Each then runs a campaign from a contact to its figures, on an installation with a worker and mail
 * servers. Then the SDK of a similar product calls the routes that both have, and the conformance suite of the Model
 * Context Protocol runs. With names as arguments, only those run. An unavailable generator is skipped with its reason;
 * with CI set, that is a failure.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBackingServices } from '../../local/backing.ts';
import { goClient } from './go.ts';
import { conformanceMissing, runConformance } from './mcp-conformance.ts';
import { peerMissing, runPeer } from './peer.ts';
import { pythonClient } from './python.ts';
import { startTutorial } from './tutorial.ts';
import type { ForeignClient } from './foreign-client.ts';

const CLIENTS: readonly ForeignClient[] = [pythonClient, goClient];
/** Test programs that use no generated client. */
const SUITES = [
  { name: 'peer', missing: peerMissing, run: runPeer },
  {
    name: 'conformance',
    missing: conformanceMissing,
    run: ({ HERON_URL, HERON_API_KEY }: Record<string, string>, folder: string) =>
      runConformance(HERON_URL!, HERON_API_KEY!, folder),
  },
];
/** Timeout (ms) for the arrival of an email. */
const PATIENCE_MS = 60_000;

const log = (line: string): void => console.log(line);
const backing =
  process.env.HERON_TEST_PG && process.env.HERON_TEST_TEMPORAL
    ? undefined
    : await startBackingServices({ persistent: false, headless: true, log });
if (backing) {
  process.env.HERON_TEST_PG = backing.databaseUrl;
  process.env.HERON_TEST_TEMPORAL = backing.temporalAddress;
}
const tutorial = await startTutorial();
const folder = await mkdtemp(join(tmpdir(), 'heron-clients-'));
const [passed, failed, skipped]: [string[], string[], string[]] = [[], [], []];
try {
  const document = join(folder, 'openapi.json');
  await writeFile(document, await (await fetch(`${tutorial.url}/openapi.json`)).text());
  for (const client of CLIENTS.filter(({ name }) => isChosen(name))) {
    const missing = await client.missing();
    if (missing !== undefined) {
      skipped.push(client.name);
      console.error(`SKIPPED: ${client.name}: ${missing}`);
      continue;
    }
    try {
      const startedAt = performance.now();
      const { said, run } = await client.generate(document, join(folder, client.name));
      if (/warning|error/i.test(said)) throw new Error(`the generator complains:\n${said}`);
      log(`ok    ${client.name}: generated, ${seconds(startedAt)}`);
      const { env, address } = await tutorial.newcomer(client.name);
      const ranAt = performance.now();
      const told = await run(env);
      await tutorial.mail.waitFor(({ envelope }) => envelope.to.includes(address), PATIENCE_MS);
      log(`ok    ${client.name}: ${told.trim()}, ${seconds(ranAt)}`);
      passed.push(client.name);
    } catch (error) {
      failed.push(client.name);
      console.error(`FAIL  ${client.name}: ${(error as Error).message}`);
    }
  }
  for (const { name, missing, run } of SUITES.filter((suite) => isChosen(suite.name))) {
    const reason = await missing();
    if (reason !== undefined) {
      skipped.push(name);
      console.error(`SKIPPED: ${name}: ${reason}`);
      continue;
    }
    try {
      const { env } = await tutorial.newcomer(name);
      log(`ok    ${name}: ${(await run(env, folder)).trim()}`);
      passed.push(name);
    } catch (error) {
      failed.push(name);
      console.error(`FAIL  ${name}: ${(error as Error).message}`);
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true });
  await tutorial.stop();
  await backing?.stop();
}
console.log(`\n${passed.length} passed, ${failed.length} failed, ${skipped.length} skipped`);
process.exit(failed.length > 0 || (process.env.CI && skipped.length > 0) ? 1 : 0);

function isChosen(name: string): boolean {
  const named = process.argv.slice(2);
  return named.length === 0 || named.includes(name);
}

function seconds(from: number): string {
  return `${((performance.now() - from) / 1000).toFixed(1)} s`;
}
