import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../lib/ids.ts';
import type { TestDeps } from '../harness/database.ts';
import { createTenant } from '../harness/factories.ts';
import { createEndpoint } from '../harness/webhooks.ts';
import type { Random } from './random.ts';
import type { Check } from './reconcile.ts';

interface Options {
  deps: TestDeps;
  apiUrl: string;
  /** URL of the organization's webhook endpoint, which answers slowly and fails often. */
  hook: string;
  random: Random;
  /** Returns ids that belong to other organizations. */
  foreignIds(): readonly string[];
}

/** Organization that floods an installation and requests data of other organizations. */
export interface HostileTenant {
  go(): void;
  /** Pauses, and waits for open requests. */
  rest(): Promise<void>;
  stop(): Promise<void>;
  check(): Check;
}

/** Number of parallel loops that send requests, and pause (ms) of a loop between two requests. */
const LINES = 3;
const PAUSE_MS = 150;
const LEADS = 200;
/** Routes that read or change a single row, by method. They are called with ids of other organizations' rows. */
const FOREIGN: readonly [method: string, path: string][] = [
  ['GET', '/runs/:id'],
  ['POST', '/runs/:id/cancel'],
  ['GET', '/campaigns/:id'],
  ['DELETE', '/campaigns/:id'],
  ['POST', '/emails/:id/warmup/stop'],
  ['POST', '/mailbox-provisioning/:id/cancel'],
  ['GET', '/unibox/:id'],
];

/** Creates the organization. It sends nothing until `go` is called. */
export async function startHostileTenant(options: Options): Promise<HostileTenant> {
  const { deps, apiUrl, hook, random, foreignIds } = options;
  const tenant = await createTenant(deps, 'Hostile');
  await createEndpoint(deps, tenant.organizationId, hook);
  const counts: Record<string, number> = {};
  const reached: string[] = [];
  let rests = true;
  let stopped = false;

  const ask = async (method: string, path: string, body?: object): Promise<number | undefined> => {
    const status = await fetch(`${apiUrl}/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${tenant.apiKey}`,
        ...(method === 'GET' ? {} : { 'idempotency-key': newId() }),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(20_000),
    }).then(
      async (response) => {
        await response.text();
        return response.status;
      },
      () => undefined,
    );
    const name = `${method} ${path.split(/[/?]/)[1]}`;
    counts[`${name} ${status ?? 'none'}`] = (counts[`${name} ${status ?? 'none'}`] ?? 0) + 1;
    return status;
  };
  const someone = () => `h${Math.floor(random.next() * 1e9)}@hostile.example.net`;
  const acts: (() => Promise<unknown>)[] = [
    async () => {
      const ids = foreignIds();
      if (ids.length === 0) return;
      const [method, path] = random.pick(FOREIGN);
      const target = path.replace(':id', random.pick(ids));
      const status = await ask(method, target);
      if (status !== undefined && status < 300) reached.push(`${method} ${target} was answered ${status}`);
    },
    () => ask('POST', '/events', { name: `flood.${Math.floor(random.next() * 50)}`, email: someone(), data: {} }),
    () => ask('POST', '/contacts', { email: someone(), first_name: 'x'.repeat(200) }),
    // Suppresses the addresses of all other organizations' contacts. This must affect only its own organization.
    () => ask('POST', '/suppressions', { entries: [{ type: 'domain', value: 'people.example.org' }] }),
    () => ask('GET', '/contacts?limit=100&search=x'),
    () =>
      ask('POST', '/lead-database/people', {
        filters: {
          conditions: Array.from({ length: 40 }, () => ({ field: 'email', operator: 'contains', value: 'x' })),
        },
      }),
    () =>
      ask('POST', '/runs', {
        name: `hostile ${newId()}`,
        senders: { mode: 'pool' },
        daily_limit: 1_000,
        schedule: { mode: 'explicit', timezone: 'UTC', days: 127, start_time: '00:00', end_time: '00:00' },
        intent: 'draft',
        leads: Array.from({ length: LEADS }, () => ({ email: someone() })),
        steps: [{ name: 'Only', variants: [{ subject: 'Hello', body_plain: 'Hello' }] }],
      }),
    () => ask('POST', '/contacts', { email: 7, nonsense: random.next() }),
  ];
  let underWay = 0;
  const lines = Array.from({ length: LINES }, async () => {
    while (!stopped) {
      await sleep(PAUSE_MS);
      if (rests) continue;
      underWay += 1;
      await random
        .pick(acts)()
        .finally(() => (underWay -= 1));
    }
  });
  const rest = async (): Promise<void> => {
    rests = true;
    while (underWay > 0) await sleep(50);
  };
  return {
    go: () => void (rests = false),
    rest,
    async stop() {
      await rest();
      stopped = true;
      await Promise.all(lines);
    },
    check: () => ({
      name: 'the hostile organization reached nothing of others',
      seen: Object.entries(counts)
        .sort(([one], [other]) => one.localeCompare(other))
        .map(([name, count]) => `${count} ${name}`)
        .join(', '),
      faults: reached,
    }),
  };
}
