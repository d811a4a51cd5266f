import { sha256 } from '../crypto.ts';
import { PUBLISHED_DEFAULTS, SENSITIVE, settingsSchema, type Config, type SettingName } from './settings.ts';

export type { Config, SettingName } from './settings.ts';

/** Thrown at boot; `faults` holds one line per bad setting. */
export class ConfigError extends Error {
  readonly faults: string[];

  constructor(faults: string[]) {
    super(
      `The configuration has ${faults.length} fault${faults.length === 1 ? '' : 's'}:\n  - ${faults.join('\n  - ')}`,
    );
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/**
 * Reads and checks every setting.
 * @throws ConfigError naming all faults at once.
 */
export function loadConfig(env: Record<string, string | undefined> = process.env): Config {
  const given = knownSettings(env);
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(settingsSchema.shape)) {
    const parsed = schema.safeParse(given[name]);
    if (parsed.success) values[name] = parsed.data;
    else faults.push(...parsed.error.issues.map((issue) => `${name}: ${issue.message}`));
  }
  faults.push(...crossFaults(values));
  if (faults.length > 0) throw new ConfigError(faults);
  return values as Config;
}

function knownSettings(env: Record<string, string | undefined>): Record<string, string> {
  const known: Record<string, string> = {};
  for (const name of Object.keys(settingsSchema.shape)) {
    const value = env[name];
    if (value !== undefined && value !== '') known[name] = value;
  }
  return known;
}

/** What WORKER_ROLES may name; the queues are those of workflows/queues.ts, which this layer does not import. */
const KNOWN_ROLES = new Set([
  'temporal',
  'workflows',
  'mail',
  'apps',
  'webhooks',
  'batch',
  'interactive',
  'relay',
  'fanout',
  'reactions',
  'sync',
]);

/** Faults between settings; those that are faulty themselves are missing from `config`. */
function crossFaults(config: Partial<Config>): string[] {
  const faults: string[] = [];
  if (config.MAIL_TRANSPORT === 'smtp' && !config.SMTP_HOST)
    faults.push('SMTP_HOST: needed when MAIL_TRANSPORT is smtp');
  if (config.RATE_LIMIT_STORE === 'redis' && !config.REDIS_URL)
    faults.push('REDIS_URL: needed when RATE_LIMIT_STORE is redis');
  if (config.PROVISIONING_URL && !config.PROVISIONING_SECRET)
    faults.push('PROVISIONING_SECRET: needed when PROVISIONING_URL is set');
  if (config.STRIPE_SECRET_KEY && !config.STRIPE_WEBHOOK_SECRET)
    faults.push('STRIPE_WEBHOOK_SECRET: needed with STRIPE_SECRET_KEY, or no payment would ever count');
  const roles = (config.WORKER_ROLES ?? []).filter((role) => !KNOWN_ROLES.has(role));
  if (roles.length > 0) faults.push(`WORKER_ROLES: unknown role ${roles.join(', ')}`);
  if (config.APP_ENV === 'prod' && !config.ALLOW_INSECURE_DEFAULTS) {
    for (const [name, value] of Object.entries(PUBLISHED_DEFAULTS)) {
      if (config[name as SettingName] === value)
        faults.push(`${name}: still the published default, which APP_ENV=prod refuses`);
    }
    if (config.MAIL_TRANSPORT === 'log')
      faults.push(
        'MAIL_TRANSPORT: log writes sign-in codes and links to the log, which APP_ENV=prod refuses; set smtp',
      );
    if (config.ALLOW_UNSAFE_WEBHOOK_URLS) faults.push('ALLOW_UNSAFE_WEBHOOK_URLS: refused when APP_ENV is prod');
  }
  return faults;
}

/** What an operator should know of a configuration that is accepted, one line each. */
export function configWarnings(config: Config, env: Record<string, string | undefined> = process.env): string[] {
  if (config.APP_ENV !== 'prod') return [];
  const warnings: string[] = [];
  if (!knownSettings(env).TRUSTED_PROXIES)
    warnings.push(
      'TRUSTED_PROXIES is not set: behind a proxy all callers count as one address in limits, key restrictions and the audit log. Name your proxies, or set none',
    );
  if (config.MAIL_TRANSPORT === 'log')
    warnings.push('MAIL_TRANSPORT is log: sign-in codes and links are written to the log');
  if (config.ALLOW_INSECURE_DEFAULTS) warnings.push('ALLOW_INSECURE_DEFAULTS is set: published secrets may be in use');
  return warnings;
}

export interface SettingReport {
  name: SettingName;
  value: unknown;
  /** `data folder`: of the local installation, for the command line. */
  source: 'environment' | 'data folder' | 'default' | 'unset';
  sensitive: boolean;
}

/**
 * Every setting with its resolved value and source; sensitive ones as a short fingerprint, never a value (GET
 * /admin/instance/config).
 */
export function describeConfig(config: Config, env: Record<string, string | undefined> = process.env): SettingReport[] {
  const given = knownSettings(env);
  return (Object.keys(settingsSchema.shape) as SettingName[]).map((name) => {
    const raw = config[name];
    const sensitive = SENSITIVE.has(name);
    return {
      name,
      value:
        raw === undefined
          ? null
          : sensitive
            ? `sha256:${sha256(typeof raw === 'string' ? raw : JSON.stringify(raw)).slice(0, 8)}`
            : raw,
      source: name in given ? 'environment' : raw === undefined ? 'unset' : 'default',
      sensitive,
    };
  });
}
