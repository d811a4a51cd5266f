import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../lib/config/index.ts';
import { SENSITIVE } from '../../lib/config/secrets.ts';
import { TRACKING_SETTINGS } from '../../lib/config/tracking-settings.ts';
import { settingsSchema, type SettingName } from '../../lib/config/settings.ts';
import { newId } from '../../lib/ids.ts';
import { freePort } from '../../local/servers.ts';
import { TYPESCRIPT } from '../../local/typescript.ts';
import { createEmptyDatabase } from '../harness/database.ts';
import { createTrackingLogin } from '../harness/tracking-login.ts';
import { eventually } from '../harness/eventually.ts';

/*
 * Reads the manifests of deploy/kubernetes as Kubernetes does. Starts their containers as plain processes with only the
 * manifests' environment, checks them with their probes, and stops them like a pod.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = new URL('../../deploy/kubernetes/', import.meta.url);
const PORT_SETTINGS: Record<string, SettingName> = {
  api: 'API_PORT',
  tracking: 'TRACKING_PORT',
  forms: 'FORMS_PORT',
  realtime: 'REALTIME_PORT',
  worker: 'WORKER_PORT',
};

interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds?: number;
  failureThreshold?: number;
}

interface Container {
  name: string;
  image: string;
  command?: string[];
  args: string[];
  env?: unknown[];
  envFrom: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  lifecycle?: { preStop: { exec: { command: string[] } } };
  resources: { requests: object; limits: { memory: string } };
  securityContext: object;
  volumeMounts?: { name: string; mountPath: string }[];
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
}

interface Manifest {
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  data?: Record<string, string>;
  spec?: any;
}

const { resources } = parse(readFileSync(new URL('kustomization.yaml', FOLDER), 'utf8')) as { resources: string[] };
const manifests = resources.flatMap((file) =>
  parseAllDocuments(readFileSync(new URL(file, FOLDER), 'utf8')).map((document) => {
    if (document.errors.length > 0) throw document.errors[0]!;
    return document.toJS() as Manifest;
  }),
);
const of = (kind: string) => manifests.filter((manifest) => manifest.kind === kind);
const containerOf = ({ spec }: Manifest): Container => spec.template.spec.containers[0];
const deployments = of('Deployment');
const [job] = of('Job');
const settingsOf = (name: string) => of('ConfigMap').find(({ metadata }) => metadata.name === name)!.data!;
const settings = settingsOf('heron-settings');
const trackingSettings = settingsOf('heron-tracking-settings');

test('every file is part of the kustomization; every role has a deployment with a disruption budget that fits it', (t) => {
  t.deepEqual(
    readdirSync(FOLDER)
      .filter((name) => name !== 'kustomization.yaml')
      .sort(),
    [...resources].sort(),
  );
  t.deepEqual(deployments.map((one) => containerOf(one).args[0]!).sort(), Object.keys(PORT_SETTINGS).sort());
  for (const { metadata, spec } of deployments) {
    const labels = spec.template.metadata.labels;
    t.deepEqual(spec.selector.matchLabels, labels, metadata.name);
    const budget = of('PodDisruptionBudget').find((one) => one.metadata.name === metadata.name);
    t.deepEqual(budget?.spec.selector.matchLabels, labels);
    t.true(spec.replicas > budget?.spec.maxUnavailable, 'one can be moved while another serves');
    t.is(spec.strategy.rollingUpdate.maxUnavailable, 0);
    const service = of('Service').find((one) => one.metadata.name === metadata.name);
    if (metadata.name === 'heron-worker') t.is(service, undefined);
    else t.deepEqual(service?.spec.selector, labels);
    if (service) t.is(service.spec.ports[0].targetPort, containerOf({ spec } as Manifest).ports![0]!.name);
  }
});

test('pods run as an ordinary account, without rights and with bounds; secrets come by reference', (t) => {
  for (const manifest of [...deployments, job!]) {
    const { spec } = manifest.spec.template;
    const container = containerOf(manifest);
    t.like(spec.securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    t.like(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    t.truthy(container.resources.requests);
    t.truthy(container.resources.limits.memory);
    t.false(spec.automountServiceAccountToken);
    t.is(container.env, undefined);
    const whose = container.name === 'tracking' ? 'heron-tracking' : 'heron';
    t.deepEqual(container.envFrom, [
      { configMapRef: { name: `${whose}-settings` } },
      { secretRef: { name: `${whose}-secrets` } },
    ]);
  }
  for (const name of [...Object.keys(settings), ...Object.keys(trackingSettings)]) {
    t.true(name in settingsSchema.shape, `${name} is a setting`);
    t.false(SENSITIVE.has(name), `${name} is a secret`);
  }
  for (const name of [...Object.keys(trackingSettings), ...Object.keys(trackingSecrets(''))])
    t.true(TRACKING_SETTINGS.has(name), `${name} is a setting of the tracking process`);
  t.is(trackingSettings.TRACKING_DOMAIN, settings.TRACKING_DOMAIN);
  t.deepEqual(of('Secret'), []);
});

test('the proxies that are trusted are the pods of an ingress, and not all pods of a cluster', (t) => {
  for (const { TRUSTED_PROXIES: proxies } of [settings, trackingSettings])
    for (const proxy of loadConfig({ TRUSTED_PROXIES: proxies! }).TRUSTED_PROXIES) {
      const [, bits] = /^[\d.]+\/(\d+)$/.exec(proxy)!;
      t.true(Number(bits) >= 24, proxy);
    }
});

test('the tracking process reaches DNS and PostgreSQL, and nothing else', (t) => {
  const named = (name: string) => of('NetworkPolicy').find(({ metadata }) => metadata.name === name)!.spec;
  const ports = named('heron-tracking').egress.flatMap((rule: any) => rule.ports.map(({ port }: any) => port));
  t.deepEqual(ports, [53, 53, 5432]);
  for (const { spec } of of('NetworkPolicy')) {
    if (!spec.egress || spec === named('heron-tracking')) continue;
    const rule = spec.podSelector.matchExpressions.find(({ operator }: any) => operator === 'NotIn');
    t.deepEqual(rule.values, ['tracking'], 'policies add up');
  }
});

test('a pod has longer to end than its process takes, and ports are where processes listen', (t) => {
  const config = loadConfig({ ...settings, ...secrets('postgres://heron:x@localhost/heron') });
  for (const manifest of deployments) {
    const container = containerOf(manifest);
    const before = Number(container.lifecycle?.preStop.exec.command[1] ?? 0);
    t.true(
      manifest.spec.template.spec.terminationGracePeriodSeconds * 1_000 > before * 1_000 + config.SHUTDOWN_GRACE_MS,
    );
    t.is(container.ports![0]!.containerPort, config[PORT_SETTINGS[container.args[0]!]!] as number);
  }
  const policies = of('NetworkPolicy').flatMap(({ spec }) => spec.ingress.flatMap(({ ports }: any) => ports));
  t.true(policies.every(({ port }: { port: string }) => port === 'http'));
});

test('the migration and every role start by their manifests, answer their probes, and end with 0', async (t) => {
  t.timeout(180_000);
  const database = await createEmptyDatabase();
  t.teardown(() => database.drop());
  // Environment of the manifests, with the servers of this test.
  const environment = {
    ...settings,
    ...secrets(database.url),
    LISTEN_HOST: '127.0.0.1',
    TEMPORAL_ADDRESS: process.env.HERON_TEST_TEMPORAL!,
    TEMPORAL_TASK_QUEUE: `kubernetes-${newId()}`,
  };
  const migration = run(t, containerOf(job!), environment);
  t.is((await once(migration, 'exit'))[0], 0, 'the migration');
  const login = await createTrackingLogin(database.db, database.url);
  t.teardown(() => login.drop());
  const trackingEnvironment = { ...trackingSettings, ...trackingSecrets(login.url), LISTEN_HOST: '127.0.0.1' };

  await Promise.all(
    deployments.map(async (manifest) => {
      const container = containerOf(manifest);
      const port = await freePort();
      const own = container.name === 'tracking' ? trackingEnvironment : environment;
      const process_ = run(t, container, { ...own, [PORT_SETTINGS[container.args[0]!]!]: String(port) });
      const ask = ({ httpGet }: Probe) => {
        t.is(httpGet.port, container.ports![0]!.name);
        return fetch(`http://127.0.0.1:${port}${httpGet.path}`).then(
          ({ status }) => status,
          () => 0,
        );
      };
      const { startupProbe, readinessProbe, livenessProbe } = container;
      await eventually(async () => (await ask(startupProbe!)) === 200, 120_000);
      t.true(startupProbe!.periodSeconds! * startupProbe!.failureThreshold! > 60, 'longer than a process waits');
      t.deepEqual([await ask(readinessProbe!), await ask(livenessProbe!)], [200, 200], container.name);
      const scrape = (token: string) =>
        fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization: `Bearer ${token}` } });
      t.is((await scrape(environment.METRICS_TOKEN!)).status, 200, `${container.name} shows metrics`);
      if (container.name !== 'worker') t.not((await scrape('guessed')).status, 200);
      process_.kill('SIGTERM');
      t.is((await once(process_, 'exit'))[0], 0, `${container.name} ends in order`);
    }),
  );
});

/** Returns the content of the installation's Secret. */
function secrets(databaseUrl: string) {
  return {
    AUTH_SECRET: 'a-secret-of-the-cluster-that-is-long-enough',
    CREDENTIALS_ENCRYPTION_KEY: '7b'.repeat(32),
    PRIMARY_DB: databaseUrl,
    METRICS_TOKEN: 'scrape-me',
    SMTP_PASSWORD: 'secret',
  };
}

/** Returns the content of the Secret of the tracking process. */
function trackingSecrets(databaseUrl: string) {
  return { TRACKING_KEYS: '5c'.repeat(32), PRIMARY_DB: databaseUrl, METRICS_TOKEN: 'scrape-me' };
}

/** Starts a container's command: the image's entry point and its arguments, with only the manifests' variables. */
function run(t: ExecutionContext, { command, args }: Container, environment: Record<string, string>): ChildProcess {
  const dockerfile = readFileSync(new URL('../../deploy/Dockerfile', import.meta.url), 'utf8');
  const entry = JSON.parse(/^ENTRYPOINT (\[.*\])$/m.exec(dockerfile)![1]!) as string[];
  t.deepEqual(entry, ['node', 'dist/deploy/heron.js']);
  t.is(command, undefined, 'the entry point of the image stands');
  const child = spawn(process.execPath, [...TYPESCRIPT, 'deploy/heron.ts', ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(String(chunk)));
  t.teardown(() => {
    child.kill('SIGKILL');
    if (!t.passed) t.log(said.join('').slice(-2_000));
  });
  return child;
}
