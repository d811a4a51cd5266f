import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveTemporalCli, startTemporalServer, type TemporalServer } from '../../local/temporal/index.ts';

/**
 * Starts an in-memory Temporal server for one test; `stop` removes it and its log.
 * @param bare true if Heron's search attributes are not created, as on a fresh cluster
 * @param settings settings of the server, as `name=value`
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
