import { readFileSync } from 'node:fs';
import test from 'ava';
import { parse } from 'yaml';
import { loadConfig, loadTrackingConfig } from '../../lib/config/index.ts';
import { PUBLISHED_DEFAULTS, SENSITIVE } from '../../lib/config/secrets.ts';
import { settingsSchema, type SettingName } from '../../lib/config/settings.ts';
import { TRACKING_SETTINGS } from '../../lib/config/tracking-settings.ts';
import { ENV_EXAMPLE, envExample, OWN_DEFAULTS, REQUIRED, SET_BY_COMPOSE } from '../../local/env-example.ts';
import { createEmptyDatabase } from '../harness/database.ts';

const COMPOSE = new URL('../../deploy/compose.yaml', import.meta.url);

interface Service {
  image: string;
  environment?: Record<string, string>;
  command?: string[];
  ports?: string[];
  networks?: { default: { ipv4_address: string } };
}

const settings = Object.keys(settingsSchema.shape) as SettingName[];
const compose = parse(readFileSync(COMPOSE, 'utf8'), { merge: true }) as {
  'x-heron': { environment: Record<string, string> };
  services: Record<string, Service>;
  networks: { default: { ipam: { config: { subnet: string; ip_range: string }[] } } };
  configs: Record<string, { content: string }>;
};
const passed = new Map(Object.entries(compose['x-heron'].environment));
const tracking = new Map(Object.entries(compose.services.tracking!.environment!));

/** Settings of an operator who set only the required ones. */
const FILLED: Record<string, string> = {
  POSTGRES_PASSWORD: 'ab'.repeat(16),
  TRACKING_DB_PASSWORD: 'cd'.repeat(16),
  ...REQUIRED,
  AUTH_SECRET: 'ef'.repeat(32),
  CREDENTIALS_ENCRYPTION_KEY: '01'.repeat(32),
  TRACKING_KEYS: '23'.repeat(32),
};

/** Interpolates a value like Compose does: with the variable, or else its default. */
function interpolate(text: string, env: Record<string, string>): string {
  return text.replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind: string, rest: string) => {
    if (env[name]) return env[name];
    if (kind === '?') throw new Error(`${name}: ${rest}`);
    return rest ?? '';
  });
}

const environment = (from: ReadonlyMap<string, string>, env: Record<string, string>) =>
  Object.fromEntries([...from].map(([name, text]) => [name, interpolate(text, env)]));

test('compose passes every setting on under its own name, and nothing else', (t) => {
  for (const names of [passed, tracking])
    t.deepEqual(
      [...names.keys()].filter((name) => !settings.includes(name as SettingName)),
      [],
    );
  const variables = settings
    .filter((name) => !SET_BY_COMPOSE.has(name))
    .map((name) => [name, /^\$\{(\w+)(:[-?].*)?\}$/.exec(passed.get(name) ?? tracking.get(name) ?? '')?.[1]]);
  t.deepEqual(
    variables,
    variables.map(([name]) => [name, name]),
  );
});

test('compose runs as prod, and starts with what must be filled in and nothing else', (t) => {
  const config: Record<string, unknown> = loadConfig(environment(passed, FILLED));
  t.is(config.APP_ENV, 'prod');
  t.false(config.ALLOW_INSECURE_DEFAULTS);
  t.false(passed.has('ALLOW_INSECURE_DEFAULTS'), 'no setting of .env makes it insecure');
  const defaults: Record<string, unknown> = loadConfig({});
  const brought = new Set<string>([...SET_BY_COMPOSE, ...Object.keys(REQUIRED), ...Object.keys(OWN_DEFAULTS)]);
  t.deepEqual(
    settings.filter((name) => !brought.has(name) && JSON.stringify(config[name]) !== JSON.stringify(defaults[name])),
    [],
  );
  for (const [name, text] of Object.entries(OWN_DEFAULTS)) t.is(String(config[name]), text, name);
  for (const name of Object.keys(FILLED).filter((one) => one !== 'SMTP_HOST')) {
    const { [name]: _, ...rest } = FILLED;
    const all = Object.values(compose.services).map((service) => new Map(Object.entries(service.environment ?? {})));
    t.throws(() => all.map((one) => environment(one, rest)), { message: new RegExp(`^${name}: `) }, name);
  }
  const { SMTP_HOST: _, ...mute } = FILLED;
  t.throws(() => loadConfig(environment(passed, mute)), { message: /SMTP_HOST: needed/ });
});

