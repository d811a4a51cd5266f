/**
 * `npm run fuzz:foreign -- --examples 20 --seed 7`: the OpenAPI document read by schemathesis (`pip install schemathesis`, 4.32), which makes requests of it and
 * holds every answer against it. The API has a database of its own and no limits. Exits as schemathesis does, with 1 for a find.
 * Needs a PostgreSQL: with HERON_TEST_PG it uses that, else it starts one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startBacking } from '../../local/backing.ts';
import { createReachableWorld } from './attempt.ts';

/** 503 is what an operation answers whose provider this installation does not have; every other failure of the server is a find. */
const SETTINGS = `[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 503]
`;
/** With these it would end or narrow the key that it works with. */
const EXCLUDED = ['api-keys.revoke', 'api-keys.update'];
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
  : await startBacking({ persistent: false, log: (line) => console.error(line) });
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
