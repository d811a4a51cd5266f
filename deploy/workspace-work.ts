import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eachOf, HeronError, type Schemas } from '../client/src/index.ts';
import type { RunState } from '../domain/campaigns/runs/states.ts';
import { ApiRefusal, createCommandApi, type ApiSettings } from './api-client.ts';
import { tableLines, type Column } from './table-text.ts';
import { OperatorError } from './waiting.ts';

/** Output of a command: the rows or value of the API's answer, and lines for people. */
export interface Shown {
  json: unknown;
  lines: string[];
}

/** Number of rows per request. */
const PAGE = 100;
const POLL_MS = 500;

type Env = ApiSettings;

/** Lists campaigns of the workspace, newest first. */
export async function listCampaigns(
  env: Env,
  { limit, status }: { limit: number; status?: CampaignStatus },
): Promise<Shown> {
  const { heron } = createCommandApi(env, 'a key with READ_CAMPAIGNS');
  return list(
    limit,
    (cursor) => heron.GET('/v1/campaigns', { params: { query: { limit: PAGE, cursor, status } } }),
    [
      ['id', ({ id }) => id],
      ['status', ({ status: is }) => is],
      ['name', ({ name }) => name],
      ['created', ({ created_at: at }) => day(at)],
    ],
    'There is no campaign.',
  );
}

/** Statuses by which campaigns can be filtered. */
export type CampaignStatus = 'draft' | 'active' | 'paused' | 'completed';

/** `heron campaigns show`: describes one campaign. */
export async function showCampaign(env: Env, id: string): Promise<Shown> {
  const { heron, ask } = createCommandApi(env, 'a key with READ_CAMPAIGNS');
  const campaign = await ask(heron.GET('/v1/campaigns/{id}', { params: { path: { id } } }));
  return {
    json: campaign,
    lines: fields([
      ['name', campaign.name],
      ['status', campaign.status],
      ['emails a day', campaign.daily_limit],
      ['time zone', campaign.timezone],
      ['hours', `${campaign.start_time} to ${campaign.end_time}`],
      ['changed', campaign.last_status_change_at],
      ['blocked', campaign.blocked_reason],
    ]),
  };
}

/** Starts a campaign. If the start needs an approval, prints the URL of the approval page. */
export async function startCampaign(env: Env, id: string): Promise<Shown> {
  const { heron, ask } = createCommandApi(env, 'a key with SEND_CAMPAIGNS');
  const answer = await ask(heron.POST('/v1/campaigns/{id}/start', { params: { path: { id } }, body: {} }));
  if ('approval_url' in answer) return waiting(answer);
  return { json: answer, lines: [`The campaign is ${answer.status}.`] };
}

function waiting(answer: Schemas['AwaitingApproval']): Shown {
  const reasons = answer.reasons.map(({ message }) => `  - ${message}`);
  return { json: answer, lines: [`A person decides at ${answer.approval_url}`, ...reasons] };
}

/** Pauses a campaign and prints its new status. */
export async function pauseCampaign(env: Env, id: string): Promise<Shown> {
  const { heron, ask } = createCommandApi(env, 'a key with SEND_CAMPAIGNS');
  const answer = await ask(heron.POST('/v1/campaigns/{id}/stop', { params: { path: { id } } }));
  return { json: answer, lines: [`The campaign is ${answer.status}.`] };
}

/** Lists the leads of a campaign, newest first. */
export async function listLeads(env: Env, id: string, limit: number): Promise<Shown> {
  const { heron } = createCommandApi(env, 'a key with READ_CAMPAIGNS, and READ_CONTACTS for their addresses');
  return list(
    limit,
    (cursor) => heron.GET('/v1/campaigns/{id}/leads', { params: { path: { id }, query: { limit: PAGE, cursor } } }),
    [
      ['contact', ({ contact_id: contact }) => contact],
      ['email', ({ contact }) => contact?.email],
      ['status', ({ status }) => status],
      ['step', ({ current_step: step }) => step],
      ['waits until', ({ waiting_until: until }) => until],
    ],
    'The campaign has no lead.',
  );
}

/**
 * Adds addresses to a campaign as leads, and creates missing contacts. Prints the URL of the approval page if a person
 * must approve them.
 */