test('the tracking process of compose gets its own settings and its own login, and no secret of another process', (t) => {
  const env = environment(tracking, FILLED);
  t.deepEqual(
    [...tracking.keys()].filter((name) => !TRACKING_SETTINGS.has(name)),
    [],
  );
  const config = loadTrackingConfig(env);
  t.is(new URL(config.PRIMARY_DB).username, 'heron_tracking');
  t.deepEqual([...SENSITIVE].filter((name) => name in env && env[name] !== '').sort(), ['PRIMARY_DB', 'TRACKING_KEYS']);
  t.false(Object.values(env).some((value) => value.includes(FILLED.POSTGRES_PASSWORD!)));
  t.false(Object.values(env).some((value) => value.includes(FILLED.CREDENTIALS_ENCRYPTION_KEY!)));
});

test('Caddy alone is open to other machines, and its address alone is trusted', (t) => {
  for (const [name, { ports = [] }] of Object.entries(compose.services))
    if (name !== 'caddy')
      t.true(
        ports.every((port) => port.startsWith('127.0.0.1:')),
        name,
      );
  const address = compose.services.caddy!.networks!.default.ipv4_address;
  t.is(OWN_DEFAULTS.TRUSTED_PROXIES, address);
  const [{ subnet, ip_range: range }] = compose.networks.default.ipam.config as [{ subnet: string; ip_range: string }];
  t.is(subnet, '172.31.254.0/24');
  t.is(range, '172.31.254.128/25', 'no other container gets an address below .128');
  const caddyfile = interpolate(compose.configs.caddyfile!.content, FILLED);
  for (const host of [REQUIRED.API_PUBLIC_URL, REQUIRED.TRACKING_DOMAIN, REQUIRED.REALTIME_PUBLIC_URL])
    t.true(caddyfile.includes(`\n${host} {\n`), host);
  t.regex(caddyfile, /on_demand_tls \{\s+ask http:\/\/tracking:3000\/tls\/ask\s+\}/);
});

test('compose makes the login of the tracking process, and sets its password each time', async (t) => {
  const database = await createEmptyDatabase();
  t.teardown(() => database.drop());
  const [script] = compose.services['tracking-login']!.command as [string];
  const [, create, alter] = /<<'END'\n([\s\S]*) \\gexec\n(.*;)\nEND/.exec(script)!;
  for (const password of ['first', "second'"]) {
    const made = (await database.db.raw(create!)) as { rows: Record<string, string>[] };
    // The query returns statements, which psql would execute with \gexec.
    for (const row of made.rows)
      for (const statement of Object.values(row))
        await database.db.raw(statement).catch((error: { code?: string }) => {
          // Another test on this server has just created the role.
          if (error.code !== '42710' && error.code !== '23505') throw error;
        });
    await database.db.raw(alter!.replace(":'password'", `'${password.replaceAll("'", "''")}'`));
  }
  const { rows } = (await database.db.raw(
    `select rolcanlogin, rolsuper, rolcreaterole, rolbypassrls from pg_roles where rolname = 'heron_tracking'`,
  )) as { rows: object[] };
  t.deepEqual(rows, [{ rolcanlogin: true, rolsuper: false, rolcreaterole: false, rolbypassrls: false }]);
});

test('the example of an environment file has every setting, its words and its default, as the source has them', (t) => {
  const example = readFileSync(ENV_EXAMPLE, 'utf8');
  t.is(example, envExample(), 'run `npm run env-example`');
  const lines = new Map([...example.matchAll(/^#?([A-Z0-9_]+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]));
  t.deepEqual(
    settings.filter((name) => !SET_BY_COMPOSE.has(name) && !lines.has(name)),
    [],
  );
  const env = Object.fromEntries([...lines].filter(([name]) => !(name in OWN_DEFAULTS)));
  t.deepEqual(loadConfig(env), loadConfig({}), 'the defaults that it names are the defaults');
  for (const secret of Object.values(PUBLISHED_DEFAULTS)) t.false(example.includes(secret));
});
