import { ERROR_CODES, type ErrorCode } from '../../lib/errors.ts';
import { permissionText } from './authorize.ts';
import { idempotencyOf, type AnyRoute } from './route.ts';

/** Introduction of the API reference, shown before its first endpoint. */
export const INTRODUCTION = `Multi-tenant cold-email outreach: connect mailboxes, import contacts, write a campaign as a graph of steps, and start it. Heron picks the
mailbox and the minute for every email and stops when a lead answers, bounces or opts out.

**Who calls.** \`Authorization: Bearer …\` with an API key (\`ssk_…\`), an OAuth access token (\`ssat_…\`) or the access token of a signed-in person. A
key and a token belong to one workspace and have scopes. A person's rights depend on their role in the selected workspace.

**Errors** share one envelope: branch on \`code\`, show \`message\` and \`fix\`, and include \`request_id\` in support requests. \`problems\` of a bad request
lists all its faults. An unknown id, a malformed one and one of another workspace give the same \`not_found\`.

**Lists** are paged: send \`pagination.next_cursor\` of an answer as \`cursor\` of the next request, with the same filters, until it is null. \`limit\` is
the maximum number of rows of a page. Send both in the query, or in the body for searches of the lead database and the prospect catalogue. An answer without
\`pagination\` is the whole list, unless the description limits it.

**Requests** carry JSON with \`Content-Type: application/json\` unless an endpoint says otherwise. Send each query parameter once; separate several ids
by commas. An unknown query parameter is refused. Times are RFC 3339, in answers always UTC; in a query, write the \`+\` of an offset as \`%2B\`. Ids are UUIDs, in either case.

**Writes** take an \`Idempotency-Key\`: the same key with the same request repeats the first answer for 24 hours and does nothing twice.
Changes of records that several people edit accept \`expected_updated_at\`, the \`updated_at\` that you have read. If the record has changed since, the
answer is 409 with the current value, and nothing is changed. Without it the last write wins.

**Agents** find the same operations as tools at \`POST /mcp\`, which speaks the Model Context Protocol (\`docs/tutorials/first-agent.md\`).

**Limits** answer 429 with \`Retry-After\`, in seconds: requests per minute of a key, writes per minute of a workspace. Every answer tells what is left
of them in \`RateLimit\` and \`RateLimit-Policy\` (draft-ietf-httpapi-ratelimit-headers). Writes that stop something are not limited.

Every example was recorded from a real request. \`docs/tutorials/first-campaign.md\` goes from an empty installation to a reply.`;

interface Tag {
  /** Area of the routes. */
  name: string;
  title: string;
  description: string;
}

