import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { issueTokens } from '../domain/identity/oauth/tokens.ts';
import { systemCtx } from '../domain/platform/kernel/context.ts';
import { createTenant } from '../test/harness/factories.ts';
import { createAccessToken } from '../test/harness/oauth.ts';
import type { BenchContext, BenchResult } from './context.ts';
import { alternate, median } from './measure.ts';

const CONNECTIONS = 10;

/** Client that refreshes its token repeatedly. Each answer contains the refresh token for the next request. */
interface Chain {
  clientId: string;
  refreshToken: string;
}

/** Compares token refreshes of many concurrent clients to plain Koa and pg with the same statements. */
export async function run(context: BenchContext): Promise<BenchResult> {
  const rounds = context.quick ? 2 : 7;
  const seconds = context.quick ? 2 : 6;
  const {
    stack,
    assembly: { deps },
    log,
  } = context;
  const tenant = await createTenant(deps, 'Bench');
  const createChain = async (): Promise<Chain> => {
    const { refreshToken, client } = await createAccessToken({ deps, url: stack.urls.api }, tenant, ['READ_CONTACTS']);
    return { clientId: client.clientId, refreshToken };
  };
  const chains = async (): Promise<Chain[]> => Promise.all(Array.from({ length: CONNECTIONS }, createChain));
  const statements = await refreshStatements(context, await createChain());
  const bare = await context.helper('bare-refresh', { STATEMENTS: JSON.stringify(statements) });

  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const load = async (url: string, all: Chain[]): Promise<number> => {
    const startedAt = performance.now();
    let count = 0;
    await Promise.all(
      all.map(async (chain) => {
        while (performance.now() - startedAt < seconds * 1000) {
          chain.refreshToken = await refresh(agent, url, chain);
          count += 1;
        }
      }),
    );
    return (count / (performance.now() - startedAt)) * 1000;
  };
  const sides = {
    heron: { url: `${stack.urls.api}/v1/oauth/token`, chains: await chains() },
    bare: { url: `http://127.0.0.1:${bare.port}/`, chains: await chains() },
  };
  for (const side of Object.values(sides)) await load(side.url, side.chains);
  const rates = await alternate(
    rounds,
    { heron: () => load(sides.heron.url, sides.heron.chains), bare: () => load(sides.bare.url, sides.bare.chains) },
    (name, round, rate) => log(`round ${round + 1}: ${name} ${rate.toFixed(0)} refreshes/s`),
  );
  agent.destroy();

  const share = median(rates.heron) / median(rates.bare);
  return {
    figures: [
      {
        label: `POST /v1/oauth/token, refreshes of ${CONNECTIONS} clients`,
        value: `${median(rates.heron).toFixed(0)} per second`,
      },
      { label: 'Koa and pg with the same two statements', value: `${median(rates.bare).toFixed(0)} per second` },
    ],
    targets: [
      {
        what: 'token refresh against Koa and pg alone',
        target: '>= 50 %',
        got: `${(share * 100).toFixed(0)} %`,
        met: share >= 0.5,
      },
    ],
    raw: { connections: CONNECTIONS, rates },
  };
}

/** Captures the SQL of a refresh: the query of client and token, and the exchange. */
async function refreshStatements({ assembly: { deps } }: BenchContext, chain: Chain): Promise<string[]> {
  const seen: string[] = [];
  const note = (query: { sql: string }): void => void seen.push(query.sql);
  deps.db.on('query', note);
  const ctx = systemCtx(deps, '', 'bench');
  await issueTokens(
    ctx,
    { grant_type: 'refresh_token', refresh_token: chain.refreshToken, client_id: chain.clientId },
    undefined,
  );
  deps.db.removeListener('query', note);
  if (seen.length !== 2) throw new Error(`a refresh ran ${seen.length} statements; this comparison is made for two`);
  return seen;
}

function refresh(agent: Agent, url: string, { clientId, refreshToken }: Chain): Promise<string> {
  const form = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    client_id: clientId,
  }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(form) };
  return new Promise((resolve, reject) => {
    request(url, { method: 'POST', agent, headers }, (response) => {
      text(response)
        .then((body) => {
          if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}: ${body}`);
          resolve((JSON.parse(body) as { refresh_token: string }).refresh_token);
        })
        .catch(reject);
    })
      .on('error', reject)
      .end(form);
  });
}
