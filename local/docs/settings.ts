import { PUBLISHED_DEFAULTS, SENSITIVE } from '../../lib/config/secrets.ts';
import { settingsSchema, type SettingName } from '../../lib/config/settings.ts';
import { defaultOf, readComments } from '../env-example.ts';
import { MADE, wrap } from './markdown.ts';

const HEAD = `# Settings

For operators of an installation. At the end you know every setting and its default.

${MADE}

- Every setting is an environment variable. \`heron config\` prints the values in force and their sources.
- A faulty configuration is refused with all its faults at once.
- The default is in parentheses. A setting without one is off, or not set.
- Times are in milliseconds where the name ends in \`_MS\`, sizes in bytes where it ends in \`_BYTES\`.
- [Production](../guides/production.md#settings) lists the settings that an installation needs first.
`;

/** Headings of the page, by the first setting of their group. */
const GROUPS: Partial<Record<SettingName, string>> = {
  APP_ENV: 'Environment and secrets',
  PRIMARY_DB: 'PostgreSQL',
  PROSPECT_DB: 'Prospect catalogue and address verification',
  DB_POOL_MAX: 'Database connections',
  TEMPORAL_ADDRESS: 'Temporal',
  LISTEN_HOST: 'Ports and sockets',
  API_PUBLIC_URL: 'Public addresses',
  TRACKING_INSTANT_MS: 'Tracking and browsers',
  EXTENDED_SURFACES: 'Features',
  MAIL_TRANSPORT: 'System mail',
  DISABLE_REGISTRATION: 'Sign-in',
  ALLOW_UNSAFE_WEBHOOK_URLS: 'Webhooks',
  EVENT_RETENTION_DAYS: 'Retention',
  ALLOW_PRIVATE_MAIL_HOSTS: 'Mailboxes',
  HUBSPOT_CLIENT_ID: 'Integrations',
  PROVISIONING_URL: 'Managed mailboxes',
  AI_BASE_URL: 'AI provider',
  STRIPE_SECRET_KEY: 'Payments',
  RATE_LIMIT_STORE: 'Shared stores',
  SESSION_REQUESTS_PER_MINUTE: 'Limits and files',
  LAUNCH_MAX_IN_FLIGHT: 'Sending',
  WORKER_ROLES: 'Workers',
  METRICS_TOKEN: 'Operation',
};

/**
 * Returns the text of docs/reference/settings.md: every setting with its default, from the comments in
 * lib/config/settings.ts.
 */
export function settingsPage(): string {
  const comments = readComments();
  const lines = (Object.keys(settingsSchema.shape) as SettingName[]).flatMap((name) => {
    const group = GROUPS[name];
    const fallback = name in PUBLISHED_DEFAULTS ? 'a published value, refused when APP_ENV is prod' : defaultOf(name);
    const words = comments.get(name)?.join(' ') ?? '';
    const item = wrap(
      `\`${name}\`${fallback ? ` (${fallback})` : ''}${SENSITIVE.has(name) ? ', secret' : ''}: ${words}`,
      '- ',
    );
    return group ? ['', `## ${group}`, '', item] : [item];
  });
  return `${HEAD}${lines.join('\n')}\n`;
}
