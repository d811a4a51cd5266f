import { ERROR_CODES, type ErrorCode } from '../../lib/errors.ts';
import { permissionText } from './authorize.ts';
import { idempotencyOf, type AnyRoute } from './route.ts';

/** What the reference says before its first endpoint. */
export const INTRODUCTION = `Multi-tenant cold-email outreach: connect mailboxes, bring contacts, write a campaign as a graph of steps, and start it. Heron picks the
mailbox and the minute for every email and stops when a lead answers, bounces or opts out.

**Who calls.** \`Authorization: Bearer …\` with an API key (\`ssk_…\`), an OAuth access token (\`ssat_…\`) or the access token of a signed-in person. A
key and a token belong to one workspace and have scopes; what a person may do follows from their role in the workspace they have selected.

**Errors** share one envelope: branch on \`code\`, show \`message\` and \`fix\`, and quote \`request_id\` when you ask for help. A bad request lists every
fault it has in \`problems\`. An id that is unknown, malformed or another workspace's is the same \`not_found\`.

**Lists** are paged: send \`pagination.next_cursor\` of an answer as \`cursor\` of the next request, with the same filters, until it is null. \`limit\` is
how many rows a page may have. Both stand in the query, but in the body of searches of the lead database and the prospect catalogue. An answer without \`pagination\` is
the whole list, or as much of it as the description says.

**Requests** carry JSON with \`Content-Type: application/json\` unless an endpoint says otherwise. A parameter of a query is given once; several ids in one are
separated by commas. Times are RFC 3339, and those of answers UTC; in a query the \`+\` of an offset is written \`%2B\`. Ids are UUIDs, in capitals or not.

**Writes** take an \`Idempotency-Key\`: the same key with the same request repeats the first answer for 24 hours and does nothing twice.
A change of something that several people edit takes \`expected_updated_at\`, the \`updated_at\` you have read: when somebody else has changed it since, the
answer is 409 with the present one, and nothing is changed. Without it the last one to write wins.

**Agents** find the same operations as tools at \`POST /mcp\`, which speaks the Model Context Protocol (\`docs/tutorials/first-agent.md\`).

**Limits** answer 429 with \`Retry-After\`, in seconds: requests per minute of a key, writes per minute of a workspace.

Every example here was recorded from a request that really was made. \`docs/tutorials/first-campaign.md\` goes from an empty installation to a reply.`;

interface Tag {
  /** The area of the routes. */
  name: string;
  title: string;
  description: string;
}

