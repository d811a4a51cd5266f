import { loadConfig } from '../../lib/config/index.ts';
import type { SettingName } from '../../lib/config/settings.ts';
import { DEFAULT_KEY_RATE } from '../../domain/platform/key-limits.ts';
import { MADE, wrap } from './markdown.ts';

const HEAD = `# Limits

For developers who call the API, and for operators. At the end you know the limits of requests, files and sending, and
the settings that change them.

${MADE}

\`GET /v1/admin/instance/limits\` lists the limits in force on an installation.

A setting of 0 switches its limit off where [Settings](settings.md) says so.

## Rates in answers

Every answer tells the limits that its request counted against, as \`draft-ietf-httpapi-ratelimit-headers-11\` describes
them:

\`\`\`http
RateLimit-Policy: "requests";q=60;w=60, "writes";q=600;w=60
RateLimit: "requests";r=12;t=31, "writes";r=594;t=48
\`\`\`

- \`q\` requests in a window of \`w\` seconds; \`r\` of them are left, and after \`t\` seconds there are more.
- \`requests\` counts those of one credential, \`writes\` those of the workspace. People share one count of writes, keys and
  applications another. Other names are \`registrations\`, \`campaigns\`, \`tests\`, \`invitations\`, \`exports\`, \`workspaces\`,
  and those of sign-in.
- A request beyond a limit is answered 429 with \`Retry-After\`: the seconds until the next request passes, never more than
  a minute for \`requests\` and \`writes\`. A refused request is not counted.
- Writes that stop something are not counted as writes: stopping and cancelling, revoking, pausing, denying, suppressing,
  disabling.
`;

interface Limit {
  what: string;
  /** Setting whose default the page shows, or a fixed value. */
  by: SettingName | { fixed: string };
}

const LIMITS: Record<string, Limit[]> = {
  Requests: [
    {
      what: 'Requests per minute of an API key or OAuth grant, unless the key sets its own rate',
      by: { fixed: String(DEFAULT_KEY_RATE) },
    },
    { what: 'Requests per minute of a session', by: 'SESSION_REQUESTS_PER_MINUTE' },
    {
      what: 'Writes per minute of the people of a workspace, and of its keys and applications',
      by: 'ORG_WRITES_PER_MINUTE',
    },
    { what: 'Client registrations per hour and source address', by: 'OAUTH_REGISTRATIONS_PER_HOUR' },
    { what: 'Size of a body, unless the endpoint allows more', by: { fixed: '1 MiB, nested 64 levels deep' } },
    { what: 'Duration of a statement in the database', by: 'DB_STATEMENT_TIMEOUT_MS' },
    { what: 'Duration of a statement of a search, count or report', by: { fixed: '5 s, 15 s for an export' } },
    { what: 'Requests of one credential under way in an API process', by: { fixed: '128' } },
    {
      what: 'Database connections of one workspace, and of its searches and reports, in each process',
      by: { fixed: 'three quarters and an eighth of `DB_POOL_MAX`' },
    },
    {
      what: 'Comparisons of a contact with a pattern in a question to the lead database',
      by: { fixed: '20 million' },
    },
    { what: 'Wait for a lock in the database', by: 'DB_LOCK_TIMEOUT_MS' },
    { what: 'Duration of an idle transaction in the database', by: 'DB_IDLE_TRANSACTION_MS' },
  ],
  Campaigns: [
    { what: 'New campaigns per UTC day and workspace', by: 'ORG_CAMPAIGNS_PER_DAY' },
    { what: 'Test runs per UTC day and credential', by: 'CREDENTIAL_TESTS_PER_DAY' },
    { what: 'Sending windows of one weekday of a campaign', by: { fixed: '48' } },
    { what: 'Open workflows of a campaign before their first email', by: 'LAUNCH_MAX_IN_FLIGHT' },
    { what: 'Leads in a request for a run, and recipients of a run', by: { fixed: '5,000 and 50,000' } },
    { what: 'Mailboxes of a free workspace', by: { fixed: '10' } },
  ],
  'Imports and exports': [
    { what: 'Size of a file to import', by: 'IMPORT_MAX_BYTES' },
    { what: 'Rows of a file to import', by: 'IMPORT_MAX_ROWS' },
    { what: 'Open imports of a workspace', by: 'ORG_IMPORTS' },
    { what: 'Size of all files of open imports of a workspace', by: 'ORG_IMPORT_BYTES' },
    { what: 'Files that one API process parses at once', by: { fixed: '2, with 512 MB of memory each' } },
    {
      what: "Exports of the lead database, of contacts or of one contact's data at once, per API process and per workspace",
      by: { fixed: '4 and 2, for 5 minutes each' },
    },
    {
      what: 'Exports of a whole workspace at once',
      by: { fixed: '1, for an hour, and 3 in 24 hours; one file is kept, for 7 days' },
    },
    { what: 'Logo of a workspace', by: { fixed: '200 kB' } },
  ],
  Files: [
    { what: 'Stored files of a workspace', by: 'ORG_STORED_BYTES' },
    { what: 'Stored files of received messages of a workspace', by: 'ORG_RECEIVED_BYTES' },
    { what: 'Attachments of one email', by: { fixed: '10, 7 MiB together' } },
    { what: 'Attachments of one campaign email', by: { fixed: '10, 15 MiB together' } },
    { what: 'Files kept of one received message', by: { fixed: '25, 10 MiB each' } },
  ],
  Events: [
    { what: 'Webhook endpoints of a workspace', by: 'ORG_WEBHOOK_ENDPOINTS' },
    { what: 'Events per minute to one endpoint', by: 'WEBHOOK_ENDPOINT_PER_MINUTE' },
    { what: 'Events of one type per minute and workspace', by: 'WEBHOOK_EVENT_TYPE_PER_MINUTE' },
    { what: 'Attempts of a delivery', by: 'WEBHOOK_MAX_ATTEMPTS' },
    { what: 'Open requests of one worker to one endpoint', by: 'WEBHOOK_ENDPOINT_CONCURRENCY' },
    {
      what: 'Consecutive failures from which an endpoint gets one request at a time',
      by: { fixed: '5, with a pause of at most a minute' },
    },
    { what: 'Sockets of one realtime process', by: 'REALTIME_MAX_CONNECTIONS' },
    { what: 'Sockets of one workspace per process', by: 'REALTIME_ORG_CONNECTIONS' },
    { what: 'Sockets of one credential per process', by: 'REALTIME_KEY_CONNECTIONS' },
    { what: 'Sockets of one source address that have not signed in', by: 'REALTIME_SOURCE_PENDING' },
  ],
  Automations: [
    {
      what: 'Runs per UTC hour and workspace that other runs start',
      by: { fixed: '10,000, and 50 for each first run' },
    },
    { what: 'Nodes of one automation that start another automation', by: { fixed: '10' } },
    { what: 'Computation of all texts and conditions of one run', by: { fixed: 'that of one email, about 0.1 s' } },
  ],
};

