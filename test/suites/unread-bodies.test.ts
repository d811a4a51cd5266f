import { Agent, request } from 'node:http';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { startTracking } from '../../api/servers/tracking.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { createWorld, type World } from '../harness/world.ts';

/*
 * A proxy sends the requests of many people over one connection. So a request whose body is refused half-way must not
 * block the next one.
 */

let world: World;
let tracking: Awaited<ReturnType<typeof startTracking>>;
test.before(async () => {
  world = await createWorld();
  tracking = await startTracking(world.deps, createMetrics(), { port: 0 });
});
test.after.always(async () => {
  await tracking?.close();
  await world?.close();
});

/** Compressed body of a few hundred kilobytes. Most of it is unread when the request is refused. */
const BOMB = gzipSync(Buffer.alloc(200 * 1024 * 1024, 0x20));
const NONSENSE = Buffer.alloc(300 * 1024, 0x20);

/** Sends one request over the agent's only connection. Returns its status, or the reason why there is none. */
function send(
  agent: Agent,
  url: string,
  body?: Buffer,
  headers: Record<string, string> = {},
): Promise<number | string> {
  return new Promise((resolve) => {
    const asked = request(
      url,
      { agent, method: body ? 'POST' : 'GET', headers: { ...headers, ...(body && { 'content-length': body.length }) } },
      (answer) => answer.resume().once('end', () => resolve(answer.statusCode!)),
    );
    asked.setTimeout(20_000, () => asked.destroy(new Error('no answer')));
    asked.on('error', (error) => resolve(error.message));
    asked.end(body);
  });
}

test('a body that is refused half-way does not stand in the way of the next request on its connection', async (t) => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const json = { 'content-type': 'application/json' };
  const { apiKey } = await world.tenant();
  const authorization = `Bearer ${apiKey}`;
  const cases: [url: string, health: string, headers: Record<string, string>][] = [
    [`${world.url}/v1/oauth/token`, `${world.url}/health`, form],
    [`${world.url}/v1/contacts`, `${world.url}/health`, { ...json, authorization }],
    [`${world.url}/mcp`, `${world.url}/health`, { ...json, authorization }],
    [`${world.url}/v1/integrations/inbound/none`, `${world.url}/health`, json],
    [`${tracking.url}/u/none`, `${tracking.url}/health`, form],
  ];
  for (const [url, health, headers] of cases)
    for (const body of [BOMB, NONSENSE])
      for (const encoding of ['gzip', 'identity']) {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        const what = `${url} ${encoding} ${body.length}`;
        const first = await send(agent, url, body, { ...headers, 'content-encoding': encoding });
        t.true(typeof first === 'number' && first < 500, `${what}: ${first}`);
        t.is(await send(agent, health), 200, what);
        agent.destroy();
      }
});
