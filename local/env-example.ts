/**
 * `npm run env-example`: writes deploy/.env.example from the comments and defaults in lib/config/. The file contains
 * the settings that deploy/compose.yaml passes on. A test fails if the file is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { settingsSchema, type SettingName } from '../lib/config/settings.ts';

/** Names of the files in lib/config/ that declare settings. */
const SETTINGS = ['settings.ts', 'provider-settings.ts'];
/** Path of deploy/.env.example, the template for an operator's settings. */
export const ENV_EXAMPLE = fileURLToPath(new URL('../deploy/.env.example', import.meta.url));

/**
 * Settings that compose.yaml sets itself: the production mode, the addresses of its own servers, and the listening
 * addresses inside containers.
 */
export const SET_BY_COMPOSE: ReadonlySet<SettingName> = new Set([
  'APP_ENV',
  'ALLOW_INSECURE_DEFAULTS',
  'PRIMARY_DB',
  'APP_URL',
  'TEMPORAL_ADDRESS',
  'LISTEN_HOST',
  'API_PORT',
  'TRACKING_PORT',
  'FORMS_PORT',
  'REALTIME_PORT',
  'WORKER_PORT',
]);

/** Settings whose default in compose.yaml differs from that of the code. */
export const OWN_DEFAULTS: Partial<Record<SettingName, string>> = {
  TEMPORAL_UI_URL: 'http://127.0.0.1:8233',
  MAIL_TRANSPORT: 'smtp',
  TRUSTED_PROXIES: '172.31.254.2',
};

/** Settings that an operator of compose.yaml must set, each with an example or the command that prints a value. */
export const REQUIRED: Partial<Record<SettingName, string>> = {
  AUTH_SECRET: 'openssl rand -hex 32',
  CREDENTIALS_ENCRYPTION_KEY: 'openssl rand -hex 32',
  TRACKING_KEYS: 'docker run --rm --env-file .env heron tracking-keys',
  API_PUBLIC_URL: 'https://heron.example.com',
  TRACKING_DOMAIN: 'https://links.example.com',
  REALTIME_PUBLIC_URL: 'https://events.example.com',
  MAIL_FROM: 'Heron <no-reply@example.com>',
  SMTP_HOST: 'smtp.example.com',
};

const HEAD = `# Settings of deploy/compose.yaml. Copy this file to .env, fill in the settings without a #, and take the # away from what
# you change: the value that stands there is the default. Written from lib/config by \`npm run env-example\`.

# Password of the PostgreSQL that compose brings: openssl rand -hex 16
POSTGRES_PASSWORD=

# Password of the login of the tracking process in that PostgreSQL: openssl rand -hex 16
TRACKING_DB_PASSWORD=
`;

/** Returns the text of deploy/.env.example. */
export function envExample(): string {
  const comments = readComments();
  const lines = (Object.keys(settingsSchema.shape) as SettingName[])
    .filter((name) => !SET_BY_COMPOSE.has(name))
    .map((name) => {
      const example = REQUIRED[name];
      const words = comments.get(name);
      if (!words) throw new Error(`${name} has no comment in lib/config/`);
      const comment = [...words, ...(example ? [example] : [])].map((line) => `# ${line}\n`).join('');
      return `\n${comment}${example ? `${name}=` : `#${name}=${OWN_DEFAULTS[name] ?? defaultOf(name)}`}\n`;
    });
  return HEAD + lines.join('');
}

/** Reads the comment lines above each setting. */
export function readComments(): Map<string, string[]> {
  const source = SETTINGS.map((file) => readFileSync(new URL(`../lib/config/${file}`, import.meta.url), 'utf8')).join(
    '',
  );
  const found = source.matchAll(/\n {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {2}([A-Z][A-Z0-9_]*):/g);
  return new Map(
    [...found].map(([, comment, name]) => [
      name!,
      comment!
        .split('\n')
        .map((line) => line.replace(/^\s*\* ?/, '').trim())
        .filter((line) => line !== ''),
    ]),
  );
}

/** Returns the default of a setting as written in an environment. Empty if there is no default. */
export function defaultOf(name: SettingName): string {
  const { data } = settingsSchema.shape[name].safeParse(undefined);
  if (Array.isArray(data)) return (data as unknown as string[]).join(',');
  return typeof data === 'object' ? JSON.stringify(data) : String(data ?? '');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(ENV_EXAMPLE, envExample());
