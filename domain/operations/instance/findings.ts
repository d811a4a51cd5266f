/** How much a finding matters: an error keeps a part from working or guards nothing, a warning soon will, an info is a choice to know of. */
type Severity = 'error' | 'warning' | 'info';

/** Something about the installation that its operator should look at. */
export interface Finding {
  code: FindingCode;
  title: string;
  /** What was found, and what to do. */
  message: string;
  severity: Severity;
  /** Where it is explained, a path in the sources. */
  docs: string;
}

interface Kind {
  title: string;
  severity: Severity;
  fix: string;
  docs: string;
}

const SETTINGS = 'docs/operations.md#settings';
const START = 'docs/operations.md#first-start';
const HEALTH = 'docs/operations.md#health-and-metrics';
const SECURITY = 'docs/security.md';

/** Every finding there is, in the order in which they are listed. Codes are never renamed. */
export const FINDINGS = {
  secret_published_default: {
    title: 'A secret is published with the source',
    severity: 'error',
    fix: 'Set it to a value of your own.',
    docs: SETTINGS,
  },
  allow_insecure_defaults: {
    title: 'Published secrets are let through',
    severity: 'warning',
    fix: 'Remove ALLOW_INSECURE_DEFAULTS; it is for a trial behind a firewall.',
    docs: SETTINGS,
  },
  credentials_key_unset: {
    title: 'Stored credentials have no key of their own',
    severity: 'error',
    fix: 'Set CREDENTIALS_ENCRYPTION_KEY to 64 random hex characters, then run `heron rotate-keys`.',
    docs: 'docs/operations.md#replacing-keys',
  },
  internal_token_unset: {
    title: 'Monitoring has no token',
    severity: 'info',
    fix: 'Set METRICS_TOKEN, and have Prometheus send it as a bearer.',
    docs: HEALTH,
  },
  trusted_proxies_unset: {
    title: 'Proxies are not named',
    severity: 'warning',
    fix: 'Set TRUSTED_PROXIES to the addresses of your proxies, or to none when there is none.',
    docs: SETTINGS,
  },
  captcha_misconfigured: {
    title: 'A captcha is set, and none is asked for',
    severity: 'error',
    fix: 'Remove the setting, and have a proxy or a firewall slow robots down: this release checks no captcha. Sign-in is throttled by itself.',
    docs: SECURITY,
  },
  turnstile_bypass_set: {
    title: 'A way around the captcha is set',
    severity: 'warning',
    fix: 'Remove the setting: a secret that lets robots in must not lie around, and this release does not read it.',
    docs: SECURITY,
  },
  dev_mode_public: {
    title: 'A development installation has public addresses',
    severity: 'error',
    fix: 'Set APP_ENV=prod, which refuses published secrets and what only development needs.',
    docs: SETTINGS,
  },
  unsafe_webhook_urls: {
    title: 'Requests may go to addresses inside your network',
    severity: 'warning',
    fix: 'Remove ALLOW_UNSAFE_WEBHOOK_URLS; it is for development.',
    docs: SECURITY,
  },
  tls_verification_off: {
    title: 'Certificates are not checked',
    severity: 'error',
    fix: 'Remove NODE_TLS_REJECT_UNAUTHORIZED; name a private authority with NODE_EXTRA_CA_CERTS.',
    docs: SECURITY,
  },
  app_url_unset: {
    title: 'Links in mail lead to this machine',
    severity: 'warning',
    fix: 'Set APP_URL and TRACKING_DOMAIN to the addresses at which people reach Heron.',
    docs: START,
  },
  app_url_insecure: {
    title: 'People reach Heron unencrypted',
    severity: 'warning',
    fix: 'Put TLS in front of it and use https addresses.',
    docs: START,
  },
  app_url_host_mismatch: {
    title: 'Pages and API are on different sites',
    severity: 'warning',
    fix: 'The API serves the pages that mails link to: have APP_URL lead to it.',
    docs: START,
  },
  cors_missing_origin: {
    title: 'The application may not call the API from a browser',
    severity: 'warning',
    fix: 'Add the origin of APP_URL to CORS_ALLOW_ORIGINS.',
    docs: SETTINGS,
  },
  api_public_url_unset_oidc: {
    title: 'OAuth clients are given the address of this machine',
    severity: 'warning',
    fix: 'Set API_PUBLIC_URL: it is the issuer in the OAuth metadata, and where MCP clients find the API.',
    docs: 'docs/oauth.md',
  },
  oidc_discovery_failed: {
    title: 'OAuth clients cannot find the API',
    severity: 'error',
    fix: 'Have API_PUBLIC_URL lead to the api process, /.well-known/ included.',
    docs: 'docs/oauth.md',
  },
  app_origin_wildcard: {
    title: 'Every website is named as allowed to call the API',
    severity: 'warning',
    fix: 'Name the origins in CORS_ALLOW_ORIGINS one by one; * stands for none.',
    docs: SETTINGS,
  },
  tracking_domain_unreachable: {
    title: 'Opens, clicks and unsubscribe links do not arrive',
    severity: 'error',
    fix: 'Have TRACKING_DOMAIN lead to the tracking process.',
    docs: START,
  },
  mail_transport_log: {
    title: 'Mail of the installation is not sent',
    severity: 'warning',
    fix: 'Set MAIL_TRANSPORT=smtp and SMTP_HOST.',
    docs: SETTINGS,
  },
  mail_preflight_failed: {
    title: 'The mail server does not let Heron in',
    severity: 'error',
    fix: 'Check SMTP_HOST, SMTP_PORT, SMTP_SECURITY, SMTP_USERNAME and SMTP_PASSWORD; `heron doctor --mail-to` sends a test letter.',
    docs: SETTINGS,
  },
  mail_identity_unset: {
    title: 'Mail of the installation has no sender',
    severity: 'warning',
    fix: 'Set MAIL_FROM to an address of your domain: mail servers refuse the default.',
    docs: SETTINGS,
  },
  mail_from_domain_mismatch: {
    title: 'Mail comes from another domain than its links',
    severity: 'info',
    fix: 'Filters trust mail more whose MAIL_FROM and APP_URL are of one domain.',
    docs: SETTINGS,
  },
  login_code_demoted: {
    title: 'Sign-in codes are not mailed',
    severity: 'warning',
    fix: 'Set MAIL_TRANSPORT=smtp, or AUTH_LOGIN_CODE=off.',
    docs: SETTINGS,
  },
  update_available: {
    title: 'There is a newer release',
    severity: 'info',
    fix: 'Read its notes, then follow the steps for releases.',
    docs: 'docs/operations.md#releases',
  },
  updater_unreachable: {
    title: 'The releases cannot be looked up',
    severity: 'warning',
    fix: 'Check UPDATE_FEED_URL, and that the api process may reach it.',
    docs: 'docs/operations.md#releases',
  },
  registration_mode: {
    title: 'Anybody may open an account',
    severity: 'info',
    fix: 'Set DISABLE_REGISTRATION=invite_only or true if that is not wanted.',
    docs: SETTINGS,
  },
  no_sign_in_method: {
    title: 'Nobody can sign in',
    severity: 'error',
    fix: 'Each sign-in needs a mailed code: set MAIL_TRANSPORT=smtp, or AUTH_LOGIN_CODE=off.',
    docs: SETTINGS,
  },
  google_sign_in_incomplete: {
    title: 'Sign-in with Google is set, and not offered',
    severity: 'warning',
    fix: 'Remove the settings: in this release people sign in with a password and a mailed code.',
    docs: SETTINGS,
  },
  apple_sign_in_incomplete: {
    title: 'Sign-in with Apple is set, and not offered',
    severity: 'warning',
    fix: 'Remove the settings: in this release people sign in with a password and a mailed code.',
    docs: SETTINGS,
  },
  single_platform_admin: {
    title: 'One person alone administers the installation',
    severity: 'info',
    fix: 'Make a second one with `heron admin add <email>`.',
    docs: START,
  },
  bootstrap_password_still_set: {
    title: 'A password that the operator chose is in use',
    severity: 'warning',
    fix: 'Have these people choose their own with a password reset.',
    docs: START,
  },
  setup_link_outstanding: {
    title: 'The installation waits for its first account',
    severity: 'warning',
    fix: 'Open the setup link from the log of the api process: whoever has it becomes the administrator.',
    docs: START,
  },
  expired_invitations: {
    title: 'Invitations ran out unused',
    severity: 'info',
    fix: 'Invite these people again, or cancel their invitations.',
    docs: START,
  },
  no_worker_heartbeat: {
    title: 'Work is not done',
    severity: 'error',
    fix: 'Start worker processes for these parts and check their log.',
    docs: 'docs/operations.md#workers-that-are-alive',
  },
  tracking_domain_shares_brand: {
    title: 'Tracking uses the domain of your brand',
    severity: 'info',
    fix: 'Use a domain of its own for TRACKING_DOMAIN: what filters hold against its links then stays there.',
    docs: START,
  },
  fleet_infra_unreachable: {
    title: 'Temporal does not answer',
    severity: 'error',
    fix: 'Check TEMPORAL_ADDRESS, TEMPORAL_TLS and TEMPORAL_API_KEY, and that Temporal runs.',
    docs: HEALTH,
  },
  codec_registry: {
    title: 'Processes have different keys for what Temporal keeps',
    severity: 'error',
    fix: 'Give every process the same CODEC_KEYS, then start it anew: a run that one of them has written stands still in the others.',
    docs: 'docs/operations.md#what-temporal-sees',
  },
  migrations_dirty: {
    title: 'The schema is not that of this build',
    severity: 'error',
    fix: 'Run `heron migrate`.',
    docs: 'docs/operations.md#releases',
  },
  warmup_pools_missing: {
    title: 'Mailboxes have no partner to warm up with',
    severity: 'warning',
    fix: 'Warm up two mailboxes or more in the workspace.',
    docs: 'docs/warmup.md',
  },
  facts_incomplete: {
    title: 'Reports count emails one by one',
    severity: 'warning',
    fix: 'Run `heron facts rebuild` again if it was stopped: figures are right without it, and reports of many emails slow.',
    docs: 'docs/reporting.md#how-these-are-kept',
  },
  redis_unreachable: {
    title: 'Redis does not answer',
    severity: 'error',
    fix: 'Check REDIS_URL; until it answers each process counts requests, and remembers answers, for itself.',
    docs: SETTINGS,
  },
  blob_root_missing: {
    title: 'Files cannot be stored or read',
    severity: 'error',
    fix: 'Mount the folder of BLOB_ROOT, writable for Heron, or check the BLOB_S3_ settings; new files stay in PostgreSQL until then.',
    docs: 'docs/operations.md#where-files-are',
  },
  fleet_blobs_not_shared: {
    title: 'Processes do not see the same files',
    severity: 'error',
    fix: 'Give every api and worker process the same BLOB_PROVIDER, and for disk a volume that all of them mount, or use s3.',
    docs: 'docs/operations.md#where-files-are',
  },
  websocket_unreachable: {
    title: 'Events do not reach WebSockets',
    severity: 'warning',
    fix: 'Have REALTIME_PUBLIC_URL lead to the realtime process.',
    docs: 'docs/realtime.md',
  },
} as const satisfies Record<string, Kind>;

export type FindingCode = keyof typeof FINDINGS;

/** What was found, by code; those that are not named were not found. */
export type Found = { [code in FindingCode]?: string | undefined };

/** What was found, as it is listed. */
export function toFindings(found: Found): Finding[] {
  return (Object.keys(FINDINGS) as FindingCode[]).flatMap((code) => {
    const { fix, ...kind } = FINDINGS[code];
    const detail = found[code];
    return detail === undefined ? [] : [{ code, ...kind, message: `${detail}. ${fix}` }];
  });
}