/** Areas grouped by task, in the order in which a new user needs them. */
const TASKS: readonly { name: string; tags: readonly Tag[] }[] = [
  {
    name: 'Begin',
    tags: [
      {
        name: 'auth',
        title: 'Accounts and sign-in',
        description:
          'Setup of a new installation, sign-up, sign-in, sign-out, passwords, sessions. For people; programs use API keys.',
      },
      {
        name: 'organizations',
        title: 'Workspaces, members, roles',
        description:
          'A workspace owns everything else: contacts, mailboxes, campaigns, keys. People belong to workspaces with a role, and are invited by email.',
      },
      {
        name: 'workspace-exports',
        title: 'Exports of the workspace',
        description: 'One file with the data of the workspace, written in the background and kept for seven days.',
      },
      {
        name: 'api-keys',
        title: 'API keys',
        description:
          'Credentials of programs. A key has scopes, and may be restricted to mailboxes, source addresses and a request rate. Its secret is shown once.',
      },
      {
        name: 'system',
        title: 'Health',
        description: 'Liveness of this process, and the state of the parts that it depends on.',
      },
      {
        name: 'instance',
        title: 'Installation',
        description: 'Findings, settings, limits and version of the installation, for its administrators.',
      },
    ],
  },
  {
    name: 'Send',
    tags: [
      {
        name: 'mailboxes',
        title: 'Mailboxes',
        description:
          'Accounts that send emails and receive replies. Connecting one first signs in to its SMTP and IMAP servers. Each has a daily cap and a minimum gap.',
      },
      {
        name: 'mailbox-orders',
        title: 'Mailbox orders',
        description:
          'Mailboxes and domains rented from a provider: quotes, orders, payments, setup and cancellation. They answer 503 if the installation has no provider.',
      },
      {
        name: 'domain-renewals',
        title: 'Domain renewals',
        description: 'Yearly renewals of rented domains, each with its price, payment and deadline.',
      },
      {
        name: 'payments',
        title: 'Payments',
        description:
          'Webhook that the payment provider calls when a payment for an order or a domain renewal succeeds, fails or is refunded.',
      },
      {
        name: 'warmup',
        title: 'Warmup',
        description:
          'Warmed mailboxes exchange emails with each other, a few more each day. Routing rules prefer, avoid or exclude pairs of mailboxes.',
      },
      {
        name: 'campaigns',
        title: 'Campaigns',
        description:
          'A campaign is a graph of steps (emails, waits, calls to your app, branches) with leads, senders and a schedule. Create it as a draft, then check, start and pause it here.',
      },
      {
        name: 'runs',
        title: 'Agent runs',
        description:
          'A run is one request of an agent: a campaign with senders, audience and schedule is built, checked and launched if a policy or a person allows it. Every state change is an event of the run.',
      },
      {
        name: 'test-runs',
        title: 'Test runs',
        description:
          'A campaign tried with one prospect: real emails and calls of your app, and no change of its leads.',
      },
      {
        name: 'step-runs',
        title: 'Calls to your app',
        description: 'Calls of app_action steps that failed after all attempts, and their retries.',
      },
      {
        name: 'outreach-settings',
        title: 'Outreach settings',
        description: 'Default rules of all campaigns: footers, opt-outs, bounces, retries, languages.',
      },
      {
        name: 'app-connections',
        title: 'App connections',
        description:
          'Use your own application as a campaign step: Heron calls it with a signed request, and the answer is available in the next email.',
      },
    ],
  },
  {
    name: 'People',
    tags: [
      {
        name: 'contacts',
        title: 'Contacts',
        description: 'People you email, one per address and workspace.',
      },
      {
        name: 'imports',
        title: 'Imports of contacts',
        description:
          'Files of contacts are previewed, then imported in the background. Every skipped row is reported with its reason.',
      },
      {
        name: 'segments',
        title: 'Segments',
        description: 'Saved conditions over contacts, evaluated each time they are used.',
      },
      {
        name: 'lead-database',
        title: 'Lead database',
        description: 'All contacts of the workspace by job, company and outreach progress: search, count and export.',
      },
      {
        name: 'prospect-catalogue',
        title: 'Prospect catalogue',
        description:
          'People and companies that are not contacts yet, in a separate database filled by the operator. Search them and import them as contacts.',
      },
      {
        name: 'labels',
        title: 'Folders, tags, categories',
        description: 'Folders organize campaigns, tags group sending mailboxes, categories group contacts.',
      },
      {
        name: 'integrations',
        title: 'Integrations',
        description:
          'Connect accounts of CRMs, chats, automation tools, calendars and sheets, choose their actions for events, and write contacts to them.',
      },
      {
        name: 'meetings',
        title: 'Meetings',
        description:
          'Meetings booked at connected scheduling providers or logged by hand. A booked meeting ends the sequence of its contact.',
      },
      {
        name: 'crm',
        title: 'Deals and tasks',
        description:
          'Pipelines with stages, the deals in them, and tasks about contacts and deals. A reply to a campaign creates a task automatically.',
      },
      {
        name: 'teams',
        title: 'Teams',
        description: 'Groups of workspace members, to which tasks can be assigned.',
      },
      {
        name: 'suppressions',
        title: 'Suppressions',
        description:
          'Addresses and domains that must not be emailed. Hard bounces, complaints and opt-outs are added automatically; entries can be added and removed by hand.',
      },
    ],
  },
  {
    name: 'See what happens',
    tags: [
      {
        name: 'threads',
        title: 'Inbox',
        description: 'Replies of all mailboxes as conversations, each message with its kind and intent.',
      },
      {
        name: 'reply-templates',
        title: 'Reply templates',
        description: 'Ordered reply templates with placeholders, and reviews of copy by an AI provider.',
      },
      {
        name: 'direct-sends',
        title: 'Single emails and replies',
        description:
          'Emails written by a person or an agent: a new one or a reply, sent at once or at a set time. Emails of a key or application need a policy or wait for a person.',
      },
      {
        name: 'product-events',
        title: 'Product events',
        description: 'Report what people do in your product. Contacts who wait for such an event continue with it.',
      },
      {
        name: 'people',
        title: 'People',
        description:
          'People of product events. A person is identified by emails, user ids and anonymous ids, with or without a contact. Deleting a contact also deletes its person. An event of one person that names an identifier of another is an identity conflict: you decide whether the two are the same.',
      },
      {
        name: 'webhooks',
        title: 'Webhooks',
        description:
          'Heron posts signed events to your endpoints and to those of an OAuth application, and retries for hours if one is unreachable. All events and their bodies are listed below.',
      },
      {
        name: 'dead-letters',
        title: 'Dead letters',
        description:
          'Emails, calls, deliveries and runs that kept failing, each with its reason. Replay one, once, after fixing the cause.',
      },
      {
        name: 'deliverability',
        title: 'Deliverability',
        description:
          "Bounces, complaints, opens and replies observed by another system. Reports have the same effect as Heron's own observations.",
      },
      {
        name: 'audit',
        title: 'Audit log',
        description:
          'Records who changed what, from where and when. Secrets never appear, only the fact that they changed.',
      },
      {
        name: 'automations',
        title: 'Automations',
        description:
          'Flows with a trigger, conditions on its data, and actions such as a tag, a task, a deal, a chat message, a call of your app, or a wait. Each event starts one run of an automation, which records the result of every node.',
      },
      {
        name: 'goals',
        title: 'Goals',
        description:
          'Product events that count as reaching a stage: signup, activation, paid, revenue, retention, or a custom one. A matching event becomes a conversion of its person, with its value if it has one. A replay matches past events against a definition that was created or changed later.',
      },
      {
        name: 'analytics',
        title: 'Analytics',
        description: 'Outcomes of emails by campaign, step, mailbox, day and hour; state of mailboxes; usage.',
      },
      {
        name: 'acquisition',
        title: 'Acquisition',
        description:
          'Results of confirmed sends: replies, signups, activations, payments and revenue, by campaign, copy and audience. Attribution explains which email a customer is credited to.',
      },
    ],
  },
  {
    name: 'Apps and agents',
    tags: [
      {
        name: 'oauth',
        title: 'OAuth',
        description:
          'Applications that act for people of a workspace: registration, the authorization code flow with PKCE, and tokens.',
      },
      {
        name: 'agent-policies',
        title: 'Agent policies',
        description:
          'Limits for API keys and applications that act without a person: which actions, from which mailboxes, to how many people, until when. Everything else waits for an approval.',
      },
      {
        name: 'lead-allowances',
        title: 'Lead allowances',
        description: 'Leads that a person lets a key or application add to one campaign each day, beyond its policy.',
      },
      {
        name: 'approvals',
        title: 'Approvals',
        description:
          'Actions that agents request and people decide on. The content is frozen as it will be sent; each is decided once, before its `expires_at`.',
      },
      {
        name: 'agent-tools',
        title: 'Agent tools',
        description:
          'Operations for agents, as tools with schemas. Each tool is an endpoint under another name, with the same rules.',
      },
    ],
  },
];

