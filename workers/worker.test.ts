import { Runtime } from '@temporalio/worker';
import test from 'ava';
import { Gauge } from 'prom-client';
import { listenHttp } from '../lib/listen.ts';
import { createMetrics } from '../lib/metrics.ts';
import { startEngine } from '../test/harness/engine.ts';
import { createWorld } from '../test/harness/world.ts';
import { coreMetrics } from './runtime.ts';
import { startWorker } from './worker.ts';

test('a scrape that fails is answered 500, and neither the worker nor the next scrape is the worse for it', async (t) => {
  const world = await createWorld();
  const metrics = createMetrics();
  let fails = true;
  new Gauge({
    name: 'heron_test',
    help: 'fails at first',
    registers: [metrics.registry],
    collect() {
      if (fails) throw new Error('no reading');
    },
  });
  const config = { ...world.deps.config, WORKER_ROLES: [] };
  const worker = await startWorker({
    deps: { ...world.deps, config },
    temporal: undefined as never,
    metrics,
    httpPort: 0,
  });
  const scrape = () => fetch(`${worker.http!.url}/metrics`);
  t.is((await scrape()).status, 500);
  t.is((await fetch(`${worker.http!.url}/health`)).status, 200);
  fails = false;
  const answer = await scrape();
  t.is(answer.status, 200);
  t.regex(await answer.text(), /^heron_test 0$/m);
  await worker.stop();
  await world.close();
});

test('metrics of the Temporal core that break off, or are not there, are left out', async (t) => {
  let breaks = true;
  const core = await listenHttp(
    (_request, response) => {
      response.write('temporal_slots 1\n', () => breaks && response.socket?.resetAndDestroy());
      if (!breaks) response.end();
    },
    '127.0.0.1',
    0,
  );
  t.is(await coreMetrics(core.port), '');
  breaks = false;
  t.is(await coreMetrics(core.port), 'temporal_slots 1\n');
  await core.close();
  t.is(await coreMetrics(core.port), '');
});

test.serial(
  'a worker that follows the last one of its process starts where another process has taken the port of the metrics',
  async (t) => {
    const { install } = Runtime;
    const ports: number[] = [];
    Runtime.install = (options) => {
      const runtime = install.call(Runtime, options);
      const exporter = options.telemetryOptions!.metrics as { prometheus: { bindAddress: string } };
      ports.push(Number(exporter.prometheus.bindAddress.split(':')[1]));
      return runtime;
    };
    const world = await createWorld({ env: { WORKER_ROLES: 'workflows' } });
    t.teardown(async () => {
      Runtime.install = install;
      await world.close();
    });
    await (await startEngine(world)).stop();
    const taken = await listenHttp((_request, response) => void response.end(), '127.0.0.1', ports[0]!);
    t.teardown(() => taken.close());
    const second = await startEngine(world);
    t.is(ports.length, 2);
    t.regex(await coreMetrics(), /temporal/);
    await second.stop();
  },
);