/** Resource that all workspaces use, with the share of one workspace. */
interface SharedThing {
  what: string;
  /** Share of one workspace, or of another unit. */
  share: string;
  /** Effect on work that exceeds the share. */
  beyond: string;
  /** Source files and settings that define the limit. `local/docs/limits.test.ts` finds those without a row. */
  by: readonly string[];
}

export const SHARED: readonly SharedThing[] = [
  {
    what: 'database connections of a process',
    share: 'three quarters for a workspace',
    beyond: 'waits 10 s, then 503',
    by: ['db/shared-pool.ts', 'DB_POOL_MAX'],
  },
  {
    what: 'of these, for searches, counts and reports',
    share: 'an eighth for a workspace, 5 s for each statement',
    beyond: '503 with `Retry-After`',
    by: ['domain/platform/kernel/question.ts', 'DB_STATEMENT_TIMEOUT_MS', 'DB_LOCK_TIMEOUT_MS'],
  },
  {
    what: 'work of a search by conditions and segments',
    share: '20 million comparisons with a pattern; 50 million to add the contacts of segments',
    beyond: '400 before it runs',
    by: ['domain/directory/segments/bound.ts'],
  },
  {
    what: 'memory for the conditions of segments',
    share: '100,000 characters for a segment',
    beyond: '400',
    by: ['domain/directory/segments/compile.ts'],
  },
  {
    what: 'requests under way in an API process',
    share: '128 for a credential; writes that stop something are not counted',
    beyond: '429 with `Retry-After`',
    by: ['api/http/app.ts'],
  },
  {
    what: 'requests of a minute',
    share: 'the rate of the key or session; one window for writes of people, one for those of programs',
    beyond: '429 with `Retry-After`',
    by: ['SESSION_REQUESTS_PER_MINUTE', 'ORG_WRITES_PER_MINUTE'],
  },
  {
    what: 'positions of events',
    share: 'an equal part of each iteration, in deliveries, for each workspace with events',
    beyond: 'waits for the next iteration',
    by: ['workers/fanout.ts'],
  },
  {
    what: 'intents of the relay',
    share: 'an equal part of each batch for each workspace with intents, 8 dispatches at once; 0.1 s for a batch',
    beyond: 'waits for the next batch',
    by: ['temporal/relay.ts'],
  },
  {
    what: 'events of a minute',
    share: 'a rate for an endpoint, and for an event type of a workspace',
    beyond: 'dropped and counted',
    by: ['WEBHOOK_ENDPOINT_PER_MINUTE', 'WEBHOOK_EVENT_TYPE_PER_MINUTE'],
  },
  {
    what: 'batches of webhook deliveries',
    share: 'one of its own, from 100 deliveries in an iteration',
    beyond: 'waits as rows in that batch',
    by: ['domain/connect/delivery/fan-out.ts'],
  },
  {
    what: 'requests of a worker to webhook endpoints',
    share: 'a number for an endpoint; one at a time from 5 failures on',
    beyond: 'waits in a batch of the endpoint, or as a row',
    by: ['WEBHOOK_ENDPOINT_CONCURRENCY', 'WEBHOOK_MAX_ATTEMPTS', 'WORKER_WEBHOOKS_SLOTS'],
  },
  {
    what: 'work of a task queue',
    share: 'rotation by workspace, in two priorities',
    beyond: 'waits in Temporal',
    by: ['WORKER_BATCH_SLOTS', 'WORKER_INTERACTIVE_SLOTS', 'WORKER_CACHED_WORKFLOWS'],
  },
  {
    what: 'SMTP sessions, and calls to apps and providers, of a worker',
    share: 'a quarter for a workspace; a number for a mail host and an app connection',
    beyond: 'repeated after a delay, without a slot',
    by: [
      'workers/activities.ts',
      'WORKER_MAIL_SLOTS',
      'SMTP_HOST_SESSIONS',
      'WORKER_APPS_SLOTS',
      'APP_CONNECTION_CONCURRENCY',
      'WORKER_INTEGRATIONS_SLOTS',
    ],
  },
  {
    what: 'IMAP connections of a process',
    share: 'a number for a mail host, a quarter of the dials and reads for a workspace',
    beyond: 'waits its turn',
    by: ['workers/sync.ts', 'IMAP_MAX_MAILBOXES'],
  },
  {
    what: 'attempts of a delivery to a provider',
    share: 'a number for a delivery; one at a time to a provider that does not answer',
    beyond: 'a dead letter',
    by: ['INTEGRATION_MAX_ATTEMPTS'],
  },
  {
    what: 'tokens of the AI provider in a day',
    share: 'a number for a workspace',
    beyond: 'refused',
    by: ['AI_TOKENS_PER_DAY'],
  },
  {
    what: 'first emails under way',
    share: 'a number for a campaign',
    beyond: 'its leads wait as rows',
    by: ['LAUNCH_MAX_IN_FLIGHT'],
  },
  {
    what: 'servers that addresses are verified with',
    share: 'a number for a mail exchanger',
    beyond: 'waits',
    by: ['domain/audience/verification/by-probe.ts', 'EMAIL_VERIFICATIONS_PER_MINUTE'],
  },
  {
    what: 'messages whose images a process fetches at once',
    share: '2 of 8 for a workspace',
    beyond: 'waits',
    by: ['domain/inbox/threads/images.ts'],
  },
  {
    what: 'sockets of a realtime process',
    share: 'a number for a workspace, a credential, and a source that has not signed in',
    beyond: 'refused',
    by: ['REALTIME_MAX_CONNECTIONS', 'REALTIME_ORG_CONNECTIONS', 'REALTIME_KEY_CONNECTIONS', 'REALTIME_SOURCE_PENDING'],
  },
  {
    what: 'imports',
    share: 'open imports and their size for a workspace; rows and size of a file',
    beyond: 'refused',
    by: ['ORG_IMPORTS', 'ORG_IMPORT_BYTES', 'IMPORT_MAX_BYTES', 'IMPORT_MAX_ROWS'],
  },
  {
    what: 'stored files',
    share: 'a size for a workspace, another one for files of received messages',
    beyond: 'refused; a received file is not kept',
    by: ['ORG_STORED_BYTES', 'ORG_RECEIVED_BYTES'],
  },
  {
    what: 'new campaigns and test runs of a day, webhook endpoints',
    share: 'a number for a workspace or a credential',
    beyond: 'refused',
    by: ['ORG_CAMPAIGNS_PER_DAY', 'CREDENTIAL_TESTS_PER_DAY', 'ORG_WEBHOOK_ENDPOINTS'],
  },
  {
    what: 'client registrations of an hour',
    share: 'a number for a source address',
    beyond: '429',
    by: ['OAUTH_REGISTRATIONS_PER_HOUR'],
  },
  {
    what: 'approval mails of an hour',
    share: 'a number for a person in a workspace',
    beyond: 'not mailed, shown in the dashboard',
    by: ['APPROVAL_MAILS_PER_HOUR'],
  },
];

