import { z } from 'zod';

const flag = z.enum(['true', 'false', '1', '0', '']).transform((v) => v === 'true' || v === '1');
const port = z.coerce.number().int().min(0).max(65535);
const count = z.coerce.number().int().min(0);
const list = z.string().transform((v) =>
  v
    .split(',')
    .map((s) => s.trim())
    .filter(Boolean),
);
/** A key for what Temporal keeps, with the id that payloads name it by. */
const CODEC_KEY = /^[a-z0-9][a-z0-9_.-]{0,62}:[0-9a-f]{64}$/i;
const url = z.url().transform((v) => v.replace(/\/+$/, ''));

const mailServer = z.strictObject({
  host: z.string().min(1),
  port: z.int().min(1).max(65_535),
  security: z.enum(['tls', 'starttls', 'none']),
});
/** A mail provider's addresses, as JSON; those that are left out stay as they are. */
const endpoints = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue('needs JSON');
      return z.NEVER;
    }
  })
  .pipe(
    z
      .strictObject({ authorize: url, token: url, sendAs: url, revoke: url, smtp: mailServer, imap: mailServer })
      .partial(),
  );

/** Addresses of providers of integrations, as JSON. */
const providerEndpoints = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue('needs JSON');
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), z.strictObject({ api: url, authorize: url, token: url, revoke: url }).partial()));

