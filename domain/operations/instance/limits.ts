import type { Config } from '../../../lib/config/index.ts';
import { DEFAULT_KEY_RATE } from '../../platform/key-limits.ts';
import { SHARE_OF_CAP } from '../../mailboxes/warmup/ramp.ts';
import { PER_PARTNER } from '../../mailboxes/warmup/pool.ts';

/** Limits by name. Null means that there is no limit. */
type Limits = Record<string, number | null>;

/**
 * Returns the limits that apply with this build and its settings. Names of limits in milliseconds end in `_ms`, and
 * those in bytes end in `_bytes`.
 */
export function readLimits(config: Config): { sending: Limits; warmup: Limits; rates: Limits } {
  return {
    sending: {
      campaigns_per_workspace_and_day: unlessZero(config.ORG_CAMPAIGNS_PER_DAY),
      campaign_tests_per_credential_and_day: unlessZero(config.CREDENTIAL_TESTS_PER_DAY),
      open_runs_per_campaign: config.LAUNCH_MAX_IN_FLIGHT,
      launch_horizon_ms: config.LAUNCH_HORIZON_MS,
      emails_at_once_per_worker: config.WORKER_MAIL_SLOTS,
      sessions_per_mail_host: config.SMTP_HOST_SESSIONS,
      claim_ms: config.SEND_CLAIM_MS,
      unreachable_server_retry_ms: config.SMTP_UNREACHABLE_RETRY_MS,
      import_rows: config.IMPORT_MAX_ROWS,
      import_bytes: config.IMPORT_MAX_BYTES,
    },
    warmup: {
      share_of_a_mailbox_cap: SHARE_OF_CAP,
      emails_to_one_partner_per_day: PER_PARTNER,
    },
    rates: {
      requests_per_key_and_minute: DEFAULT_KEY_RATE,
      requests_per_session_and_minute: unlessZero(config.SESSION_REQUESTS_PER_MINUTE),
      writes_per_workspace_and_minute: unlessZero(config.ORG_WRITES_PER_MINUTE),
      oauth_registrations_per_source_and_hour: unlessZero(config.OAUTH_REGISTRATIONS_PER_HOUR),
      webhook_deliveries_per_endpoint_and_minute: unlessZero(config.WEBHOOK_ENDPOINT_PER_MINUTE),
      webhook_deliveries_per_endpoint_at_once: config.WEBHOOK_ENDPOINT_CONCURRENCY,
      realtime_connections_per_process: config.REALTIME_MAX_CONNECTIONS,
      realtime_connections_per_workspace: unlessZero(config.REALTIME_ORG_CONNECTIONS),
    },
  };
}

/** Returns null for 0, because 0 disables the limit in these settings. */
const unlessZero = (limit: number): number | null => (limit === 0 ? null : limit);