/**
 * Returns the tags and tag groups for a document with these areas. An area without an entry is placed last, and a test
 * suite then fails.
 */
export function tagsFor(areas: ReadonlySet<string>): { tags: object[]; 'x-tagGroups': object[] } {
  const known = TASKS.flatMap(({ tags }) => tags);
  const wordless = [...areas].filter((area) => !known.some(({ name }) => name === area));
  const groups = TASKS.map(({ name, tags }) => ({
    name,
    tags: tags.filter((tag) => areas.has(tag.name)).map((tag) => tag.name),
  }));
  return {
    tags: [
      ...known
        .filter(({ name }) => areas.has(name))
        .map(({ name, title, description }) => ({ name, 'x-displayName': title, description })),
      ...wordless.map((name) => ({ name })),
    ],
    'x-tagGroups': [...groups, { name: 'More', tags: wordless }].filter(({ tags }) => tags.length > 0),
  };
}

/** Describes in sentences what an operation does and who may call it. */
export function describe(spec: AnyRoute): string {
  return [spec.description, callers(spec), repeats(spec), ownErrors(spec)].filter(Boolean).join('\n\n');
}

function callers(spec: AnyRoute): string {
  const { scope, permission, platformAdmin, everyMailbox } = spec;
  if (scope === 'public') return 'Needs no credential.';
  const person =
    permission === null
      ? 'any signed-in person'
      : permissionText(permission) === 'owner'
        ? "the workspace's owner"
        : `a person whose role has ${permissionText(permission)
            .split(/([a-z_]+)/)
            .map((part) => (/^[a-z_]+_[a-z_]+$/.test(part) ? `\`${part}\`` : part))
            .join('')}`;
  if (platformAdmin) return `For administrators of the installation, not for keys: ${person}.`;
  if (scope === 'session') return `For people only, not for keys: ${person}.`;
  if (scope === 'any') return `For ${person}, and every key and token, with any scopes.`;
  const whole = everyMailbox ? ' Not for keys that are restricted to mailboxes.' : '';
  return `For a key or token with ${(scope as readonly string[]).map((name) => `\`${name}\``).join(' and ')}, or ${person}.${whole}`;
}

function repeats(spec: AnyRoute): string | undefined {
  return idempotencyOf(spec) === 'required'
    ? 'An Idempotency-Key is required, because a repeated request would otherwise act again.'
    : undefined;
}

/**
 * Lists the route's error codes that name a specific cause. Codes that stand for a whole status are described at the
 * answer of that status.
 */
function ownErrors({ errors = [] }: AnyRoute): string | undefined {
  const own = errors.filter((code) => !GENERAL.has(code)).map((code) => `\`${code}\` (${ERROR_CODES[code]})`);
  return own.length > 0 ? `Specific error codes: ${own.join(', ')}.` : undefined;
}

const GENERAL: ReadonlySet<ErrorCode> = new Set([
  'bad_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'conflict',
  'unprocessable',
  'rate_limit_exceeded',
  'internal_error',
  'not_implemented',
  'service_unavailable',
]);