/** Marks what `heron config` and the instance pages must show only as a fingerprint. */
export const SENSITIVE = new Set([
  'AUTH_SECRET',
  'CREDENTIALS_ENCRYPTION_KEY',
  'CREDENTIALS_PREVIOUS_KEYS',
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
 * Values published with the source, for a first try on one machine. Boot refuses them when APP_ENV is `prod`
 * unless ALLOW_INSECURE_DEFAULTS is set.
 */
export const PUBLISHED_DEFAULTS: Record<string, string> = {
  AUTH_SECRET: 'heron-development-auth-secret-change-me',
  CREDENTIALS_ENCRYPTION_KEY: '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff',
  PRIMARY_DB: 'postgres://heron:heron@127.0.0.1:5432/heron',
};

/** Every setting of every process, from environment variables. One schema, so that boot reports all faults at once. */
export const settingsSchema = z.object({
  /** `prod` refuses published default secrets and development-only relaxations. */
  APP_ENV: z.enum(['dev', 'prod']).default('dev'),
  /** Lets APP_ENV=prod start with published defaults; for a trial behind a firewall only. */
  ALLOW_INSECURE_DEFAULTS: flag.default(false),
  /** Signs session tokens; 32 characters or more, the same in every process. */
  AUTH_SECRET: z.string().min(32, 'needs 32 characters or more').default(PUBLISHED_DEFAULTS.AUTH_SECRET!),
  /** Encrypts stored credentials (AES-256-GCM); exactly 64 hex characters. Losing it loses every mailbox password. */
  CREDENTIALS_ENCRYPTION_KEY: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, 'needs exactly 64 hex characters')
    .default(PUBLISHED_DEFAULTS.CREDENTIALS_ENCRYPTION_KEY!),
  /**
   * Keys before CREDENTIALS_ENCRYPTION_KEY, comma separated, the newest first: they open what was sealed under them and keep
   * links in mail that has left working, and seal nothing. See `heron rotate-keys`.
   */
  CREDENTIALS_PREVIOUS_KEYS: list
    .refine((keys) => keys.every((key) => /^[0-9a-f]{64}$/i.test(key)), 'each needs exactly 64 hex characters')
    .default([]),
  /** PostgreSQL connection string, version 15 or later. */
  PRIMARY_DB: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'needs a postgres:// URL')
    .default(PUBLISHED_DEFAULTS.PRIMARY_DB!),
  /** The prospect catalogue: PostgreSQL connection string of a role that may read it (docs/guides/prospect-catalogue.md). Without it there is none. */
  PROSPECT_DB: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'needs a postgres:// URL')
    .optional(),
  /** The same catalogue by the role that owns it, for `heron catalogue load` alone; PROSPECT_DB where it is not set. */
  PROSPECT_OWNER_DB: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'needs a postgres:// URL')
    .optional(),
  /**
   * What verifies the addresses of contacts that come from the prospect catalogue: `builtin` (form, DNS, lists of disposable services and of functions,
   * and the mail server where EMAIL_VERIFICATION_PROBE_FROM is set), `zerobounce` (a paid service), or `off`.
   */
  EMAIL_VERIFICATION: z.enum(['builtin', 'zerobounce', 'off']).default('builtin'),
  /** Addresses that one worker verifies per minute. */
  EMAIL_VERIFICATIONS_PER_MINUTE: count.min(1).default(300),
  /**
   * Has the built-in check ask the mail server of an address too whether it takes mail for it (SMTP, port 25, no mail is sent), in the name of this address of yours, which has to
   * take mail. Not set: no mail server is asked. Many networks block port 25, and servers may think ill of one that asks much: keep it off the machine that sends.
   */
  EMAIL_VERIFICATION_PROBE_FROM: z.email('must be an email address').toLowerCase().optional(),
  /** Name that this machine gives itself towards those mail servers: the one its IP address resolves to. Not set: the domain of EMAIL_VERIFICATION_PROBE_FROM. */
  EMAIL_VERIFICATION_PROBE_NAME: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i, 'must be a host name')
    .optional(),
  /** Port of those mail servers; another one for networks whose gateway takes its place. */
  EMAIL_VERIFICATION_PROBE_PORT: port.default(25),
  /** Key of ZeroBounce, for EMAIL_VERIFICATION=zerobounce. */
  ZEROBOUNCE_API_KEY: z.string().min(1).optional(),
  /** Where ZeroBounce answers: its servers in a region, or a double in tests. */
  ZEROBOUNCE_URL: url.default('https://api.zerobounce.net'),
  /** Connections each process may hold. */
  DB_POOL_MAX: count.min(2).default(20),
  /**
   * Keep the plans of frequent statements on each connection; off behind a pooler that hands connections out per
   * transaction.
   */
  DB_PREPARED_STATEMENTS: flag.default(true),
  /** Statements of an organization run in a database role that sees its rows alone. `heron migrate` makes the role. */
  ROW_SECURITY: flag.default(false),
  /** Longest a statement of the api, tracking and realtime processes may run (ms); workers get ten times as long. 0 is unlimited. */
  DB_STATEMENT_TIMEOUT_MS: count.default(30_000),
  /** Longest a statement waits for a lock (ms); workers wait three times as long. 0 is unlimited. */
  DB_LOCK_TIMEOUT_MS: count.default(15_000),
  /** Longest an open transaction may stand idle (ms) before PostgreSQL ends it. 0 is unlimited. */
  DB_IDLE_TRANSACTION_MS: count.default(120_000),
  /** Temporal frontend as host:port. */
  TEMPORAL_ADDRESS: z.string().default('127.0.0.1:7233'),
  /** Temporal namespace; it must exist with the search attributes OrganizationId, CampaignId, EndpointId, Kind, State (Keyword), Deadline (Datetime). */
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  /** Task queue of this installation's workers. */
  TEMPORAL_TASK_QUEUE: z.string().min(1).default('heron'),
  /** Connect to Temporal over TLS. */
  TEMPORAL_TLS: flag.default(false),
  /** Client certificate (PEM) for mutual TLS with Temporal. */
  TEMPORAL_TLS_CERT: z.string().optional(),
  /** Client key (PEM) for mutual TLS with Temporal. */
  TEMPORAL_TLS_KEY: z.string().optional(),
  /** API key for Temporal Cloud; implies TLS. */
  TEMPORAL_API_KEY: z.string().optional(),
  /**
   * What Temporal gets to see of arguments, results, signals and memos: `none` encrypts nothing, `aes` encrypts them with the first of CODEC_KEYS
   * (AES-256-GCM). Ids of runs, search attributes and messages of errors stay in the clear.
   */
  CODEC_PROVIDER: z.enum(['none', 'aes']).default('none'),
  /**
   * Keys of CODEC_PROVIDER=aes as id:key, the key 64 hex characters, comma separated. The first encrypts, every one decrypts. The same keys in
   * every process; a key is needed as long as Temporal keeps a history that was written with it.
   */
  CODEC_KEYS: list
    .refine((keys) => keys.every((key) => CODEC_KEY.test(key)), 'each needs an id, a colon and 64 hex characters')
    .transform((keys) =>
      keys.map((key) => {
        const [id, hex] = key.split(':') as [string, string];
        return { id, bytes: Buffer.from(hex, 'hex') };
      }),
    )
    .refine((keys) => new Set(keys.map(({ id }) => id)).size === keys.length, 'an id is there twice')
    .default([]),
  /** Where the Temporal UI is, for links in run records. */
  TEMPORAL_UI_URL: url.optional(),
  /** Address the servers listen on. */
  LISTEN_HOST: z.string().default('127.0.0.1'),
  /** Port of the REST API. */
  API_PORT: port.default(8080),
  /** Port of the tracking service (opens, clicks, unsubscribes). */
  TRACKING_PORT: port.default(3000),
  /** Port of the forms service. */
  FORMS_PORT: port.default(8090),
  /** Port of the realtime gateway (WebSocket). */
  REALTIME_PORT: port.default(4000),
  /** Sockets one realtime process holds at most, those still signing in included. */
  REALTIME_MAX_CONNECTIONS: count.min(1).default(10_000),
  /** Sockets one organization may have open at one realtime process; 0 is unlimited. */
  REALTIME_ORG_CONNECTIONS: count.default(500),
  /** Sockets one API key, OAuth grant or session may have open at one realtime process; 0 is unlimited. */
  REALTIME_KEY_CONNECTIONS: count.default(50),
  /** Sockets one source address (an IPv6 one with its /64) may have open that have not signed in; 0 is unlimited. */
  REALTIME_SOURCE_PENDING: count.default(20),
  /** How often (ms) an open socket hears from the gateway; one that does not answer until the next time is closed. */
  REALTIME_HEARTBEAT_MS: count.min(1000).default(25_000),
  /** Port on which a worker serves /health and /metrics; 0 picks a free one. */
  WORKER_PORT: port.default(9090),
  /** Public origin of the API as clients reach it. */
  API_PUBLIC_URL: url.default('http://127.0.0.1:8080'),
  /** Public origin of the dashboard and of links in system mail. */
  APP_URL: url.default('http://127.0.0.1:8080'),
  /** Public origin of the tracking service; every tracked link starts with it. */
  TRACKING_DOMAIN: url.default('http://127.0.0.1:3000'),
  /** Public address of the realtime gateway, which WebSockets are opened to. */
  REALTIME_PUBLIC_URL: url.default('http://127.0.0.1:4000'),
  /** Opens and clicks this soon (ms) after the send count as a machine's; 0 switches that rule off. */
  TRACKING_INSTANT_MS: count.default(10_000),
  /** File of countries by address in MaxMind's format (.mmdb), for where opens and clicks come from; only the country is kept. Without one none is known. */
  GEOIP_DATABASE: z.string().optional(),
  /** Origins a browser may call the API from, comma separated. */
  CORS_ALLOW_ORIGINS: list.default([]),
  /** Proxies whose X-Forwarded-For is believed: addresses or CIDR ranges, comma separated; `none` says that there is none. */
  TRUSTED_PROXIES: list.transform((proxies) => (proxies[0] === 'none' ? [] : proxies)).default([]),
  /**
   * Serves the CRM, templates, automations and integrations; `false` answers 404 for them, as installations that offer campaigns alone may want.
   */
  EXTENDED_SURFACES: z
    .enum(['true', 'false', '1', '0', ''])
    .transform((v) => v !== 'false' && v !== '0')
    .default(true),
  /** Integrations and automations are changed only by workspaces on a paid plan. By default every workspace counts as one that pays. */
  REQUIRE_PAID_PLAN: flag.default(false),
  /** How system mail (login codes, invitations) leaves: `log` writes it to the log, `smtp` sends it, `ses` hands it to Amazon SES. */
  MAIL_TRANSPORT: z.enum(['log', 'smtp', 'ses']).default('log'),
  /** Sender of system mail. */
  MAIL_FROM: z.string().default('Heron <no-reply@localhost>'),
  /** SMTP host for system mail. */
  SMTP_HOST: z.string().optional(),
  /** SMTP port for system mail; the default follows SMTP_SECURITY (587, 465 or 25). */
  SMTP_PORT: port.optional(),
  /** SMTP user for system mail. */
  SMTP_USERNAME: z.string().optional(),
  /** SMTP password for system mail. */
  SMTP_PASSWORD: z.string().optional(),
  /** How the SMTP connection for system mail is protected. */
  SMTP_SECURITY: z.enum(['starttls', 'tls', 'none']).default('starttls'),
  /** AWS region of Amazon SES, for MAIL_TRANSPORT=ses. */
  SES_REGION: z.string().min(1).optional(),
  /** Access key of SES; without one that of the machine, pod or profile is used. */
  SES_ACCESS_KEY_ID: z.string().min(1).optional(),
  /** Its secret. */
  SES_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  /** Where SES answers, if elsewhere: an endpoint of your own network. */
  SES_ENDPOINT: url.optional(),
  /** Who may sign up: `false` anyone, `invite_only` invited people, `true` no one. */
  DISABLE_REGISTRATION: z.enum(['true', 'false', 'invite_only']).default('false'),
  /** When signing in needs a code by mail. */
  AUTH_LOGIN_CODE: z.enum(['always', 'new_device', 'off']).default('new_device'),
  /** Lets webhooks, app connections and app actions reach http, any port and private addresses (development). */
  ALLOW_UNSAFE_WEBHOOK_URLS: flag.default(false),
  /** Attempts of a webhook delivery before it is abandoned. */
  WEBHOOK_MAX_ATTEMPTS: count.min(1).default(8),
  /** Wait (ms) after the first failed attempt of a webhook delivery; it doubles from attempt to attempt. */
  WEBHOOK_RETRY_BASE_MS: count.min(1).default(30_000),
  /** Longest wait (ms) between two attempts of a webhook delivery. */
  WEBHOOK_RETRY_CAP_MS: count.min(1).default(3_600_000),
  /** How long (ms) a webhook request may take, from DNS to the last byte of the answer. */
  WEBHOOK_TIMEOUT_MS: count.min(1).default(15_000),
  /** Requests one worker has open to one webhook endpoint at most. */
  WEBHOOK_ENDPOINT_CONCURRENCY: count.min(1).default(20),
  /** Events one webhook endpoint gets per minute; what is more is dropped and counted. 0 is unlimited. */
  WEBHOOK_ENDPOINT_PER_MINUTE: count.default(6_000),
  /** Events of one type that one workspace has delivered per minute; what is more is dropped and counted. 0 is unlimited. */
  WEBHOOK_EVENT_TYPE_PER_MINUTE: count.default(30_000),
  /** An endpoint that has failed this long (ms) without a success in between is switched off. */
  WEBHOOK_DISABLE_AFTER_MS: count.default(86_400_000),
  /** ... and so many times in a row at least. */
  WEBHOOK_DISABLE_AFTER_FAILURES: count.min(1).default(20),
  /**
   * Days events, webhook deliveries and their attempts are kept; they go by month, once its last day is as long ago. A realtime client can resume
   * that far back.
   */
  EVENT_RETENTION_DAYS: count.min(1).default(30),
  /**
   * Days that product events are kept, and people without a contact of whom nothing else is left; what they converted to stays. Longer than
   * the longest range of a report with its longest window. 0 keeps them.
   */
  ENGAGEMENT_RETENTION_DAYS: count.default(750),
  /** Days that the audit log is kept; it goes by month, once its last day is as long ago. 0 keeps it. */
  AUDIT_RETENTION_DAYS: count.default(0),
  /**
   * Days that reports keep counts by hour; they go by month. Reports of earlier times show whole UTC days only. Counts by day, step and mailbox stay. 0
   * keeps them.
   */
  REPORT_HOUR_RETENTION_DAYS: count.default(0),
  /** Emails about approvals that one person gets in an hour, in one workspace; what is more is in the list alone. 0: nobody is mailed. */
  APPROVAL_MAILS_PER_HOUR: count.default(12),
  /** Days that approvals are kept, with what was shown to those who decided: recipients, senders, the emails. */
  APPROVAL_RETENTION_DAYS: count.min(1).default(365),
  /** Days that warmup emails are kept: reports of warmup go back as far, and a copy that arrives later still is taken for mail of a stranger. */
  WARMUP_RETENTION_DAYS: count.min(30).default(180),
  /** Days that runs of automations are kept that have ended; as long as the events that started them (EVENT_RETENTION_DAYS) in any case. */
  AUTOMATION_RUN_RETENTION_DAYS: count.min(1).default(90),
  /** Lets mailboxes use SMTP and IMAP servers on private addresses (a mail server in your own network). */
  ALLOW_PRIVATE_MAIL_HOSTS: flag.default(false),
  /** Client of Google's OAuth by which Gmail mailboxes are connected; its redirect URI is APP_URL/mailboxes/consent. Without it they cannot be. */
  GOOGLE_MAILBOX_CLIENT_ID: z.string().min(1).optional(),
  /** Its secret. */
  GOOGLE_MAILBOX_CLIENT_SECRET: z.string().min(1).optional(),
  /** Google's addresses where they are others, as JSON: authorize, token, sendAs, revoke (URLs), smtp, imap (host, port, security). */
  GOOGLE_MAILBOX_ENDPOINTS: endpoints.optional(),
  /** Client of Microsoft's OAuth by which Outlook and Microsoft 365 mailboxes are connected; redirect URI as above. */
  MICROSOFT_MAILBOX_CLIENT_ID: z.string().min(1).optional(),
  /** Its secret. */
  MICROSOFT_MAILBOX_CLIENT_SECRET: z.string().min(1).optional(),
  /** Microsoft's addresses where they are others, such as those of a national cloud or of one tenant; as above. */
  MICROSOFT_MAILBOX_ENDPOINTS: endpoints.optional(),
  /** OAuth client at HubSpot, by which accounts there are connected; its redirect URI is API_PUBLIC_URL/integrations/oauth/callback. Without it they cannot be. */
  HUBSPOT_CLIENT_ID: z.string().min(1).optional(),
  /** Its secret. */
  HUBSPOT_CLIENT_SECRET: z.string().min(1).optional(),
  /** OAuth client at Salesforce; as above. */
  SALESFORCE_CLIENT_ID: z.string().min(1).optional(),
  /** Its secret. */
  SALESFORCE_CLIENT_SECRET: z.string().min(1).optional(),
  /** OAuth client at Pipedrive; as above. */
  PIPEDRIVE_CLIENT_ID: z.string().min(1).optional(),
  /** Its secret. */
  PIPEDRIVE_CLIENT_SECRET: z.string().min(1).optional(),
  /** OAuth client at Slack; as above. */
  SLACK_CLIENT_ID: z.string().min(1).optional(),
  /** Its secret. */
  SLACK_CLIENT_SECRET: z.string().min(1).optional(),
  /** OAuth client at Google, for Sheets; as above. */
  GOOGLE_SHEETS_CLIENT_ID: z.string().min(1).optional(),
  /** Its secret. */
  GOOGLE_SHEETS_CLIENT_SECRET: z.string().min(1).optional(),
  /**
   * Addresses of providers of integrations where they are others, as JSON by provider: `{"hubspot": {"api": …, "authorize": …, "token": …, "revoke": …}}`. They may
   * be on private addresses only with ALLOW_UNSAFE_WEBHOOK_URLS.
   */
  INTEGRATION_ENDPOINTS: providerEndpoints.optional(),
  /** How long (ms) one request to a provider of integrations may take. What a worker had that died is delivered by another after six times this, after 20 seconds at least. */
  INTEGRATION_TIMEOUT_MS: count.min(1).default(15_000),
  /** Attempts of what is delivered to a provider before it is given up and kept as a dead letter. Waits that a provider asks for count as none. */
  INTEGRATION_MAX_ATTEMPTS: count.min(1).default(15),
  /** Wait (ms) after the first failed attempt; it doubles from attempt to attempt, up to six hours. */
  INTEGRATION_RETRY_BASE_MS: count.min(1).default(30_000),
  /** How many days what is to be done at a provider waits for a person who connects its account again; then it is dropped, and a dead letter says how much. */
  INTEGRATION_REAUTH_DAYS: count.min(1).default(30),
  /** Deliveries to providers that one worker has under way at once, over all connections. */
  WORKER_INTEGRATIONS_SLOTS: count.min(1).default(100),
  /** Where the provider of managed mailboxes answers (docs/guides/mailbox-orders.md). Without it none can be ordered. */
  PROVISIONING_URL: url.optional(),
  /** Signs every request to that provider; 32 characters or more. */
  PROVISIONING_SECRET: z.string().min(32, 'needs 32 characters or more').optional(),
  /** How long (ms) one request to that provider may take. */
  PROVISIONING_TIMEOUT_MS: count.min(1).default(30_000),
  /** How long (ms) a step of an order may fail at the provider before the order fails, is undone and refunded. */
  PROVISIONING_GIVE_UP_MS: count.min(1000).default(3_600_000),
  /** How long (ms) an order waits for its payment. */
  PROVISIONING_PAYMENT_MS: count.min(1000).default(86_400_000),
  /** An AI provider that speaks OpenAI's chat completions, such as https://api.openai.com/v1. Without it copy is judged by rules alone. */
  AI_BASE_URL: url.optional(),
  /** The model that is asked. */
  AI_MODEL: z.string().min(1).max(200).optional(),
  /** The provider's key, where it asks for one. */
  AI_API_KEY: z.string().min(1).optional(),
  /** Tokens that a workspace may use of it per UTC day. */
  AI_TOKENS_PER_DAY: count.default(200_000),
  /** Secret key of the Stripe account that orders of managed mailboxes are paid to. Without it nothing can be bought. */
  STRIPE_SECRET_KEY: z.string().min(1).optional(),
  /** Signing secret of the Stripe webhook that calls API_PUBLIC_URL/payments/stripe/events; needed with STRIPE_SECRET_KEY. */
  STRIPE_WEBHOOK_SECRET: z.string().min(1).optional(),
  /** Where Stripe's API is, for a double in tests; it may be on a private address only with ALLOW_UNSAFE_WEBHOOK_URLS. */
  STRIPE_API_BASE: url.default('https://api.stripe.com'),
  /** What is added to the cost of a domain's renewal for the processing of its payment, in hundredths of a percent. */
  PAYMENT_PROCESSING_BASIS_POINTS: count.max(10_000).default(290),
  /** ... and in cents, whatever the cost. */
  PAYMENT_PROCESSING_FIXED_CENTS: count.default(30),
  /**
   * Where requests are counted against rate limits: `memory` (each process by itself), or shared by all processes in
   * `postgres` or `redis`.
   */
  RATE_LIMIT_STORE: z.enum(['memory', 'postgres', 'redis']).default('memory'),
  /**
   * Redis, for RATE_LIMIT_STORE=redis and for answers that all processes share then (totals of the prospect catalogue, the newest release):
   * redis://[user:password@]host:port/db, or rediss:// over TLS. Everything works without it. May be called REDIS.
   */
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, 'needs a redis:// or rediss:// URL')
    .optional(),
  /**
   * How the realtime gateways hear of new events: `postgres` (a connection of each for notifications) or `nats`, to which the fan-out
   * passes them on. Events are read from PostgreSQL either way.
   */
  EVENTBUS_PROVIDER: z.enum(['postgres', 'nats']).default('postgres'),
  /** NATS for EVENTBUS_PROVIDER=nats: nats://[user:password@]host:port, or tls://; several, comma separated. */
  NATS_URL: z
    .string()
    .regex(/^(nats|tls):\/\/[^,\s]+(,\s*(nats|tls):\/\/[^,\s]+)*$/, 'needs a nats:// or tls:// URL')
    .optional(),
  /** Requests one signed-in session may make per minute; 0 is unlimited. */
  SESSION_REQUESTS_PER_MINUTE: count.default(600),
  /** Bytes of one file of contacts to import; 50 MB is what the contract of the API names. */
  IMPORT_MAX_BYTES: count.min(1).default(50 * 1024 * 1024),
  /** Rows of one file of contacts to import. */
  IMPORT_MAX_ROWS: count.min(1).default(50_000),
  /** Imports one organization may have queued or running at a time; 0 is unlimited. */
  ORG_IMPORTS: count.default(5),
  /** Bytes of files one organization may have stored for imports that have not ended; 0 is unlimited. */
  ORG_IMPORT_BYTES: count.default(200 * 1024 * 1024),
  /** Bytes of files one organization may have stored, attachments of emails above all; 0 is unlimited. */
  ORG_STORED_BYTES: count.default(1024 * 1024 * 1024),
  /**
   * Where files are kept (attachments, files of imports): `postgres`, `disk` (a folder that every process sees) or `s3` (a bucket of Amazon S3
   * or of a server that speaks its protocol). Workers move those that are elsewhere; each stays readable where it is.
   */
  BLOB_PROVIDER: z.enum(['postgres', 'disk', 's3']).default('postgres'),
  /** Folder for BLOB_PROVIDER=disk; it must be there. Keep it set as long as files are in it. */
  BLOB_ROOT: z.string().regex(/^\//, 'needs an absolute path').optional(),
  /** Bucket for BLOB_PROVIDER=s3. Keep this and what follows set as long as files are in it. */
  BLOB_S3_BUCKET: z.string().min(3).optional(),
  /** Region of the bucket. */
  BLOB_S3_REGION: z.string().min(1).default('us-east-1'),
  /** Where S3 answers, for servers other than Amazon's. */
  BLOB_S3_ENDPOINT: url.optional(),
  /** What the names of objects begin with; every installation needs one of its own in a bucket. */
  BLOB_S3_PREFIX: z.string().default('heron/'),
  /** Access key of S3; without it the SDK looks where AWS puts them (environment, profile, role of the machine). */
  BLOB_S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  /** Secret of BLOB_S3_ACCESS_KEY_ID. */
  BLOB_S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  /** Bytes of the files of received messages that one workspace keeps; later ones are listed without their bytes. 0 keeps none. */
  ORG_RECEIVED_BYTES: count.default(1024 * 1024 * 1024),
  /** Days after which the bytes of files are deleted that came with a message or left with an email; 0 keeps them. */
  ATTACHMENT_RETENTION_DAYS: count.default(365),
  /** Write requests one organization may make per minute, over all its keys and people; 0 is unlimited. */
  ORG_WRITES_PER_MINUTE: count.default(600),
  /** OAuth clients one source address may register per hour (POST /v1/oauth/register); 0 is unlimited. */
  OAUTH_REGISTRATIONS_PER_HOUR: count.default(20),
  /** Campaigns one organization may create per UTC day (create and duplicate); 0 is unlimited. */
  ORG_CAMPAIGNS_PER_DAY: count.default(200),
  /** Tests of campaigns (POST /v1/campaigns/:id/test) that one API key or application, with the keys that it has made, may start per UTC day; people are not counted. 0 is unlimited. */
  CREDENTIAL_TESTS_PER_DAY: count.default(50),
  /** Webhook endpoints one organization may have, those of OAuth applications not counted; 0 is unlimited. */
  ORG_WEBHOOK_ENDPOINTS: count.default(100),
  /** Enrollments per campaign whose first email may be under way at once; bounds open workflows. */
  LAUNCH_MAX_IN_FLIGHT: count.min(1).default(200),
  /** How far ahead (ms) the launcher opens workflows for leads whose first slot is reserved. */
  LAUNCH_HORIZON_MS: count.min(1000).default(600_000),
  /** After this long (ms) of failures without progress a run is shown as blocked and waits to be retried. Time in which the database cannot be reached does not count. */
  RUN_BLOCK_AFTER_MS: count.min(1).default(300_000),
  /** How long (ms) a person has to decide on an approval. The API promises 30 minutes, and what people read says so: change it only on an installation for trials. */
  APPROVAL_EXPIRES_MS: count.min(1000).default(1_800_000),
  /** After this long (ms) an unfinished SMTP conversation of a dead worker is settled as sent or uncertain. */
  SEND_CLAIM_MS: count.min(1000).default(90_000),
  /** Wait (ms) until a mail server that could not be reached is tried again; it counts as an attempt of no email. */
  SMTP_UNREACHABLE_RETRY_MS: count.min(1000).default(300_000),
  /** How often (ms) a mailbox without IDLE is polled for new mail. */
  IMAP_POLL_MS: count.min(200).default(60_000),
  /** Mailboxes one worker watches at most. */
  IMAP_MAX_MAILBOXES: count.min(1).default(500),
  /**
   * What a worker process does. `relay`: outbox. `fanout`: order of events, and webhooks. `reactions`: what follows from
   * events. `sync`: IMAP. Task queues: `workflows` (runs and their short decisions), `mail` (SMTP), `apps` (calls to
   * customers' apps), `webhooks`, `integrations` (calls to their providers), `batch` (launchers, imports, maintenance), `interactive` (a person waits). `temporal`
   * stands for all task queues.
   */
  WORKER_ROLES: list.default(['temporal', 'relay', 'fanout', 'reactions', 'sync']),
  /** Activities one worker runs at once on the queue of the workflows themselves; slow work has queues of its own. */
  WORKER_ACTIVITIES: count.min(1).default(100),
  /** Emails one worker hands over at once, over all mail hosts. */
  WORKER_MAIL_SLOTS: count.min(1).default(200),
  /** SMTP sessions one worker has open to one mail host at most, over all mailboxes there; waiting emails hold no slot. */
  SMTP_HOST_SESSIONS: count.min(1).default(20),
  /** Calls to customers' apps one worker has open at once, over all apps. */
  WORKER_APPS_SLOTS: count.min(1).default(200),
  /** Calls one worker has open to one app connection at most; waiting calls hold no slot. */
  APP_CONNECTION_CONCURRENCY: count.min(1).default(10),
  /** How long (ms) a customer's app may take to answer a call. */
  APP_ACTION_TIMEOUT_MS: count.min(1).default(30_000),
  /** Webhook batches and retries one worker has open at once. */
  WORKER_WEBHOOKS_SLOTS: count.min(1).default(1000),
  /** Launchers, imports and other long jobs one worker runs at once; each may use a database connection most of the time. */
  WORKER_BATCH_SLOTS: count.min(1).default(20),
  /** Jobs with a person waiting for the answer that one worker runs at once. */
  WORKER_INTERACTIVE_SLOTS: count.min(1).default(20),
  /** Workflows one worker keeps in memory. */
  WORKER_CACHED_WORKFLOWS: count.min(1).default(2000),
  /**
   * Build of this worker for Temporal's Worker Versioning; without it workers are not versioned. The deployment has the
   * name of TEMPORAL_TASK_QUEUE. Runs move to the build that an operator makes the current one.
   */
  WORKER_BUILD_ID: z.string().min(1).max(200).optional(),
  /**
   * Bearer token for /metrics of api, tracking and realtime. Without it metrics are served to loopback only, and not at all
   * when APP_ENV is prod: behind a proxy on the same machine everybody comes from loopback. May be called INTERNAL_API_TOKEN.
   */
  METRICS_TOKEN: z.string().optional(),
  /**
   * Where the newest release is described, in the form of a forge's `/releases/latest`; asked at most once an hour, when an
   * administrator looks. Without it nothing is asked.
   */
  UPDATE_FEED_URL: url.optional(),
  /** OpenTelemetry collector that takes traces (OTLP over HTTP), such as http://127.0.0.1:4318. Without it none are recorded. */
  OTEL_EXPORTER_OTLP_ENDPOINT: url.optional(),
  /**
   * Go on with the traces of callers (`traceparent`) and keep to their decision whether to record. Only where all callers are your own: a proxy
   * of yours that sets the header itself. Otherwise each request begins a trace, which names the caller's.
   */
  TRACE_TRUST_CALLERS: flag.default(false),
  /** The share of requests that are traced, from 0 to 1. */
  TRACE_SAMPLE_RATIO: z.coerce.number().min(0).max(1).default(1),
  /** Least level that is logged. */
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  /** How long (ms) a stopping process waits for requests, emails and activities to finish. */
  SHUTDOWN_GRACE_MS: count.default(25_000),
});

export type Config = z.output<typeof settingsSchema>;
export type SettingName = keyof Config;
