import type { SettingName } from './settings.ts';

/** Settings that the tracking process uses. A test fails if the process reads another setting. */
export const TRACKING_SETTINGS: ReadonlySet<string> = new Set<SettingName>([
  'APP_ENV',
  'ALLOW_INSECURE_DEFAULTS',
  'TRACKING_KEYS',
  'PRIMARY_DB',
  'DB_POOL_MAX',
  'DB_PREPARED_STATEMENTS',
  'DB_STATEMENT_TIMEOUT_MS',
  'DB_LOCK_TIMEOUT_MS',
  'DB_IDLE_TRANSACTION_MS',
  'LISTEN_HOST',
  'TRACKING_PORT',
  'TRACKING_DOMAIN',
  'TRACKING_INSTANT_MS',
  'GEOIP_DATABASE',
  'TRUSTED_PROXIES',
  'METRICS_TOKEN',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'TRACE_TRUST_CALLERS',
  'TRACE_SAMPLE_RATIO',
  'LOG_LEVEL',
  'SHUTDOWN_GRACE_MS',
]);