export async function addLeads(env: Env, campaignId: string, emails: readonly string[]): Promise<Shown> {
  const { heron, ask } = createCommandApi(env, 'a key with WRITE_CONTACTS and WRITE_CAMPAIGNS');
  const contacts = await ask(
    heron.POST('/v1/contacts', { body: emails.map((email) => ({ email, campaigns: [campaignId] })) }),
  );
  if ('approval_url' in contacts) return waiting(contacts);
  return { json: contacts, lines: contacts.map(({ id, email }) => `${id}  ${email}`) };
}

/**
 * Imports a CSV file as contacts and leads of a campaign, and waits for the end.
 * @param say prints progress
 * @throws OperatorError for an unreadable file or a failed import
 */
export async function importLeads(
  env: Env,
  campaignId: string,
  file: string,
  say: (line: string) => void,
): Promise<Shown> {
  const { heron, ask } = createCommandApi(env, 'a key with BULK_CONTACTS and READ_CONTACTS');
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(`${file} cannot be read: ${error.code ?? 'unknown'}`);
  });
  const form = new FormData();
  form.append('file', new Blob([bytes], { type: 'text/csv' }), basename(file));
  form.append('options', JSON.stringify({ campaign_id: campaignId }));
  // The generated types describe the parts of a form as JSON. So `body` is empty, and the serializer returns the form
  // with the file.
  let job = await ask(heron.POST('/v1/contacts/import', { body: {} as never, bodySerializer: () => form }));
  for (let said = ''; job.status === 'queued' || job.status === 'running';) {
    await sleep(POLL_MS);
    job = await ask(heron.GET('/v1/contacts/imports/{id}', { params: { path: { id: job.id } } }));
    const line = `${Math.round(job.progress * 100)} %, ${job.total} rows`;
    if (line !== said) say(line);
    said = line;
  }
  if (job.status !== 'completed') throw new OperatorError(`the import ${job.status}: ${job.error ?? ''}`);
  return {
    json: job,
    lines: fields([
      ['rows', job.total],
      ['new contacts', job.imported],
      ['updated', job.updated],
      ['left out', job.skipped + job.failed],
      ...(job.failed > 0 ? ([['why', `GET /v1/contacts/imports/${job.id}/problems`]] as const) : []),
    ]),
  };
}

/** Lists mailboxes of the workspace with their holds. */
export async function listMailboxes(env: Env, limit: number): Promise<Shown> {
  const { heron } = createCommandApi(env, 'a key with READ_EMAILS');
  return list(
    limit,
    (cursor) => heron.GET('/v1/emails', { params: { query: { limit: PAGE, cursor } } }),
    [
      ['id', ({ id }) => id],
      ['email', ({ email }) => email],
      ['status', ({ status }) => status],
      ['a day', ({ campaign_limit: daily }) => daily],
      ['held', ({ hold }) => hold?.reason],
      ['until', ({ hold }) => hold?.until],
    ],
    'There is no mailbox: heron mailbox connect makes one.',
  );
}

/** Disables or enables the sending of a mailbox. */
export async function switchMailbox(env: Env, id: string, status: 'active' | 'inactive'): Promise<Shown> {
  const { heron, ask } = createCommandApi(env, 'a key with WRITE_EMAILS');
  const mailbox = await ask(heron.PATCH('/v1/emails/{id}', { params: { path: { id } }, body: { status } }));
  const sends = status === 'active' ? 'sends again' : 'sends nothing until it is released';
  return { json: mailbox, lines: [`${mailbox.email} ${sends}.`] };
}

/** Lists runs of the workspace, newest first. */
export async function listRuns(env: Env, { limit, state }: { limit: number; state?: RunState }): Promise<Shown> {
  const { heron } = createCommandApi(env, 'a key with READ_RUNS');
  return list(
    limit,
    (cursor) => heron.GET('/v1/runs', { params: { query: { limit: PAGE, cursor, state } } }),
    [
      ['id', ({ id }) => id],
      ['state', ({ state: is }) => is],
      ['intent', ({ intent }) => intent],
      ['recipients', ({ recipient_count: count }) => count],
      ['campaign', ({ campaign_id: campaign }) => campaign],
      ['decide at', ({ approval_url: url, state: is }) => (is === 'awaiting_approval' ? url : '')],
    ],
    'There is no run.',
  );
}