/** Returns the text of docs/reference/limits.md: limits with their defaults and settings. */
export function limitsPage(): string {
  const config = loadConfig({});
  const sections = Object.entries(LIMITS).map(([title, limits]) => {
    const items = limits.map(({ what, by }) =>
      wrap(typeof by === 'object' ? `${what}: ${by.fixed}` : `${what}: ${shown(by, config[by])} (\`${by}\`)`, '- '),
    );
    return `## ${title}\n\n${items.join('\n')}\n`;
  });
  return `${HEAD}\n${sections.join('\n')}\n${sharedTable()}`;
}

function sharedTable(): string {
  const cell = (name: string) => `\`${name}\``;
  const rows = SHARED.map(
    ({ what, share, beyond, by }) => `| ${what} | ${share} | ${beyond} | ${by.map(cell).join(', ')} |`,
  );
  return `## What workspaces share

A workspace at all of its limits does not keep another one waiting.

| shared | share | beyond it | by |
|---|---|---|---|
${rows.join('\n')}
`;
}

function shown(name: SettingName, value: unknown): string {
  const number = Number(value);
  if (name.endsWith('_BYTES')) return `${number / 1024 / 1024} MiB`;
  if (name.endsWith('_MS')) return `${number / 1000} s`;
  return number.toLocaleString('en');
}
