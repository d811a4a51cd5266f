import { createContact, createTenant } from '../test/harness/factories.ts';
import type { BenchContext, BenchResult } from './context.ts';
import { requestRate } from './load.ts';
import { alternate, median } from './measure.ts';

const CONNECTIONS = 10;

/** Compares a read with an API key (key, scope, rate limit, usage record) to the same read without authentication. */
export async function run(context: BenchContext): Promise<BenchResult> {
  const rounds = context.quick ? 2 : 7;
  const seconds = context.quick ? 2 : 6;
  const {
    stack,
    assembly: { deps },
    log,
  } = context;
  const tenant = await createTenant(deps, 'Bench');
  const path = `/v1/contacts/${await createContact(deps.db, deps.clock.now(), tenant.organizationId)}`;
  const open = await context.helper('open-read', { ORGANIZATION: tenant.organizationId });

  const load = (url: string, headers: Record<string, string>): Promise<number> =>
    requestRate(url, { connections: CONNECTIONS, seconds, headers });
  const withKey = (): Promise<number> => load(`${stack.urls.api}${path}`, { authorization: `Bearer ${tenant.apiKey}` });
  const without = (): Promise<number> => load(`http://127.0.0.1:${open.port}${path}`, {});
  await withKey();
  await without();
  const rates = await alternate(rounds, { withKey, without }, (name, round, rate) =>
    log(`round ${round + 1}: ${name} ${rate.toFixed(0)} requests/s`),
  );
  const share = median(rates.withKey) / median(rates.without);
  return {
    figures: [
      {
        label: 'GET /v1/contacts/:id with an API key, its use recorded',
        value: `${median(rates.withKey).toFixed(0)} requests/s`,
      },
      { label: 'the same open to everybody', value: `${median(rates.without).toFixed(0)} requests/s` },
    ],
    targets: [
      {
        what: 'a read with key, scope, rate limit and usage record against one without',
        target: '>= 70 %',
        got: `${(share * 100).toFixed(0)} %`,
        met: share >= 0.7,
      },
    ],
    raw: { connections: CONNECTIONS, rates },
  };
}
