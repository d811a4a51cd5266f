/**
 * `npm run fuzz:foreign -- --examples 20 --seed 7`: schemathesis (`pip install schemathesis`, 4.32) reads the OpenAPI
 * document, sends requests made from it and compares every response with it. The API has its own database and no
 * limits. Exits like schemathesis: with 1 if it finds a fault. Needs a PostgreSQL: uses the one in HERON_TEST_PG,
 * otherwise starts one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startBackingServices } from '../../local/backing.ts';
import { createReachableWorld } from './attempt.ts';

/**
 * Settings of schemathesis. An operation answers 503 if its provider is not configured in this installation. Every
 * other server error is a fault.
 */
const SETTINGS = `[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 503]
`;
/** Operations that would revoke or restrict the key with which schemathesis calls the API. */
const EXCLUDED = ['apiKeys.revoke', 'apiKeys.update'];
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];

const { values } = parseArgs({
  options: {
    examples: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    program: { type: 'string', default: 'schemathesis' },
    only: { type: 'string' },
  },
});
const backing = process.env.HERON_TEST_PG
  ? undefined
  : await startBackingServices({ persistent: false, log: (line) => console.error(line) });
if (backing) process.env.HERON_TEST_PG = backing.databaseUrl;
const world = await createReachableWorld();
const folder = await mkdtemp(join(tmpdir(), 'heron-fuzz-'));
try {
  await writeFile(join(folder, 'schemathesis.toml'), SETTINGS);
  const { apiKey } = await world.tenant();
  const settings = {
    '--header': `Authorization:Bearer ${apiKey}`,
    '--phases': 'examples,fuzzing',
    '--max-examples': values.examples,
    '--seed': values.seed,
    '--checks': CHECKS.join(),
    '--max-response-time': '5',
    '--warnings': 'off',
    ...(values.only ? { '--include-operation-id': values.only } : {}),
  };
  const options = [
    '--continue-on-failure',
    ...Object.entries(settings).flat(),
    ...EXCLUDED.flatMap((id) => ['--exclude-operation-id', id]),
  ];
  const run = spawn(
    values.program,
    ['--config-file', join(folder, 'schemathesis.toml'), 'run', `${world.url}/openapi.json`, ...options],
    { stdio: 'inherit' },
  );
  const [code] = (await once(run, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
} finally {
  await rm(folder, { recursive: true, force: true });
  await world.close();
  await backing?.stop();
}
