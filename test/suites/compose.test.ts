import { readFileSync } from 'node:fs';
import test from 'ava';
import { parse } from 'yaml';
import { loadConfig } from '../../lib/config/index.ts';
import { PUBLISHED_DEFAULTS } from '../../lib/config/secrets.ts';
import { settingsSchema, type SettingName } from '../../lib/config/settings.ts';
import { ENV_EXAMPLE, envExample, SET_BY_COMPOSE } from '../../local/env-example.ts';

const COMPOSE = new URL('../../deploy/compose.yaml', import.meta.url);

const settings = Object.keys(settingsSchema.shape) as SettingName[];
const { 'x-heron': heron } = parse(readFileSync(COMPOSE, 'utf8')) as { 'x-heron': { environment: object } };
const passed = new Map(Object.entries(heron.environment) as [string, string][]);

test('compose passes every setting on under its own name, and nothing else', (t) => {
  t.deepEqual(
    [...passed.keys()].filter((name) => !settings.includes(name as SettingName)),
    [],
  );
  const variables = settings
    .filter((name) => !SET_BY_COMPOSE.has(name))
    .map((name) => [name, /^\$\{(\w+)(:[-?].*)?\}$/.exec(passed.get(name) ?? '')?.[1]]);
  t.deepEqual(
    variables,
    variables.map(([name]) => [name, name]),
  );
});

test('what compose passes when nothing is set is what a process has by itself, but for what compose brings', (t) => {
  const values = [...passed].map(([name, text]) => [name, /^\$\{\w+:-(.*)\}$/.exec(text)?.[1] ?? '']);
  const config: Record<string, unknown> = loadConfig(Object.fromEntries(values));
  const defaults: Record<string, unknown> = loadConfig({});
  t.deepEqual(
    settings.filter((name) => JSON.stringify(config[name]) !== JSON.stringify(defaults[name])),
    ['TEMPORAL_UI_URL'],
  );
});

test('the example of an environment file has every setting, its words and its default, as the source has them', (t) => {
  const example = readFileSync(ENV_EXAMPLE, 'utf8');
  t.is(example, envExample(), 'run `npm run env-example`');
  const lines = new Map([...example.matchAll(/^#?([A-Z0-9_]+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]));
  t.deepEqual(
    settings.filter((name) => !SET_BY_COMPOSE.has(name) && !lines.has(name)),
    [],
  );
  const { POSTGRES_PASSWORD: _, TEMPORAL_UI_URL: __, ...env } = Object.fromEntries(lines);
  t.deepEqual(loadConfig(env), loadConfig({}), 'the defaults that it names are the defaults');
  for (const secret of Object.values(PUBLISHED_DEFAULTS)) t.false(example.includes(secret));
});