/** Areas by what one wants to do, in the order in which one meets it. */
const TASKS: readonly { name: string; tags: readonly Tag[] }[] = [
  {
    name: 'Begin',
    tags: [
      {
        name: 'auth',
        title: 'Accounts and sign-in',
        description:
          'Claiming a fresh installation, signing up, in and out, passwords, sessions. People use these; programs use API keys.',
      },
      {
        name: 'organizations',
        title: 'Workspaces, members, roles',
        description:
          'A workspace owns everything else: contacts, mailboxes, campaigns, keys. People belong to workspaces with a role, and are invited by mail.',
      },
      {
        name: 'api-keys',
        title: 'API keys',
        description:
          'Credentials of programs. A key has scopes, and may be restricted to mailboxes, source addresses and a request rate; its secret is shown once.',
      },
      {
        name: 'operations',
        title: 'Health',
        description: 'Liveness of this process, and the state of everything that it depends on.',
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
          'The accounts that emails leave from and replies arrive in. Connecting one signs in to its SMTP and IMAP servers first. Each has a daily cap and a minimum gap.',
      },
      {
        name: 'managed-mailboxes',
        title: 'Orders of mailboxes',
        description:
          'Mailboxes and domains that are rented from a provider: a quote, an order, its payment, every step until they are ready, and their cancellation. Where the installation has no provider, these answer 503.',
      },
      {
        name: 'payments',
        title: 'Payments',
        description:
          'What the payment provider calls when an order of managed mailboxes or the renewal of a domain was paid, was not, or was given back.',
      },
      {
        name: 'warmup-routing',
        title: 'Warmup routing',
        description:
          'Mailboxes that are warmed exchange emails with each other. These rules say which pairs are preferred, avoided or excluded.',
      },
      {
        name: 'campaigns',
        title: 'Campaigns',
        description:
          'A campaign is a graph of steps (emails, waits, calls to your app, branches), leads, senders and a schedule. It is written as a draft, checked, started and stopped here.',
      },
      {
        name: 'runs',
        title: 'Runs of agents',
        description:
          'What an agent asks for as one request: a campaign with senders, audience and schedule, built, checked and, where a policy or a person allows it, launched. Every step of the way is an event of the run.',
      },
      {
        name: 'campaign-checks',
        title: 'Calls to your app',
        description:
          'What app_action steps have called, what was answered, and another attempt for one that has failed.',
      },
      {
        name: 'outreach-settings',
        title: 'Sending rules of the workspace',
        description:
          'What holds for every campaign that does not say otherwise: footers, opt-outs, bounces, retries, languages.',
      },
      {
        name: 'app-connections',
        title: 'App connections',
        description:
          'Your own application as a step of a campaign: Heron calls it with a signed request, and the answer is there for the next email.',
      },
    ],
  },
  {
    name: 'People',
    tags: [
      {
        name: 'contacts',
        title: 'Contacts and imports',
        description:
          'The people you write to, one per address and workspace. Lists come in as CSV in the background; every row that was left out is reported with its reason.',
      },
      {
        name: 'segments',
        title: 'Segments',
        description: 'Saved conditions over contacts, evaluated when they are used.',
      },
      {
        name: 'lead-database',
        title: 'Lead database',
        description:
          'Everybody the workspace knows, by job, company and how far outreach has come: searched, counted, and exported.',
      },
      {
        name: 'prospect-catalogue',
        title: 'Prospect catalogue',
        description:
          'People and companies that are no contacts yet, in a database of their own that the operator fills: searched by whoever looks for an audience, and made contacts.',
      },
      {
        name: 'labels',
        title: 'Folders, tags, categories',
        description: 'Folders order campaigns, tags name mailboxes that send together, categories sort contacts.',
      },
      {
        name: 'integrations',
        title: 'Integrations',
        description:
          'Accounts at CRMs, chats, automation tools, calendars and sheets: connect them, say what is done there when something happens, write contacts to them.',
      },
      {
        name: 'meetings',
        title: 'Meetings',
        description:
          'What people booked at connected scheduling providers, and what was logged by hand. A booked meeting ends the sequence of its contact.',
      },
      {
        name: 'crm',
        title: 'Deals and tasks',
        description:
          'Pipelines with stages, the deals that move through them, and tasks about contacts and deals. A reply to a campaign opens a task by itself.',
      },
      {
        name: 'teams',
        title: 'Teams',
        description: 'Members of the workspace who work together: a task can be theirs.',
      },
      {
        name: 'suppressions',
        title: 'Suppressions',
        description:
          'Addresses and domains that must not be mailed. Hard bounces, complaints and opt-outs are added by themselves; entries can be added and removed by hand.',
      },
    ],
  },
  {
    name: 'See what happens',
    tags: [
      {
        name: 'unibox',
        title: 'Inbox',
        description: 'Replies of all mailboxes as conversations, each message with its kind and intent.',
      },
      {
        name: 'templates',
        title: 'Reply templates',
        description: 'Words for replies with placeholders, in an order; and what an AI provider says of copy.',
      },
      {
        name: 'direct-sends',
        title: 'Single emails and replies',
        description:
          'Emails that a person or an agent writes: a new one, or a reply in a conversation, at once or at a time. What a key or application writes needs a policy, or waits for a person.',
      },
      {
        name: 'events',
        title: 'Events of your product',
        description:
          'Tell Heron what people do in your product. A contact who waits for such an event goes on with it.',
      },
      {
        name: 'people',
        title: 'People',
        description:
          'Who product events are of. A person is known by emails, user ids and anonymous ids, and has a contact or none; deleting a contact erases its person.',
      },
      {
        name: 'identity-conflicts',
        title: 'Identity conflicts',
        description:
          'An event of one person named an identifier that belongs to another. A person decides whether the two are one.',
      },
      {
        name: 'webhooks',
        title: 'Webhooks',
        description:
          'Heron posts what happens to your endpoints, signed, and tries again for hours when one is away. Every event and its body is listed below.',
      },
      {
        name: 'task-dead-letters',
        title: 'Work that was given up',
        description:
          'Emails, calls, deliveries and runs that kept failing, each with its reason. One can be run again, once, when the cause is mended.',
      },
      {
        name: 'deliverability',
        title: 'Deliverability',
        description:
          'Bounces, complaints, opens and replies that another system saw: reported here, they count as if Heron had.',
      },
      {
        name: 'audit',
        title: 'Audit trail',
        description: 'Who changed what, from where and when. Secrets are never in it, only that they changed.',
      },
      {
        name: 'automations',
        title: 'Automations',
        description:
          'Flows that start from what happens: a trigger, conditions on its data, and actions such as a tag, a task, a deal, a message to a chat, a call of your app, or a wait. Each event makes one run of an automation, which says what became of every node.',
      },
      {
        name: 'goals',
        title: 'Goals',
        description:
          'Which product events count as reaching a stage: signup, activation, paid, revenue, retention, or one of your own. An event that matches becomes a conversion of its person, with its value where it has one. A replay holds past events against a definition that was made or changed later.',
      },
      {
        name: 'analytics',
        title: 'Figures',
        description:
          'What became of emails, by campaign, step, mailbox, day and hour; how mailboxes stand; how much of everything there is.',
      },
      {
        name: 'acquisition',
        title: 'Acquisition',
        description:
          'What confirmed sends led to: replies, signups, activations, payments and revenue, by campaign, copy and audience; which email a customer is credited to, and why.',
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
          'Applications that act for people of a workspace: registration, the authorization code flow with PKCE, tokens, and what an application gets as webhooks.',
      },
      {
        name: 'agent-policies',
        title: 'Policies of agents',
        description:
          'What an API key or application may do without a person: which actions, from which mailboxes, to how many people, until when. Everything else waits for an approval.',
      },
      {
        name: 'approvals',
        title: 'Approvals',
        description:
          'What agents want to do and people decide: frozen as it will be sent, decided once, within 30 minutes.',
      },
      {
        name: 'agent-tools',
        title: 'Tools of agents',
        description:
          'The operations an agent may use, as tools with schemas; each is a route under another name and has its rules.',
      },
    ],
  },
];

/** The tags of a document that has these areas, and their groups. An area without words stands at the end; a suite asks for them. */
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

/** What an operation does, and who may call it, in sentences. */
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
  if (scope === 'any') return `For ${person}, and every key and token, whatever its scopes.`;
  const whole = everyMailbox ? ' Not for keys that are restricted to mailboxes.' : '';
  return `For a key or token with ${(scope as readonly string[]).map((name) => `\`${name}\``).join(' and ')}, or ${person}.${whole}`;
}

function repeats(spec: AnyRoute): string | undefined {
  return idempotencyOf(spec) === 'required'
    ? 'An Idempotency-Key is required: without one, a request that is sent again would act again.'
    : undefined;
}

/** Codes of errors that stand for one cause. Those that stand for a whole status are in the answers of that status. */
function ownErrors({ errors = [] }: AnyRoute): string | undefined {
  const own = errors.filter((code) => !GENERAL.has(code)).map((code) => `\`${code}\` (${ERROR_CODES[code]})`);
  return own.length > 0 ? `Error codes of its own: ${own.join(', ')}.` : undefined;
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
