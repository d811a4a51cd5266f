import { readFile } from 'node:fs/promises';
import test from 'ava';
import { parse } from 'yaml';
import { newId } from '../../lib/ids.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { createTemporalClient } from '../../temporal/client.ts';
import { resourceQueue } from '../../workflows/queues.ts';
import { startWorker } from '../../workers/worker.ts';
import { eventually } from '../harness/eventually.ts';
import { startProbes } from '../harness/probe/index.ts';
import { createWorld } from '../harness/world.ts';

const PATIENCE_MS = 60_000;
const MONITORING = new URL('../../deploy/monitoring/', import.meta.url);

interface Query {
  where: string;
  expr: string;
}

async function dashboardQueries(): Promise<Query[]> {
  const { panels } = JSON.parse(await readFile(new URL('grafana-dashboard.json', MONITORING), 'utf8')) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  return panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: `panel "${title}"`, expr })));
}

async function alertQueries(): Promise<Query[]> {
  const { groups } = parse(await readFile(new URL('prometheus-alerts.yaml', MONITORING), 'utf8')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };
  return groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ where: `alert ${alert}`, expr })));
}

/** Returns the names of the series in a worker's metrics as queries use them, and all labels. */
function live(text: string): { names: Set<string>; labels: Set<string> } {
  const names = new Set<string>();
  for (const [, name, type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    names.add(name!);
    if (type === 'histogram') for (const suffix of ['bucket', 'sum', 'count']) names.add(`${name}_${suffix}`);
  }
  // Prometheus adds `instance`. The other labels belong to series without a value here, whose labels are not shown.
  const labels = new Set(['instance', 'result', 'kind', 'resource', 'subscriber', 'family', 'loop']);
  for (const [, label] of text.matchAll(/[{,]([a-z_]+)="/g)) labels.add(label!);
  return { names, labels };
}

const namesIn = (expr: string) => expr.match(/\b(?:heron|temporal)_\w+/g) ?? [];
const labelsIn = (expr: string) => [
  ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(',').map((label) => label.trim())),
  ...[...expr.matchAll(/(\w+)(?:=|!=|=~|!~)"/g)].map(([, label]) => label!),
];

test('dashboard and alerts name only metrics and labels that a worker at work has', async (t) => {
  t.timeout(PATIENCE_MS * 2);
  const world = await createWorld({ env: { WORKER_ROLES: 'temporal,relay,fanout,sync' } });
  const { config } = world.deps;
  const temporal = createTemporalClient(config);
  const worker = await startWorker({ deps: world.deps, temporal, metrics: createMetrics(), httpPort: 0 });
  const probes = await startProbes(temporal, config.TEMPORAL_ADDRESS);
  try {
    const { organizationId } = await world.tenant();
    const options = {
      taskQueue: resourceQueue(config.TEMPORAL_TASK_QUEUE, 'mail'),
      startToCloseTimeout: '10s',
      retry: { maximumAttempts: 1 },
    } as const;
    await (await probes.start('deliverSend', [{ organizationId, sendId: newId() }], options)).result();
    // Causes a failed activity and a failed workflow task, so that their metrics have values.
    await t.throwsAsync((await probes.start('nothing', [], options)).result());
    const stuck = await temporal.workflow.start('nothing', {
      taskQueue: config.TEMPORAL_TASK_QUEUE,
      workflowId: `nothing/${newId()}`,
    });
    const scrape = async () => (await fetch(`${worker.http!.url}/metrics`)).text();
    const text = await eventually(async () => {
      const scraped = await scrape();
      return scraped.includes('temporal_workflow_task_execution_failed_total{') && scraped;
    }, PATIENCE_MS);
    await stuck.terminate();
    const { names, labels } = live(text);
    const queries = [...(await dashboardQueries()), ...(await alertQueries())];
    t.true(queries.length > 20);
    for (const { where, expr } of queries) {
      t.true(namesIn(expr).length > 0, where);
      for (const name of namesIn(expr)) t.true(names.has(name), `${where}: there is no metric ${name}`);
      for (const label of labelsIn(expr)) t.true(labels.has(label), `${where}: there is no label ${label}`);
    }
  } finally {
    await probes.stop();
    await worker.stop();
    await temporal.connection.close();
    await world.close();
  }
});
