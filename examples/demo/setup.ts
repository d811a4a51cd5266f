import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { SUPPRESSED_BEFOREHAND } from '../leads.ts';
import type { DemoApp } from './app.ts';
import { allOf, createHeron, dataOf, executedOf, type Heron } from '../../client/src/index.ts';
import { campaignBody } from './campaign.ts';
import { cast, type Person } from './people.ts';
import type { Size } from './size.ts';
import type { World } from './world.ts';

const LEADS_FILE = new URL('../leads.csv', import.meta.url);
/** Maximum daily limit of a mailbox. */
const EMAILS_A_DAY = 100;
/** Number of recipients and mailboxes of the second chapter. */
const READERS = 12;
const TROUBLE_MAILBOXES = 3;
/** Requests per minute of the demo's key, which needs more than the default of 60. */
const REQUESTS_PER_MINUTE = 6_000;

/** Import job, as returned by GET /v1/contacts/imports/:id. */
export interface ImportJob {
  id: string;
  status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
  progress: number;
  total: number;
  imported: number;
  updated: number;
  skipped: number;
  failed: number;
  error: string | null;
}

/** Fields of a contact that the demo needs. */
export interface Contact {
  id: string;
  email: string;
}

/** Objects that are prepared before the campaign starts. */
export interface Prepared {
  api: Heron;
  apiKey: string;
  campaignId: string;
  job: ImportJob;
  /** Leads of the campaign, by address. */
  people: Map<string, Person>;
  /** Contacts for the second chapter. They are not in the campaign. */
  readers: Contact[];
  /** Ids of the mailboxes that email the contacts of the second chapter. */
  troubleMailboxIds: string[];
}

interface SetupOptions {
  apiUrl: string;
  sessionToken: string;
  world: World;
  app: DemoApp;
  size: Size;
  say: (line: string) => void;
}

/** Prepares the campaign, using only the REST API. */
export async function prepare({ apiUrl, sessionToken, world, app, size, say }: SetupOptions): Promise<Prepared> {
  const person = createHeron({ baseUrl: apiUrl, key: sessionToken });
  const { id: apiKeyId, secret: apiKey } = await createKey(person);
  const api = createHeron({ baseUrl: apiUrl, key: apiKey });
  const [mailboxIds, appConnectionId, { job, contacts }] = await Promise.all([
    connectMailboxes(api, world, say),
    connectApp(api, app, say),
    suppressSome(api, say).then(() => importLeads(api, say)),
  ]);
  await createPolicy(person, apiKeyId, mailboxIds);
  const readers = contacts.slice(0, READERS);
  const people = cast(
    contacts.slice(READERS).map(({ email }) => email),
    size,
  );
  const campaignId = await createCampaign(
    api,
    {
      appConnectionId,
      mailboxIds: mailboxIds.slice(size.ownOfTrouble),
      contactIds: contacts.filter(({ email }) => people.has(email)).map(({ id }) => id),
      waitMinutes: size.waitMinutes,
    },
    say,
  );
  return { api, apiKey, campaignId, job, people, readers, troubleMailboxIds: mailboxIds.slice(0, TROUBLE_MAILBOXES) };
}

async function createKey(api: Heron): Promise<{ id: string; secret: string }> {
  const { permissions } = await dataOf(api.GET('/v1/api-keys/permissions'));
  // The demo's key has every permission. The key of a real shop would only have WRITE_EVENTS.
  const everything = permissions.reduce((mask, { value }) => mask + value, 0);
  const body = { name: 'Demo', permissions: everything, rate_limit_per_minute: REQUESTS_PER_MINUTE };
  return dataOf(api.POST('/v1/api-keys', { body }));
}

/** Allows the key to start campaigns today with these mailboxes, without a person's approval. */
async function createPolicy(person: Heron, apiKeyId: string, mailboxIds: string[]): Promise<void> {
  await dataOf(
    person.POST('/v1/agent-policies', {
      body: {
        api_key_id: apiKeyId,
        name: 'Demo',
        capabilities: ['campaign.launch'],
        mailbox_ids: mailboxIds,
        max_recipients_per_run: 1000,
        max_recipients_per_day: 1000,
        max_actions_per_day: 10,
        expires_at: new Date(Date.now() + 86_400_000).toISOString(),
      },
    }),
  );
}

