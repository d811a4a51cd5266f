import { z } from 'zod';
import { providerSettings } from './provider-settings.ts';
import { PUBLISHED_DEFAULTS } from './secrets.ts';
import { flag, port, count, list, hexKeys, dbUrl, CODEC_KEY, MASTER_KEY, url, endpoints } from './values.ts';

/**
 * Every setting of every process, from environment variables. One schema contains them all, so that a process reports
 * all faults together at start.
 */
export const settingsSchema = z.object({
  /** `prod` refuses published default secrets and development-only relaxations. */
  APP_ENV: z.enum(['dev', 'prod']).default('dev'),
  /** Lets APP_ENV=prod start with published defaults. Use it only for a trial behind a firewall. */
  ALLOW_INSECURE_DEFAULTS: flag.default(false),
  /** Signs session tokens. 32 characters or more, the same in every process. */
  AUTH_SECRET: z.string().min(32, 'needs 32 characters or more').default(PUBLISHED_DEFAULTS.AUTH_SECRET!),
  /**
   * Another name of AUTH_SECRET, which realtime services often use. It sets AUTH_SECRET in every process. Where both
   * are set, they must be the same.
   */
  JWT_SECRET: z.string().min(32, 'needs 32 characters or more').optional(),
  /**
   * Secret key for the cookies and form tokens of browsers: the dashboard's sessions, and the pages for sign-in,
   * consent and approvals. 64 characters or more, the same in every process. Defaults to AUTH_SECRET. A new value ends
   * the sessions of all browsers.
   */
  SECRET_KEY_BASE: z.string().min(64, 'needs 64 characters or more').optional(),
  /**
   * Encrypts stored credentials (AES-256-GCM). Exactly 64 hex characters. Losing this key loses every mailbox password.
   */
  CREDENTIALS_ENCRYPTION_KEY: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, 'needs exactly 64 hex characters')
    .default(PUBLISHED_DEFAULTS.CREDENTIALS_ENCRYPTION_KEY!),
  /**
   * Former values of CREDENTIALS_ENCRYPTION_KEY, comma separated, the newest first. They only decrypt stored secrets
   * and keep links in emails already sent working. See `heron rotate-keys`.
   */
  CREDENTIALS_PREVIOUS_KEYS: hexKeys.default([]),
  /**
   * Key for stored credentials in another form: 32 bytes in base64 (`openssl rand -base64 32`). If
   * CREDENTIALS_ENCRYPTION_KEY is set too, this key only decrypts, like CREDENTIALS_PREVIOUS_KEYS.
   */
  KMS_LOCAL_MASTER_KEY: z.string().regex(MASTER_KEY, 'needs exactly 32 bytes in base64').optional(),
  /**
   * Keys of the links in sent emails, each 64 hex characters, comma separated, as `heron tracking-keys` prints them.
   * Only `heron tracking` reads them, instead of CREDENTIALS_ENCRYPTION_KEY. Required there when APP_ENV is prod.
   */
  TRACKING_KEYS: hexKeys.default([]),
  /** PostgreSQL connection string, version 15 or later. */
  PRIMARY_DB: dbUrl.default(PUBLISHED_DEFAULTS.PRIMARY_DB!),
  /**
   * PostgreSQL connection string of the prospect catalogue, with a role that may read it
   * (docs/guides/prospect-catalogue.md). Without it there is no catalogue.
   */
  PROSPECT_DB: dbUrl.optional(),
  /**
   * Connection string of the catalogue with the role that owns it. Used only by `heron catalogue load`. Defaults to
   * PROSPECT_DB.
   */
  PROSPECT_OWNER_DB: dbUrl.optional(),
  /**
   * Verification of addresses from the prospect catalogue. `builtin` checks form, DNS, lists of disposable and role
   * addresses, and the mail server if EMAIL_VERIFICATION_PROBE_FROM is set. `zerobounce` is a paid service; `off`
   * verifies nothing.
   */
  EMAIL_VERIFICATION: z.enum(['builtin', 'zerobounce', 'off']).default('builtin'),
  /** Maximum number of addresses that one worker verifies per minute. */
  EMAIL_VERIFICATIONS_PER_MINUTE: count.min(1).default(300),
  /**
   * Makes the built-in check also ask the address's mail server if it accepts mail for the address. It uses SMTP on
   * port 25, with this address as the sender, and sends no mail. The address given here must accept mail. If unset, no
   * mail server is contacted. Many networks block port 25, and many probes harm the reputation of the IP address, so do
   * not probe from a machine that sends mail.
   */
  EMAIL_VERIFICATION_PROBE_FROM: z.email('must be an email address').toLowerCase().optional(),
  /**
   * Host name given to the probed mail servers: the name that this machine's IP address resolves to. Defaults to the
   * domain of EMAIL_VERIFICATION_PROBE_FROM.
   */
  EMAIL_VERIFICATION_PROBE_NAME: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i, 'must be a host name')
    .optional(),
  /** Port of the probed mail servers. Change it only for a network whose gateway listens on another port. */
  EMAIL_VERIFICATION_PROBE_PORT: port.default(25),
  /** API key of ZeroBounce, for EMAIL_VERIFICATION=zerobounce. */
  ZEROBOUNCE_API_KEY: z.string().min(1).optional(),
  /** Base URL of ZeroBounce. Change it for its servers in a region, or for a fake server in tests. */
  ZEROBOUNCE_URL: url.default('https://api.zerobounce.net'),
  /** Maximum number of database connections of each process. */
  DB_POOL_MAX: count.min(2).default(20),
  /**
   * Keeps the plans of frequent statements on each connection. Disable it behind a pooler that assigns connections per
   * transaction.
   */
  DB_PREPARED_STATEMENTS: flag.default(true),
  /**
   * Runs the statements of an organization in a database role that sees only its rows. `heron migrate` creates the
   * role.
   */
  ROW_SECURITY: flag.default(false),
  /**
   * Maximum run time (ms) of a statement of the api, tracking and realtime processes. Workers get ten times as long. 0
   * is unlimited.
   */
  DB_STATEMENT_TIMEOUT_MS: count.default(30_000),
  /** Maximum time (ms) that a statement waits for a lock. Workers wait three times as long. 0 is unlimited. */
  DB_LOCK_TIMEOUT_MS: count.default(15_000),
  /** Maximum time (ms) that an open transaction may be idle before PostgreSQL ends it. 0 is unlimited. */
  DB_IDLE_TRANSACTION_MS: count.default(120_000),
  /** Address of the Temporal frontend as host:port. */
  TEMPORAL_ADDRESS: z.string().default('127.0.0.1:7233'),
  /**
   * Temporal namespace. It must exist with the search attributes OrganizationId, CampaignId, EndpointId, Kind, State
   * (Keyword) and Deadline (Datetime).
   */
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  /** Task queue of this installation's workers. */
  TEMPORAL_TASK_QUEUE: z.string().min(1).default('heron'),
  /** Connects to Temporal over TLS. */
  TEMPORAL_TLS: flag.default(false),
  /** Client certificate (PEM) for mutual TLS with Temporal. */
  TEMPORAL_TLS_CERT: z.string().optional(),
  /** Client key (PEM) for mutual TLS with Temporal. */
  TEMPORAL_TLS_KEY: z.string().optional(),
  /** API key for Temporal Cloud. Implies TLS. */
  TEMPORAL_API_KEY: z.string().optional(),
  /**
   * Encryption of arguments, results, signals and memos before they reach Temporal. `none` encrypts nothing; `aes`
   * encrypts with the first of CODEC_KEYS (AES-256-GCM). Workflow ids, search attributes and error messages stay in
   * clear text.
   */
  CODEC_PROVIDER: z.enum(['none', 'aes']).default('none'),
  /**
   * Keys of CODEC_PROVIDER=aes as id:key, each key 64 hex characters, comma separated. The first encrypts, every key
   * decrypts. All processes need the same keys. A key is needed as long as Temporal keeps a history written with it.
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
  /** Base URL of the Temporal UI, for links from records to their workflows. */
  TEMPORAL_UI_URL: url.optional(),
  /** Address on which the servers listen. */
  LISTEN_HOST: z.string().default('127.0.0.1'),
  /** Port of the REST API. */
  API_PORT: port.default(8080),
  /** Port of the tracking service (opens, clicks, unsubscribes). */
  TRACKING_PORT: port.default(3000),
  /** Port of the forms service. */
  FORMS_PORT: port.default(8090),
  /** Port of the realtime gateway (WebSocket). */
  REALTIME_PORT: port.default(4000),
  /** Maximum number of sockets of one realtime process, including sockets that have not signed in yet. */
  REALTIME_MAX_CONNECTIONS: count.min(1).default(10_000),
  /** Maximum number of open sockets of one organization per realtime process. 0 is unlimited. */
  REALTIME_ORG_CONNECTIONS: count.default(500),
  /** Maximum number of open sockets of one API key, OAuth grant or session per realtime process. 0 is unlimited. */
  REALTIME_KEY_CONNECTIONS: count.default(50),
  /**
   * Maximum number of sockets of one source address that have not signed in. An IPv6 address counts with its /64. 0 is
   * unlimited.
   */
  REALTIME_SOURCE_PENDING: count.default(20),
  /**
   * Milliseconds between two heartbeats of an open socket. A socket that has not answered before the next heartbeat is
   * closed.
   */
  REALTIME_HEARTBEAT_MS: count.min(1000).default(25_000),
  /** Port of a worker's /health and /metrics. 0 picks a free port. */
  WORKER_PORT: port.default(9090),
  /**
   * Host name of the installation, such as heron.example.com. Sets API_PUBLIC_URL, APP_URL and REALTIME_PUBLIC_URL to
   * `https://` and this name where they are not set. A port may follow. TRACKING_DOMAIN should be another name.
   */
  PUBLIC_HOST: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:\d{1,5})?$/i, 'must be a host name')
    .optional(),
  /** Public origin of the API, as clients reach it. */
  API_PUBLIC_URL: url.default('http://127.0.0.1:8080'),
  /** Public origin of the dashboard and of links in system mail. */
  APP_URL: url.default('http://127.0.0.1:8080'),
  /** Public origin of the tracking service. Every tracked link starts with it. */
  TRACKING_DOMAIN: url.default('http://127.0.0.1:3000'),
  /** Public address of the realtime gateway, for WebSocket clients. */
  REALTIME_PUBLIC_URL: url.default('http://127.0.0.1:4000'),
  /** Opens and clicks within this time (ms) after the send count as automatic. 0 switches this rule off. */
  TRACKING_INSTANT_MS: count.default(10_000),
  /**
   * File that maps IP addresses to countries, in MaxMind's format (.mmdb). Opens and clicks are stored with the country
   * only. Without a file the country is unknown.
   */
  GEOIP_DATABASE: z.string().optional(),
  /** Origins from which a browser may call the API, comma separated. */
  CORS_ALLOW_ORIGINS: list.default([]),
  /**
   * Proxies whose X-Forwarded-For header is trusted: addresses or CIDR ranges, comma separated. `none` means that there
   * is no proxy.
   */
  TRUSTED_PROXIES: list.transform((proxies) => (proxies[0] === 'none' ? [] : proxies)).default([]),
  /**
   * Serves the CRM, templates, automations and integrations. With `false` their routes answer 404, for installations
   * that offer only campaigns.
   */
  EXTENDED_SURFACES: z
    .enum(['true', 'false', '1', '0', ''])
    .transform((v) => v !== 'false' && v !== '0')
    .default(true),
  /**
   * Allows changes of integrations and automations only to workspaces on a paid plan. By default every workspace counts
   * as paying.
   */
  REQUIRE_PAID_PLAN: flag.default(false),
  /**
   * Transport of system mail (login codes, invitations): `log` writes to the log, `smtp` sends by SMTP, `ses` sends by
   * Amazon SES.
   */
  MAIL_TRANSPORT: z.enum(['log', 'smtp', 'ses']).default('log'),
  /** Sender address of system mail. */
  MAIL_FROM: z.string().default('Heron <no-reply@localhost>'),
  /** SMTP host for system mail. */
  SMTP_HOST: z.string().optional(),
  /** SMTP port for system mail. The default follows SMTP_SECURITY (587, 465 or 25). */
  SMTP_PORT: port.optional(),
  /** SMTP user for system mail. */
  SMTP_USERNAME: z.string().optional(),
  /** SMTP password for system mail. */
  SMTP_PASSWORD: z.string().optional(),
  /** Protection of the SMTP connection for system mail. */
  SMTP_SECURITY: z.enum(['starttls', 'tls', 'none']).default('starttls'),
  /** AWS region of Amazon SES, for MAIL_TRANSPORT=ses. */
  SES_REGION: z.string().min(1).optional(),
  /** Access key of SES. Without it the credentials of the machine, pod or profile are used. */
  SES_ACCESS_KEY_ID: z.string().min(1).optional(),
  /** Secret of SES_ACCESS_KEY_ID. */
  SES_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  /** URL of SES, if not the public one, such as an endpoint in your own network. */
  SES_ENDPOINT: url.optional(),
  /**
   * Restricts sign-up: `false` allows anyone, `invite_only` allows invited people, `true` allows no one. Unset, anyone
   * may sign up, but with APP_ENV=prod only invited people once an account exists.
   */
  DISABLE_REGISTRATION: z.enum(['true', 'false', 'invite_only']).optional(),
  /** Condition under which signing in needs a code sent by email. */
  AUTH_LOGIN_CODE: z.enum(['always', 'new_device', 'off']).default('new_device'),
  /**
   * Lets webhooks, app connections and app actions reach http, any port and private addresses. For development only.
   */
  ALLOW_UNSAFE_WEBHOOK_URLS: flag.default(false),
  /** Maximum number of attempts of a webhook delivery before it is abandoned. */
  WEBHOOK_MAX_ATTEMPTS: count.min(1).default(8),
  /** Wait (ms) after the first failed attempt of a webhook delivery. The wait doubles with each attempt. */
  WEBHOOK_RETRY_BASE_MS: count.min(1).default(30_000),
  /** Maximum wait (ms) between two attempts of a webhook delivery. */
  WEBHOOK_RETRY_CAP_MS: count.min(1).default(3_600_000),
  /** Timeout (ms) of a webhook request, from the DNS query to the last byte of the answer. */
  WEBHOOK_TIMEOUT_MS: count.min(1).default(15_000),
  /** Maximum number of open requests of one worker to one webhook endpoint. */
  WEBHOOK_ENDPOINT_CONCURRENCY: count.min(1).default(20),
  /**
   * Maximum number of events that one webhook endpoint receives per minute. Further events are dropped and counted. 0
   * is unlimited.
   */
  WEBHOOK_ENDPOINT_PER_MINUTE: count.default(6_000),
  /**
   * Maximum number of events of one type that are delivered for one workspace per minute. Further events are dropped
   * and counted. 0 is unlimited.
   */
  WEBHOOK_EVENT_TYPE_PER_MINUTE: count.default(30_000),
  /**
   * Time (ms) of failures without a success after which an endpoint is disabled, if WEBHOOK_DISABLE_AFTER_FAILURES is
   * reached too.
   */
  WEBHOOK_DISABLE_AFTER_MS: count.default(86_400_000),
  /** Minimum number of consecutive failures before an endpoint is disabled. */
  WEBHOOK_DISABLE_AFTER_FAILURES: count.min(1).default(20),
  /**
   * Days that events, webhook deliveries and their attempts are kept. A month is deleted as a whole, once its last day
   * is that old. A realtime client can resume from any kept event.
   */
  EVENT_RETENTION_DAYS: count.min(1).default(30),
  /**
   * Days that product events are kept, and people without a contact who have no other data. Conversions are kept.
   * Choose more than the longest range of a report plus its longest window. 0 keeps everything.
   */
  ENGAGEMENT_RETENTION_DAYS: count.default(750),
  /**
   * Days that the audit log is kept. A month is deleted as a whole, once its last day is that old. 0 keeps everything.
   */
  AUDIT_RETENTION_DAYS: count.default(0),
  /**
   * Days that hourly report counts are kept; they are deleted by month. Reports of earlier times show whole UTC days
   * only. Counts by day, step and mailbox are kept. 0 keeps everything.
   */
  REPORT_HOUR_RETENTION_DAYS: count.default(0),
  /**
   * Maximum number of approval emails to one person per hour and workspace. Further approvals appear only in the list.
   * 0 sends no emails.
   */
  APPROVAL_MAILS_PER_HOUR: count.default(12),
  /** Days that approvals are kept, including the recipients, senders and emails shown to those who decided. */
  APPROVAL_RETENTION_DAYS: count.min(1).default(365),
  /**
   * Days that warmup emails are kept, and so the range of warmup reports. A copy that arrives later counts as mail from
   * a stranger.
   */
  WARMUP_RETENTION_DAYS: count.min(30).default(180),
  /**
   * Days that ended automation runs are kept. They are kept at least as long as the events that started them
   * (EVENT_RETENTION_DAYS).
   */
  AUTOMATION_RUN_RETENTION_DAYS: count.min(1).default(90),
  /** Lets mailboxes use SMTP and IMAP servers on private addresses, such as a mail server in your own network. */
  ALLOW_PRIVATE_MAIL_HOSTS: flag.default(false),
  /**
   * OAuth client at Google for connecting Gmail mailboxes. Its redirect URI is APP_URL/mailboxes/consent. Without it
   * Gmail mailboxes cannot be connected.
   */
  GOOGLE_MAILBOX_CLIENT_ID: z.string().min(1).optional(),
  /** Secret of GOOGLE_MAILBOX_CLIENT_ID. */
  GOOGLE_MAILBOX_CLIENT_SECRET: z.string().min(1).optional(),
  /**
   * Replaces Google's addresses, as JSON: authorize, token, sendAs, revoke (URLs), smtp, imap (host, port, security).
   */
  GOOGLE_MAILBOX_ENDPOINTS: endpoints.optional(),
  /**
   * OAuth client at Microsoft for connecting Outlook and Microsoft 365 mailboxes. Its redirect URI is
   * APP_URL/mailboxes/consent.
   */
  MICROSOFT_MAILBOX_CLIENT_ID: z.string().min(1).optional(),
  /** Secret of MICROSOFT_MAILBOX_CLIENT_ID. */
  MICROSOFT_MAILBOX_CLIENT_SECRET: z.string().min(1).optional(),
  /**
   * Replaces Microsoft's addresses, such as for a national cloud or a single tenant. Same form as
   * GOOGLE_MAILBOX_ENDPOINTS.
   */
  MICROSOFT_MAILBOX_ENDPOINTS: endpoints.optional(),
  ...providerSettings,
  /**
   * Storage of the rate limit counts: `memory` (separate counts in each process), `postgres` or `redis` (one count for
   * all processes).
   */
  RATE_LIMIT_STORE: z.enum(['memory', 'postgres', 'redis']).default('memory'),
  /**
   * Redis for RATE_LIMIT_STORE=redis and for the shared cache (totals of the prospect catalogue, the newest release).
   * Form: redis://[user:password@]host:port/db, or rediss:// over TLS. Optional. The variable may also be called REDIS.
   */
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, 'needs a redis:// or rediss:// URL')
    .optional(),
  /**
   * Notification of the realtime gateways about new events: `postgres` (one listening connection per gateway) or `nats`
   * (published by the fan-out). Events are read from PostgreSQL in both cases.
   */
  EVENTBUS_PROVIDER: z.enum(['postgres', 'nats']).default('postgres'),
  /** NATS servers for EVENTBUS_PROVIDER=nats, comma separated: nats://[user:password@]host:port, or tls://. */
  NATS_URL: z
    .string()
    .regex(/^(nats|tls):\/\/[^,\s]+(,\s*(nats|tls):\/\/[^,\s]+)*$/, 'needs a nats:// or tls:// URL')
    .optional(),
  /** Maximum number of requests of one signed-in session per minute. 0 is unlimited. */
  SESSION_REQUESTS_PER_MINUTE: count.default(600),
  /** Maximum size (bytes) of one import file. The API's contract promises 50 MB. */
  IMPORT_MAX_BYTES: count.min(1).default(50 * 1024 * 1024),
  /** Maximum number of rows in one import file. */
  IMPORT_MAX_ROWS: count.min(1).default(50_000),
  /** Maximum number of queued or running imports of one organization. 0 is unlimited. */
  ORG_IMPORTS: count.default(5),
  /** Maximum total size (bytes) of one organization's files for unfinished imports. 0 is unlimited. */
  ORG_IMPORT_BYTES: count.default(200 * 1024 * 1024),
  /** Maximum total size (bytes) of one organization's stored files, mainly email attachments. 0 is unlimited. */
  ORG_STORED_BYTES: count.default(1024 * 1024 * 1024),
  /**
   * Storage of new files (attachments, import files): `postgres`, `disk` (a folder that every process sees) or `s3` (a
   * bucket of Amazon S3 or a compatible server). Workers move files from other storage. Until then the files stay
   * readable in their old storage.
   */
  BLOB_PROVIDER: z.enum(['postgres', 'disk', 's3']).default('postgres'),
  /** Folder for BLOB_PROVIDER=disk. It must exist. Keep it set as long as the folder contains files. */
  BLOB_ROOT: z.string().regex(/^\//, 'needs an absolute path').optional(),
  /** Bucket for BLOB_PROVIDER=s3. Keep this and the other BLOB_S3 settings as long as the bucket contains files. */
  BLOB_S3_BUCKET: z.string().min(3).optional(),
  /** Region of the S3 bucket. */
  BLOB_S3_REGION: z.string().min(1).default('us-east-1'),
  /** URL of S3, for servers other than Amazon's. */
  BLOB_S3_ENDPOINT: url.optional(),
  /** Prefix of object names. Every installation needs its own prefix in a shared bucket. */
  BLOB_S3_PREFIX: z.string().default('heron/'),
  /** Access key of S3. Without it the SDK searches the AWS sources (environment, profile, role of the machine). */
  BLOB_S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  /** Secret of BLOB_S3_ACCESS_KEY_ID. */
  BLOB_S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  /**
   * Maximum total size (bytes) of one workspace's received attachments. Later attachments are listed without their
   * content. 0 stores none.
   */
  ORG_RECEIVED_BYTES: count.default(1024 * 1024 * 1024),
  /** Days after which the content of sent and received attachments is deleted. 0 keeps everything. */
  ATTACHMENT_RETENTION_DAYS: count.default(365),
  /**
   * Maximum number of write requests of one organization per minute: of all its people, and again of all its keys and
   * applications. Requests that stop something are not counted. 0 is unlimited.
   */
  ORG_WRITES_PER_MINUTE: count.default(600),
  /**
   * Maximum number of OAuth clients that one source address may register per hour (POST /v1/oauth/register). 0 is
   * unlimited.
   */
  OAUTH_REGISTRATIONS_PER_HOUR: count.default(20),
  /** Maximum number of campaigns that one organization may create or duplicate per UTC day. 0 is unlimited. */
  ORG_CAMPAIGNS_PER_DAY: count.default(200),
  /**
   * Maximum number of campaign tests (POST /v1/campaigns/:id/test) that one API key or application may start per UTC
   * day. Keys created with it are included, people are not counted. 0 is unlimited.
   */
  CREDENTIAL_TESTS_PER_DAY: count.default(50),
  /**
   * Maximum number of webhook endpoints of one organization, not counting endpoints of OAuth applications. 0 is
   * unlimited.
   */
  ORG_WEBHOOK_ENDPOINTS: count.default(100),
  /** Maximum number of enrollments per campaign whose first email is in progress. Bounds the open workflows. */
  LAUNCH_MAX_IN_FLIGHT: count.min(1).default(200),
  /** Time (ms) before a lead's reserved first slot at which the launcher starts its workflow. */
  LAUNCH_HORIZON_MS: count.min(1000).default(600_000),
  /**
   * Time (ms) of failures without progress after which a workflow is shown as blocked and waits for a retry. Time
   * without a reachable database does not count.
   */
  RUN_BLOCK_AFTER_MS: count.min(1).default(300_000),
  /** Time (ms) that a person has to decide on an approval. */
  APPROVAL_EXPIRES_MS: count.min(1000).default(1_800_000),
  /** Time (ms) after which an unfinished SMTP conversation of a dead worker is settled as sent or uncertain. */
  SEND_CLAIM_MS: count.min(1000).default(90_000),
  /**
   * Wait (ms) before an unreachable mail server is tried again. The wait does not count as an attempt of any email.
   */
  SMTP_UNREACHABLE_RETRY_MS: count.min(1000).default(300_000),
  /** Milliseconds between two polls of a mailbox without IDLE. */
  IMAP_POLL_MS: count.min(200).default(60_000),
  /** Time (s) within which each mailbox is read if there are more mailboxes than IMAP connections. */
  IMAP_POLL_SECONDS: count.min(1).default(300),
  /**
   * Maximum number of IMAP connections of one worker. With more mailboxes, a quarter of the connections read the
   * remaining mailboxes one after the other.
   */
  IMAP_MAX_MAILBOXES: count.min(1).default(500),
  /**
   * Roles of a worker process. `relay`: outbox. `fanout`: order of events, and webhooks. `reactions`: subscribers of
   * events. `sync`: IMAP. Roles that are task queues:
   * - `workflows`: workflows and their short activities
   * - `mail`: SMTP
   * - `apps`: calls to customers' apps
   * - `webhooks`: webhook requests
   * - `integrations`: calls to integration providers
   * - `batch`: launchers, imports, maintenance
   * - `interactive`: a person waits for the result
   * - `temporal`: all task queues
   */
  WORKER_ROLES: list.default(['temporal', 'relay', 'fanout', 'reactions', 'sync']),
  /** Maximum number of concurrent activities of one worker on the `workflows` queue. Slow work has its own queues. */
  WORKER_ACTIVITIES: count.min(1).default(100),
  /** Maximum number of emails that one worker submits concurrently, over all mail hosts. */
  WORKER_MAIL_SLOTS: count.min(1).default(200),
  /**
   * Maximum number of open SMTP sessions of one worker to one mail host, over all its mailboxes. Waiting emails occupy
   * no slot.
   */
  SMTP_HOST_SESSIONS: count.min(1).default(20),
  /** Maximum number of concurrent calls of one worker to customers' apps. */
  WORKER_APPS_SLOTS: count.min(1).default(200),
  /** Maximum number of open calls of one worker to one app connection. Waiting calls occupy no slot. */
  APP_CONNECTION_CONCURRENCY: count.min(1).default(10),
  /** Timeout (ms) for a customer's app to answer a call. */
  APP_ACTION_TIMEOUT_MS: count.min(1).default(30_000),
  /** Maximum number of webhook batches and retries that one worker has open. */
  WORKER_WEBHOOKS_SLOTS: count.min(1).default(1000),
  /**
   * Maximum number of launchers, imports and other long jobs that one worker runs concurrently. Each may use a database
   * connection most of the time.
   */
  WORKER_BATCH_SLOTS: count.min(1).default(20),
  /** Maximum number of jobs of one worker with a person waiting for the result. */
  WORKER_INTERACTIVE_SLOTS: count.min(1).default(20),
  /** Maximum number of workflows that one worker keeps in memory. */
  WORKER_CACHED_WORKFLOWS: count.min(1).default(2000),
  /**
   * Build id of this worker for Temporal's Worker Versioning. Without it workers are not versioned. The deployment is
   * named as TEMPORAL_TASK_QUEUE. Workflows move to the build that an operator makes the current one.
   */
  WORKER_BUILD_ID: z.string().min(1).max(200).optional(),
  /**
   * Bearer token for /metrics of api, tracking and realtime. Without it, metrics are served only to loopback, and not
   * at all when APP_ENV is prod: behind a proxy on the same machine every client comes from loopback. The variable may
   * also be called INTERNAL_API_TOKEN.
   */
  METRICS_TOKEN: z.string().optional(),
  /**
   * URL that describes the newest release, in the form of a forge's `/releases/latest`. It is requested at most once an
   * hour, when an administrator opens the page. Without it no request is made.
   */
  UPDATE_FEED_URL: url.optional(),
  /**
   * OpenTelemetry collector for traces (OTLP over HTTP), such as http://127.0.0.1:4318. Without it no traces are
   * recorded.
   */
  OTEL_EXPORTER_OTLP_ENDPOINT: url.optional(),
  /**
   * Continues the traces of callers (`traceparent`) and follows their sampling decision. Set it only if all callers are
   * your own, such as a proxy that sets the header itself. Otherwise each request starts a new trace with a link to the
   * caller's.
   */
  TRACE_TRUST_CALLERS: flag.default(false),
  /** Share of requests that are traced, from 0 to 1. */
  TRACE_SAMPLE_RATIO: z.coerce.number().min(0).max(1).default(1),
  /** Minimum level of log lines. */
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  /** Time (ms) that a stopping process waits for requests, emails and activities to finish. */
  SHUTDOWN_GRACE_MS: count.default(25_000),
});

export type Config = z.output<typeof settingsSchema>;
export type SettingName = keyof Config;
