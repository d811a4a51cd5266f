import { toFinding as foundAs, type Finding, type Severity } from '../../../lib/finding.ts';
import type { Message } from '../../../messages/index.ts';

/**
 * A finding about the installation. Its texts are the messages `finding.<code>`, `finding.<code>.title` and
 * `finding.<code>.fix` (`messages/en/instance-findings.ts`).
 */
export interface InstanceFinding extends Finding {
  /** Path of its documentation in the repository. */
  docs: string;
}

interface Kind {
  severity: Severity;
  docs: string;
}

const SETTINGS = 'docs/guides/production.md#settings';
const START = 'docs/guides/production.md#first-start';
const HEALTH = 'docs/guides/monitoring.md#health';
const SECURITY = 'docs/explanation/security.md';

/** All findings, in the order of the list. Codes are never renamed. */
export const FINDINGS = {
  secret_published_default: { severity: 'error', docs: SETTINGS },
  allow_insecure_defaults: { severity: 'warning', docs: SETTINGS },
  credentials_key_unset: { severity: 'error', docs: 'docs/guides/keys.md' },
  internal_token_unset: { severity: 'info', docs: HEALTH },
  trusted_proxies_unset: { severity: 'warning', docs: SETTINGS },
  captcha_misconfigured: { severity: 'error', docs: SECURITY },
  turnstile_bypass_set: { severity: 'warning', docs: SECURITY },
  dev_mode_public: { severity: 'error', docs: SETTINGS },
  unsafe_webhook_urls: { severity: 'warning', docs: SECURITY },
  tls_verification_off: { severity: 'error', docs: SECURITY },
  app_url_unset: { severity: 'warning', docs: START },
  app_url_insecure: { severity: 'warning', docs: START },
  app_url_host_mismatch: { severity: 'warning', docs: START },
  cors_missing_origin: { severity: 'warning', docs: SETTINGS },
  api_public_url_unset_oidc: { severity: 'warning', docs: 'docs/reference/oauth.md' },
  oidc_discovery_failed: { severity: 'error', docs: 'docs/reference/oauth.md' },
  app_origin_wildcard: { severity: 'warning', docs: SETTINGS },
  tracking_domain_unreachable: { severity: 'error', docs: START },
  mail_transport_log: { severity: 'warning', docs: SETTINGS },
  mail_preflight_failed: { severity: 'error', docs: SETTINGS },
  mail_identity_unset: { severity: 'warning', docs: SETTINGS },
  mail_from_domain_mismatch: { severity: 'info', docs: SETTINGS },
  login_code_demoted: { severity: 'warning', docs: SETTINGS },
  update_available: { severity: 'info', docs: 'docs/guides/releases.md' },
  updater_unreachable: { severity: 'warning', docs: 'docs/guides/releases.md' },
  registration_mode: { severity: 'info', docs: SETTINGS },
  no_sign_in_method: { severity: 'error', docs: SETTINGS },
  google_sign_in_incomplete: { severity: 'warning', docs: SETTINGS },
  apple_sign_in_incomplete: { severity: 'warning', docs: SETTINGS },
  single_platform_admin: { severity: 'info', docs: START },
  bootstrap_password_still_set: { severity: 'warning', docs: START },
  setup_link_outstanding: { severity: 'warning', docs: START },
  expired_invitations: { severity: 'info', docs: START },
  no_worker_heartbeat: { severity: 'error', docs: 'docs/guides/troubleshooting/README.md#workers-that-are-alive' },
  tracking_domain_shares_brand: { severity: 'info', docs: START },
  fleet_infra_unreachable: { severity: 'error', docs: HEALTH },
  codec_registry: { severity: 'error', docs: 'docs/guides/temporal.md#encryption' },
  migrations_dirty: { severity: 'error', docs: 'docs/guides/releases.md' },
  warmup_pools_missing: { severity: 'warning', docs: 'docs/guides/warmup.md' },
  facts_incomplete: { severity: 'warning', docs: 'docs/explanation/reporting.md#verify-and-rebuild' },
  redis_unreachable: { severity: 'error', docs: SETTINGS },
  blob_root_missing: { severity: 'error', docs: 'docs/guides/files.md' },
  fleet_blobs_not_shared: { severity: 'error', docs: 'docs/guides/files.md' },
  websocket_unreachable: { severity: 'warning', docs: 'docs/reference/realtime.md' },
} as const satisfies Record<string, Kind>;

export type FindingCode = keyof typeof FINDINGS;

/** Messages of the findings, by code. If a code is missing, the problem was not found. */
export type FoundMessages = { [code in FindingCode]?: Message | undefined };

/** Converts findings by code to a list for responses. */
export function toFindings(found: FoundMessages): InstanceFinding[] {
  return (Object.keys(FINDINGS) as FindingCode[]).flatMap((code) => {
    const { severity, docs } = FINDINGS[code];
    const said = found[code];
    return said === undefined ? [] : [{ ...foundAs(severity, said), docs }];
  });
}
