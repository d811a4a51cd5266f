import { sha256 } from '../crypto.ts';
import { PUBLISHED_DEFAULTS, SENSITIVE } from './secrets.ts';
import { TRACKING_SETTINGS } from './tracking-settings.ts';
import { settingsSchema, type Config, type SettingName } from './settings.ts';
import { MASTER_KEY } from './values.ts';

export type { Config, SettingName } from './settings.ts';

/** Thrown at boot. `faults` contains one line per invalid setting. */
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
 * @param names settings to read; all others get their default and cause no fault
 * @throws ConfigError with all faults
 */
export function loadConfig(
  env: Record<string, string | undefined> = process.env,
  names: ReadonlySet<string> = new Set(Object.keys(settingsSchema.shape)),
): Config {
  const given = knownSettings(env, names);
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(settingsSchema.shape)) {
    const parsed = schema.safeParse(given[name]);
    if (parsed.success) values[name] = parsed.data;
    else faults.push(...parsed.error.issues.map((issue) => `${name}: ${issue.message}`));
  }
  faults.push(...crossFaults(values).filter((fault) => names.has(fault.slice(0, fault.indexOf(':')))));
  if (faults.length > 0) throw new ConfigError(faults);
  const config = values as Config;
  GIVEN.set(config, new Set(Object.keys(given)));
  return config;
}

/**
 * Reads the settings of the tracking process. It serves strangers, so with APP_ENV=prod it reads TRACKING_SETTINGS
 * only, and refuses to start with a secret of another process.
 * @throws ConfigError with all faults
 */
export function loadTrackingConfig(env: Record<string, string | undefined> = process.env): Config {
  if (env.APP_ENV !== 'prod') return loadConfig(env);
  const foreign = [...SENSITIVE].filter((name) => env[name] && !TRACKING_SETTINGS.has(name));
  const faults = foreign.map((name) => `${name}: not for the tracking process; take it out of its environment`);
  if (!env.TRACKING_KEYS) faults.push('TRACKING_KEYS: needed; `heron tracking-keys` prints them');
  if (faults.length > 0) throw new ConfigError(faults);
  return loadConfig(env, TRACKING_SETTINGS);
}

/** Names of the settings whose value comes from the environment. All other settings have their default. */
const GIVEN = new WeakMap<Config, ReadonlySet<string>>();

/** Returns true if the environment contains the setting, so that its value is not the default. */
export function isGiven(config: Config, name: SettingName): boolean {
  return GIVEN.get(config)?.has(name) ?? false;
}

/** Alternative names of settings, used by other programs of this kind. The setting's own name takes precedence. */
const OTHER_NAMES: { [name in SettingName]?: string } = {
  AUTH_SECRET: 'JWT_SECRET',
  REDIS_URL: 'REDIS',
  METRICS_TOKEN: 'INTERNAL_API_TOKEN',
};

function knownSettings(env: Record<string, string | undefined>, names: ReadonlySet<string>): Record<string, string> {
  const known: Record<string, string> = {};
  for (const name of (Object.keys(settingsSchema.shape) as SettingName[]).filter((one) => names.has(one))) {
    const value = env[name] || env[OTHER_NAMES[name] ?? name];
    if (value) known[name] = value;
  }
  return { ...known, ...publicUrls(known), ...credentialKeys(known) };
}

/** Returns the public URLs derived from PUBLIC_HOST, except those with their own value. */
function publicUrls({ PUBLIC_HOST: host, ...known }: Record<string, string>): Record<string, string> {
  if (host === undefined) return {};
  const names: SettingName[] = ['API_PUBLIC_URL', 'APP_URL', 'REALTIME_PUBLIC_URL'];
  return Object.fromEntries(names.map((name) => [name, known[name] ?? `https://${host}`]));
}

/**
 * Returns KMS_LOCAL_MASTER_KEY as a value of CREDENTIALS_ENCRYPTION_KEY or, if that is set, of
 * CREDENTIALS_PREVIOUS_KEYS.
 */
function credentialKeys(known: Record<string, string>): Record<string, string> {
  const {
    KMS_LOCAL_MASTER_KEY: master,
    CREDENTIALS_ENCRYPTION_KEY: current,
    CREDENTIALS_PREVIOUS_KEYS: former,
  } = known;
  if (master === undefined || !MASTER_KEY.test(master)) return {};
  const key = Buffer.from(master, 'base64').toString('hex');
  if (current === undefined) return { CREDENTIALS_ENCRYPTION_KEY: key };
  return { CREDENTIALS_PREVIOUS_KEYS: [former, key].filter(Boolean).join(',') };
}

/**
 * Allowed values of WORKER_ROLES. The queues repeat those of workflows/queues.ts, which this layer must not import.
 */
