import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveTemporalCli, startTemporalServer, type TemporalServer } from '../../local/temporal/index.ts';

/**
 * A Temporal server of its own for one test, in memory; `stop` takes it and its log away.
 * @param bare without Heron's search attributes, as a fresh cluster is
 * @param settings of the server, as `name=value`
 */
export async function startOwnTemporal({
  bare = false,
  settings = [],
}: { bare?: boolean; settings?: readonly string[] } = {}): Promise<TemporalServer> {
  const folder = await mkdtemp(join(tmpdir(), 'heron-temporal-'));
  const cli = await resolveTemporalCli(() => {});
  const server = await startTemporalServer({
    cli,
    headless: true,
    bare,
    settings,
    logFile: join(folder, 'temporal.log'),
  });
  return {
    ...server,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
