/** Settings that `heron config` and the instance pages show only as a fingerprint. */
export const SENSITIVE = new Set([
  'AUTH_SECRET',
  'JWT_SECRET',
  'SECRET_KEY_BASE',
  'CREDENTIALS_ENCRYPTION_KEY',
  'CREDENTIALS_PREVIOUS_KEYS',
  'KMS_LOCAL_MASTER_KEY',
  'TRACKING_KEYS',
  'CODEC_KEYS',
  'PRIMARY_DB',
  'PROSPECT_DB',
  'PROSPECT_OWNER_DB',
  'REDIS_URL',
  'NATS_URL',
  'SES_SECRET_ACCESS_KEY',
  'BLOB_S3_SECRET_ACCESS_KEY',
  'SMTP_PASSWORD',
  'TEMPORAL_API_KEY',
  'TEMPORAL_TLS_KEY',
  'METRICS_TOKEN',
  'GOOGLE_MAILBOX_CLIENT_SECRET',
  'MICROSOFT_MAILBOX_CLIENT_SECRET',
  'PROVISIONING_SECRET',
  'AI_API_KEY',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
  'ZEROBOUNCE_API_KEY',
  'HUBSPOT_CLIENT_SECRET',
  'SALESFORCE_CLIENT_SECRET',
  'PIPEDRIVE_CLIENT_SECRET',
  'SLACK_CLIENT_SECRET',
  'GOOGLE_SHEETS_CLIENT_SECRET',
]);

/**
 * Default values published with the source, for a first try on one machine. Processes refuse to start with them when
 * APP_ENV is `prod`, unless ALLOW_INSECURE_DEFAULTS is set.
 */
export const PUBLISHED_DEFAULTS: Record<string, string> = {
  AUTH_SECRET: 'heron-development-auth-secret-change-me',
  CREDENTIALS_ENCRYPTION_KEY: '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff',
  PRIMARY_DB: 'postgres://heron:heron@127.0.0.1:5432/heron',
};