async function connectMailboxes(api: Heron, world: World, say: SetupOptions['say']): Promise<string[]> {
  const ids = await Promise.all(
    world.mailboxes.map(async ({ email, password, smtp, imap }) => {
      const service = { username: email, password, security: 'none' as const };
      // The API answers only after a worker has signed in to both servers.
      const { id } = await dataOf(
        api.POST('/v1/emails', {
          body: {
            provider: 'smtp_imap',
            email,
            name: nameOf(email),
            smtp: { ...smtp, ...service },
            imap: { ...imap, ...service },
            campaign_limit: EMAILS_A_DAY,
            min_wait_time: 0,
          },
        }),
      );
      return id;
    }),
  );
  say(`${ids.length} mailboxes connected, each signed in to by SMTP and IMAP`);
  return ids;
}

function nameOf(email: string): string {
  return `${email[0]!.toUpperCase()}${email.slice(1, email.indexOf('@'))} of Northlight`;
}

async function connectApp(api: Heron, app: DemoApp, say: SetupOptions['say']): Promise<string> {
  const { connection, secret } = await dataOf(
    api.POST('/v1/app-connections', { body: { name: 'Northlight shop', base_url: app.url } }),
  );
  app.useSecret(secret);
  const test = await dataOf(api.POST('/v1/app-connections/{id}/test', { params: { path: { id: connection.id } } }));
  if (!test.authentication) throw new Error(`the app did not take the signed ping: ${test.error?.message}`);
  say(`app ${app.url} connected, it believes the signature of a ping`);
  return connection.id;
}

async function suppressSome(api: Heron, say: SetupOptions['say']): Promise<void> {
  const values = [SUPPRESSED_BEFOREHAND.domain, ...SUPPRESSED_BEFOREHAND.addresses];
  const entries = values.map((value) => ({ value }));
  const { added } = await executedOf(
    api.POST('/v1/suppressions', { body: { entries, reason: 'asked us not to write' } }),
  );
  say(`${added} entries suppressed: a domain and ${added - 1} addresses`);
}

async function importLeads(api: Heron, say: SetupOptions['say']): Promise<{ job: ImportJob; contacts: Contact[] }> {
  const form = new FormData();
  form.append('file', new Blob([await readFile(LEADS_FILE)], { type: 'text/csv' }), 'leads.csv');
  // The generated types describe the parts of a form as JSON. So `body` is empty, and the serializer returns the form
  // with the file.
  let job: ImportJob = await dataOf(api.POST('/v1/contacts/import', { body: {} as never, bodySerializer: () => form }));
  while (job.status === 'queued' || job.status === 'running') {
    await sleep(200);
    job = await dataOf(api.GET('/v1/contacts/imports/{id}', { params: { path: { id: job.id } } }));
  }
  if (job.status !== 'completed') throw new Error(`the import ${job.status}: ${job.error}`);
  say(`leads.csv: ${job.total} rows, ${job.imported} contacts`);
  const path = { id: job.id };
  const problems = await allOf((cursor) =>
    api.GET('/v1/contacts/imports/{id}/problems', { params: { path, query: { limit: 200, cursor } } }),
  );
  const reasons = [...new Set(problems.map(({ reason }) => reason))];
  say(
    `problems among them: ${reasons.map((reason) => `${problems.filter((problem) => problem.reason === reason).length} ${reason}`).join(', ')}`,
  );
  const contacts = await allOf((cursor) => api.GET('/v1/contacts', { params: { query: { limit: 100, cursor } } }));
  const mailable = contacts.filter(({ subscribed }) => subscribed);
  return { job, contacts: mailable.toSorted((one, other) => (one.email < other.email ? -1 : 1)) };
}

interface Parts {
  appConnectionId: string;
  mailboxIds: string[];
  contactIds: string[];
  waitMinutes: number;
}

async function createCampaign(
  api: Heron,
  { appConnectionId, mailboxIds, contactIds, waitMinutes }: Parts,
  say: SetupOptions['say'],
): Promise<string> {
  const { id, warnings = [] } = await dataOf(
    api.POST('/v1/campaigns', { body: campaignBody(appConnectionId, waitMinutes) }),
  );
  if (warnings.length > 0)
    throw new Error(`the emails have faults: ${warnings.map(({ message }) => message).join('; ')}`);
  const here = { params: { path: { id } } };
  const senders = mailboxIds.map((mailbox) => ({ email_account_id: mailbox }));
  await dataOf(api.PUT('/v1/campaigns/{id}/senders', { ...here, body: { senders } }));
  const { added } = await executedOf(
    api.POST('/v1/campaigns/{id}/leads', { ...here, body: { contact_ids: contactIds } }),
  );
  say(`campaign created: 6 steps, ${added} leads, ${mailboxIds.length} senders`);
  return id;
}
