import { readInstallationId } from '../../domain/platform/installation-id.ts';
import type { Egress, EgressResponse } from '../../lib/egress/index.ts';
import type { TestDeps } from './database.ts';

/** Returns an egress at which this installation answers `https://<any domain>/health`, like behind a proxy with a certificate. */
export async function egressWithHealth(deps: Pick<TestDeps, 'db' | 'egress'>): Promise<Egress> {
  const instance = await readInstallationId(deps.db);
  const { egress } = deps;
  const answer: EgressResponse = {
    status: 200,
    headers: {},
    body: Buffer.from(JSON.stringify({ status: 'ok', instance })),
    truncated: false,
    timings: { dnsMs: 0, connectMs: 0, totalMs: 0 },
    address: '127.0.0.1',
    reused: false,
  };
  return {
    ...egress,
    request: (request) =>
      /^https:\/\/[^/]+\/health$/.test(String(request.url)) ? Promise.resolve(answer) : egress.request(request),
  };
}