/** Lists conversations with a reply, newest first. Without `all`, lists only conversations that wait for an answer. */
export async function listReplies(env: Env, { limit, all }: { limit: number; all: boolean }): Promise<Shown> {
  const { heron } = createCommandApi(env, 'a key with READ_UNIBOX');
  return list(
    limit,
    (cursor) =>
      heron.GET('/v1/unibox', {
        params: { query: { limit: PAGE, cursor, kind: 'reply', ...(all ? {} : { awaiting_reply: 'false' }) } },
      }),
    [
      ['id', ({ id }) => id],
      ['from', ({ from_addr: from }) => from[0]],
      ['intent', ({ intent }) => intent],
      ['subject', ({ subject }) => subject],
      ['text', ({ snippet }) => snippet],
      ['came', ({ internal_date: at }) => at],
    ],
    all ? 'Nobody has replied.' : 'No reply waits for an answer.',
  );
}

/**
 * Answers a message in its conversation.
 * @param id id of the message, as in the list of replies
 */
export async function answerReply(env: Env, id: string, text: string): Promise<Shown> {
  const { heron, ask } = createCommandApi(env, 'a key with READ_UNIBOX and SEND_INBOX_REPLY');
  if (text.trim() === '') throw new OperatorError('the answer is empty');
  const message = await ask(heron.GET('/v1/unibox/{id}', { params: { path: { id } } }));
  const answer = await ask(
    heron.POST('/v1/unibox/reply', {
      body: {
        thread_id: message.thread_id,
        body_plain: text,
        ...(message.message_id ? { in_reply_to: [message.message_id] } : {}),
      },
    }),
  );
  const what =
    answer.result === 'awaiting_approval'
      ? `A person decides at ${answer.approval_url}`
      : `The answer leaves at ${answer.scheduled_at}.`;
  return {
    json: answer,
    lines: [what, ...answer.left_out.map(({ address, reason }) => `  without ${address}: ${reason}`)],
  };
}

/** Product event to report. */
export interface ProductEventInput {
  name: string;
  email?: string;
  contact?: string;
  user?: string;
  at?: string;
  data: Record<string, unknown>;
}

/** Reports a product event as the code of the product would. */
export async function sendEvent(env: Env, { name, email, contact, user, at, data }: ProductEventInput): Promise<Shown> {
  const { heron, ask } = createCommandApi(env, 'a key with WRITE_EVENTS');
  const taken = await ask(
    heron.POST('/v1/events', {
      params: { header: { 'Idempotency-Key': crypto.randomUUID() } },
      body: {
        name,
        data,
        ...(email ? { email } : {}),
        ...(contact ? { contact_id: contact } : {}),
        ...(user ? { user_id: user } : {}),
        ...(at ? { occurred_at: at } : {}),
      },
    }),
  );
  const goOn = taken.matched_runs.map(
    ({ campaign_id: campaign, mode }) => `  campaign ${campaign}${mode === 'test' ? ' (test run)' : ''} goes on`,
  );
  return { json: taken, lines: [`Event ${taken.event_id} is taken; ${taken.matched_waits} waited for it.`, ...goOn] };
}

/** Lists the first rows of a paged list as a table. */
async function list<Row>(
  limit: number,
  askFor: Parameters<typeof eachOf<Row>>[0],
  columns: readonly Column<Row>[],
  none: string,
): Promise<Shown> {
  const rows: Row[] = [];
  try {
    for await (const row of eachOf(askFor)) {
      rows.push(row);
      if (rows.length >= limit) break;
    }
  } catch (error) {
    if (error instanceof HeronError) throw new ApiRefusal(error);
    throw new OperatorError('the API does not answer: set HERON_API_URL');
  }
  return { json: rows, lines: tableLines(rows, columns, none) };
}

/** Formats names and values, one per line, without empty values. */
function fields(entries: readonly (readonly [string, string | number | null | undefined])[]): string[] {
  const known = entries.filter(([, value]) => value !== undefined && value !== null && value !== '');
  const width = Math.max(...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}

function day(moment: string): string {
  return moment.slice(0, 10);
}