const KNOWN_ROLES = new Set([
  'temporal',
  'workflows',
  'mail',
  'apps',
  'webhooks',
  'integrations',
  'batch',
  'interactive',
  'relay',
  'fanout',
  'reactions',
  'sync',
]);

/** Returns faults in the combination of settings. `config` does not contain settings whose own value is invalid. */
function crossFaults(config: Partial<Config>): string[] {
  const faults: string[] = [];
  if (config.MAIL_TRANSPORT === 'smtp' && !config.SMTP_HOST)
    faults.push('SMTP_HOST: needed when MAIL_TRANSPORT is smtp');
  if (config.MAIL_TRANSPORT === 'ses' && !config.SES_REGION)
    faults.push('SES_REGION: needed when MAIL_TRANSPORT is ses');
  if (Boolean(config.SES_ACCESS_KEY_ID) !== Boolean(config.SES_SECRET_ACCESS_KEY))
    faults.push('SES_SECRET_ACCESS_KEY: SES_ACCESS_KEY_ID and it come together');
  if (config.CODEC_PROVIDER === 'aes' && config.CODEC_KEYS?.length === 0)
    faults.push('CODEC_KEYS: needed when CODEC_PROVIDER is aes');
  if (config.BLOB_PROVIDER === 'disk' && !config.BLOB_ROOT) faults.push('BLOB_ROOT: needed when BLOB_PROVIDER is disk');
  if (config.BLOB_PROVIDER === 's3' && !config.BLOB_S3_BUCKET)
    faults.push('BLOB_S3_BUCKET: needed when BLOB_PROVIDER is s3');
  if (Boolean(config.BLOB_S3_ACCESS_KEY_ID) !== Boolean(config.BLOB_S3_SECRET_ACCESS_KEY))
    faults.push('BLOB_S3_SECRET_ACCESS_KEY: BLOB_S3_ACCESS_KEY_ID and it come together');
  if (config.EVENTBUS_PROVIDER === 'nats' && !config.NATS_URL)
    faults.push('NATS_URL: needed when EVENTBUS_PROVIDER is nats');
  if (config.RATE_LIMIT_STORE === 'redis' && !config.REDIS_URL)
    faults.push('REDIS_URL: needed when RATE_LIMIT_STORE is redis');
  if (config.EMAIL_VERIFICATION === 'zerobounce' && !config.ZEROBOUNCE_API_KEY)
    faults.push('ZEROBOUNCE_API_KEY: needed when EMAIL_VERIFICATION is zerobounce');
  if (config.PROVISIONING_URL && !config.PROVISIONING_SECRET)
    faults.push('PROVISIONING_SECRET: needed when PROVISIONING_URL is set');
  if (config.STRIPE_SECRET_KEY && !config.STRIPE_WEBHOOK_SECRET)
    faults.push('STRIPE_WEBHOOK_SECRET: needed with STRIPE_SECRET_KEY, or no payment would ever count');
  if (config.JWT_SECRET && config.JWT_SECRET !== config.AUTH_SECRET)
    faults.push('JWT_SECRET: must be the same as AUTH_SECRET, whose other name it is');
  const roles = (config.WORKER_ROLES ?? []).filter((role) => !KNOWN_ROLES.has(role));
  if (roles.length > 0) faults.push(`WORKER_ROLES: unknown role ${roles.join(', ')}`);
  if (config.APP_ENV === 'prod' && !config.ALLOW_INSECURE_DEFAULTS) {
    for (const [name, value] of Object.entries(PUBLISHED_DEFAULTS)) {
      if (config[name as SettingName] === value)
        faults.push(`${name}: still the published default, which APP_ENV=prod refuses`);
    }
    if (config.MAIL_TRANSPORT === 'log')
      faults.push(
        'MAIL_TRANSPORT: log writes sign-in codes and links to the log, which APP_ENV=prod refuses; set smtp or ses',
      );
    if (config.ALLOW_UNSAFE_WEBHOOK_URLS) faults.push('ALLOW_UNSAFE_WEBHOOK_URLS: refused when APP_ENV is prod');
  }
  return faults;
}

export interface SettingReport {
  name: SettingName;
  value: unknown;
  /** `data folder`: read from the data folder of a local installation. Only the command line uses this value. */
  source: 'environment' | 'data folder' | 'default' | 'unset';
  sensitive: boolean;
}

/**
 * Returns every setting with its resolved value and source, for GET /admin/instance/config. The report has a short
 * fingerprint of a sensitive setting, never its value.
 */
export function describeConfig(config: Config): SettingReport[] {
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
      source: isGiven(config, name) ? 'environment' : raw === undefined ? 'unset' : 'default',
      sensitive,
    };
  });
}
