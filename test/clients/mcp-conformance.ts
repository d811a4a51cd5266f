import { createServer, request } from 'node:http';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { cacheFolder } from '../../local/packages/cache.ts';
import { output } from './foreign-client.ts';

/** The protocol's own test suite. It depends on an earlier SDK, so it is not in Heron's package.json. */
const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const FOLDER = cacheFolder('mcp-conformance-0.2.0-alpha.12');
const PROGRAM = join(FOLDER, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
/** The suite needs Node 22. With an earlier version here, the package `node` is installed beside the suite. */
const IS_OLD = Number(process.versions.node.split('.')[0]) < 22;
const NODE = IS_OLD ? join(FOLDER, 'node_modules', '.bin', 'node') : process.execPath;

/** Scenarios that a server with tools and without other features must pass, by revision. */
const SCENARIOS: Record<string, readonly string[]> = {
  '2026-07-28': ['server-stateless', 'tools-list', 'caching', 'dns-rebinding-protection', 'http-header-validation'],
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'],
};

/** Checks of features that Heron does not offer, with the reason. */
const NOT_OFFERED: Record<string, string> = {
  'sep-2549-prompts-list-caching-hints': 'Heron has no prompts',
  'sep-2549-resources-list-caching-hints': 'Heron has no resources',
  'sep-2549-resources-templates-list-caching-hints': 'Heron has no resources',
};

interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
  /** `untestable` is true if the check needs a tool that only a server written for the suite has. */
  details?: { untestable?: boolean };
}

/** Installs the suite. Returns the reason why it cannot run on this machine; undefined if it can. */
export async function conformanceMissing(): Promise<string | undefined> {
  try {
    await mkdir(FOLDER, { recursive: true });
    await output('npm', [
      'install',
      '--no-audit',
      '--no-fund',
      '--prefix',
      FOLDER,
      SUITE,
      ...(IS_OLD ? ['node@22.23.3'] : []),
    ]);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Runs the suite against the MCP endpoint of an installation, with an API key.
 * @returns number of passed checks by revision, as text
 * @throws Error with the failed checks
 */
export async function runConformance(url: string, apiKey: string, folder: string): Promise<string> {
  const door = await openDoor(url, apiKey);
  try {
    const told: string[] = [];
    const failures: string[] = [];
    for (const [revision, scenarios] of Object.entries(SCENARIOS)) {
      let passed = 0;
      for (const scenario of scenarios) {
        const checks = await runScenario(door.url, revision, scenario, join(folder, revision, scenario));
        if (!checks.some(({ status }) => status === 'SUCCESS'))
          failures.push(`${revision} ${scenario}: nothing passed`);
        for (const { id, status, errorMessage, details } of checks) {
          if (status === 'SUCCESS') passed += 1;
          if (status === 'FAILURE' && !details?.untestable && !(id in NOT_OFFERED))
            failures.push(`${revision} ${scenario} ${id}: ${errorMessage}`);
        }
      }
      told.push(`${revision} ${passed} checks`);
    }
    if (failures.length > 0) throw new Error(failures.join('\n'));
    return told.join(', ');
  } finally {
    door.close();
  }
}

async function runScenario(url: string, revision: string, scenario: string, folder: string): Promise<Check[]> {
  await mkdir(folder, { recursive: true });
  const args = [
    PROGRAM,
    'server',
    '--url',
    url,
    '--scenario',
    scenario,
    '--spec-version',
    revision,
    '--output-dir',
    folder,
  ];
  // The program exits with an error if a check fails, so the results are read from the files that it writes.
  const said = await output(NODE, args, { cwd: folder }).catch((error: Error) => error.message);
  const file = (await readdir(folder, { recursive: true })).find((name) => name.endsWith('checks.json'));
  if (!file) throw new Error(`${scenario} left no checks: ${said}`);
  return JSON.parse(await readFile(join(folder, file), 'utf8')) as Check[];
}

/** Opens a port that forwards requests to the MCP endpoint and adds a credential, which the suite cannot send. */
async function openDoor(url: string, apiKey: string): Promise<{ url: string; close(): void }> {
  const server = createServer((message, response) => {
    const headers = { ...message.headers, authorization: `Bearer ${apiKey}` };
    const passed = request(new URL('/mcp', url), { method: message.method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    passed.once('error', () => response.destroy());
    message.pipe(passed);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: () => server.close().closeAllConnections(),
  };
}
