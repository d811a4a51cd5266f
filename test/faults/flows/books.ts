import type { RawDb } from '../../harness/database.ts';
import type { ReceivedMessage } from '../../harness/mail.ts';
import { messageIdOf } from '../mail-record.ts';
import type { Check } from '../reconcile.ts';
import { ENDS, illegalMove, MACHINES } from './machines.ts';
import type { Flow, Kind } from './plan.ts';
import type { Act } from './game.ts';
import { addressesOf, type AppCall, type Workspace } from './stage.ts';
import { readRecord, type Step } from './watch.ts';

/** Data compared after all work has settled. */
interface Facts {
  db: RawDb;
  flows: readonly Flow[];
  acts: readonly Act[];
  ids: ReadonlyMap<string, string>;
  calls: readonly AppCall[];
  messages: readonly ReceivedMessage[];
  workspaces: readonly Workspace[];
}

interface Books extends Facts {
  steps: Step[];
  /** States of each row in order, by table and id. */
  paths: Map<string, { subject: string; marker: string; row: string; states: string[] }>;
  /** Emails received by the mail server, by recipient. */
  byRecipient: Map<string, ReceivedMessage[]>;
}

/** Table of each kind of flow. */
const TABLES: Record<Kind, string> = {
  run: 'runs',
  direct: 'direct_sends',
  test: 'test_runs',
  warmup: 'mailboxes',
  order: 'mailbox_orders',
  renewal: 'mailbox_orders',
};

/**
 * Compares the records: state changes in PostgreSQL, answers to people, and what mail server and app have received.
 */
export async function readBooks(facts: Facts): Promise<Check[]> {
  const steps = await readRecord(facts.db);
  const paths: Books['paths'] = new Map();
  for (const { subject, row, marker, state } of steps) {
    const key = `${subject} ${row}`;
    const path = paths.get(key) ?? { subject, marker, row, states: [] };
    path.states.push(state ?? 'gone');
    paths.set(key, path);
  }
  const byRecipient: Books['byRecipient'] = new Map();
  for (const message of facts.messages)
    for (const to of message.envelope.to) byRecipient.set(to, [...(byRecipient.get(to) ?? []), message]);
  const books: Books = { ...facts, steps, paths, byRecipient };
  return [
    everyFlowEnded(books),
    await endsFit(books),
    await ordersFit(books),
    legalPaths(books),
    await runEvents(books),
    await approvals(books),
    answersHeld(books),
    nothingTwice(books),
    await receivedIsClaimed(books),
    noMailAfterwards(books),
    appCalls(books),
    await launches(books),
    await policyCounts(books),
    await dailyCounts(books),
    await directEvents(books),
  ];
}

/** Returns the paths of a flow's rows in a table; without a marker, those of all flows. */
function waysOf({ paths }: Books, subject: string, marker?: string) {
  return [...paths.values()].filter((path) => path.subject === subject && (!marker || path.marker === marker));
}

function everyFlowEnded(books: Books): Check {
  const counts: Record<string, number> = {};
  const faults: string[] = [];
  for (const { kind, marker } of books.flows) {
    const ways = waysOf(books, TABLES[kind], marker);
    if (ways.length !== 1) faults.push(`${marker} has ${ways.length} rows in ${TABLES[kind]}`);
    const end = ways[0]?.states.at(-1) ?? 'nothing';
    counts[`${kind} ${end}`] = (counts[`${kind} ${end}`] ?? 0) + 1;
  }
  for (const { subject, marker, row, states } of books.paths.values()) {
    const ends = ENDS[subject];
    if (ends && marker && !ends.includes(states.at(-1)!))
      faults.push(`${marker}: ${subject} ${row} is left ${states.join(' > ')}`);
  }
  const seen = Object.entries(counts)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([end, count]) => `${count} ${end}`);
  return { name: 'every flow has ended in a state that the contract names', seen: seen.join(', '), faults };
}

/** Checks that every failure has a cause in the plan. A killed process may delay work, but not make it fail. */
async function endsFit(books: Books): Promise<Check> {
  const faults: string[] = [];
  const { db, acts } = books;
  const errors = new Map<string, string>();
  for (const { id, error_details: error } of await db('runs').select('id', 'error_details'))
    errors.set(id, JSON.stringify(error));
  for (const { id, error } of await db('test_runs').select('id', 'error')) errors.set(id, JSON.stringify(error));
  for (const { id, error_code: code } of await db('direct_sends').select('id', 'error_code')) errors.set(id, code);
  // An approval whose content changed is replaced by another one, whose decision counts.
  const asked = new Map<string, string>();
  for (const { id, subject_id: subject } of await db('approvals').orderBy('id').select('id', 'subject_id'))
    asked.set(subject, id);
  let bad = 0;
  for (const flow of books.flows) {
    if (flow.kind === 'warmup' || flow.shopping) continue;
    const { row = '', states = [] } = waysOf(books, TABLES[flow.kind], flow.marker)[0] ?? {};
    const end = states.at(-1)!;
    if (['completed', 'sent', 'uncertain', 'cancelled'].includes(end)) continue;
    bad += 1;
    const approval = asked.get(row);
    const said = acts.filter(({ said: { status, path } }) => status === 200 && approval && path.includes(approval));
    const approved = said.some(({ what }) => what === 'approve');
    const fits =
      (end === 'denied' && (flow.kind === 'run' ? !approved : said.some(({ what }) => what === 'deny'))) ||
      (end === 'expired' && !approved) ||
      (end === 'bounced' && flow.transport === 'reject') ||
      (end === 'failed' && flow.kind === 'test' && (flow.transport === 'reject' || flow.app.fails));
    if (!fits) faults.push(`${flow.marker} (${flow.transport}) is ${end}: ${errors.get(row)}`);
  }
  return { name: 'no flow ends badly without a reason', seen: `${bad} were denied, bounced or failed`, faults };
}

/**
 * Checks that an order that was paid, not cancelled and not refused by the provider is ready, and that its domain was
 * renewed.
 */
async function ordersFit(books: Books): Promise<Check> {
  const faults: string[] = [];
  const errors = new Map<string, string>();
  for (const { id, error } of await books.db('mailbox_orders').select('id', 'error'))
    errors.set(id, JSON.stringify(error));
  const buying = books.flows.filter(({ shopping }) => shopping);
  for (const { kind, marker, shopping } of buying) {
    const { row = '', states = [] } = waysOf(books, 'mailbox_orders', marker)[0] ?? {};
    const end = states.at(-1);
    const cancelled = books.acts.some((act) => act.marker === marker && act.what === 'cancel');
    const paid = shopping!.pays !== 'never' && shopping!.pays !== 'other_amount';
    const refused = kind === 'order' && shopping!.misdeeds.some(({ does }) => does === 'refuse');
    const fits = cancelled || (paid && !refused ? end === 'ready' : end === 'failed');
    if (!fits) faults.push(`${marker} (${shopping!.pays}) is ${end}: ${errors.get(row)}`);
    if (kind !== 'renewal' || end !== 'ready') continue;
    if (!waysOf(books, 'domain_renewals', marker).some((way) => way.states.at(-1) === 'renewed'))
      faults.push(`${marker} is in use, and its domain was not renewed`);
  }
  return { name: 'what was paid is delivered, or there is a reason', seen: `${buying.length} orders`, faults };
}

function legalPaths({ paths }: Books): Check {
  const faults: string[] = [];
  let transitions = 0;
  for (const { subject, marker, row, states } of paths.values()) {
    const machine = MACHINES[subject];
    if (!machine) continue;
    transitions += states.length;
    const illegal = illegalMove(machine, states);
    if (illegal) faults.push(`${marker}: ${subject} ${row} went ${illegal} (${states.join(' > ')})`);
  }
  return { name: 'every row took a path of its state machine', seen: `${transitions} transitions`, faults };
}

/**
 * Checks that the event stream of a run equals its path: in order, without gaps, each event emitted and audited once.
 */
async function runEvents(books: Books): Promise<Check> {
  const { db } = books;
  const faults: string[] = [];
  const rows: { run_id: string; seq: number; state: string; previous_state: string | null }[] = await db('run_events')
    .orderBy(['run_id', 'seq'])
    .select('run_id', 'seq', 'state', 'previous_state');
  const told: { data: { run_id: string; state: string } }[] = await db('domain_events')
    .where({ type: 'run.state_changed' })
    .orderBy('id')
    .select('data');
  const audited: { entity_id: string }[] = await db('audit_logs').where({ entity_type: 'run' }).select('entity_id');
  for (const { row: id, marker, states } of waysOf(books, 'runs')) {
    const own = rows.filter(({ run_id }) => run_id === id);
    const stream = own.map(({ state }) => state).join(' > ');
    if (stream !== states.join(' > '))
      faults.push(`${marker}: its events say ${stream}, its row ${states.join(' > ')}`);
    for (const [index, { seq, previous_state: before }] of own.entries()) {
      if (seq !== index + 1) faults.push(`${marker}: event ${index + 1} has number ${seq}`);
      if (before !== (own[index - 1]?.state ?? null)) faults.push(`${marker}: event ${seq} says it was ${before}`);
    }
    const announced = told.filter(({ data }) => data.run_id === id).length;
    if (announced !== states.length) faults.push(`${marker}: ${states.length} transitions, ${announced} announced`);
    const audits = audited.filter(({ entity_id }) => entity_id === id).length;
    if (audits !== states.length) faults.push(`${marker}: ${states.length} transitions, ${audits} audited`);
  }
  return { name: 'the event stream of a run is its path', seen: `${rows.length} events`, faults };
}

/** Checks that an approval is decided once, and that the answers to people match the stored decision. */
async function approvals({ db, acts }: Books): Promise<Check> {
  const faults: string[] = [];
  const rows = await db('approvals').select('id', 'status', 'decided_by', 'expires_at', 'decided_at');
  const events: { type: string; data: { approval_id?: string; id?: string } }[] = await db('domain_events')
    .whereLike('type', 'approval.%')
    .select('type', 'data');
  const count = (type: string, id: string) =>
    events.filter((event) => event.type === type && JSON.stringify(event.data).includes(id)).length;
  let lost = 0;
  for (const row of rows) {
    const said = acts.filter(({ what, said: { path } }) => what !== 'cancel' && path.includes(row.id));
    const won = said.filter(({ said: { status } }) => status === 200);
    lost += said.length - won.length;
    if (won.length > 1) faults.push(`${row.id} was decided ${won.length} times`);
    if (won.length !== count('approval.decided', row.id))
      faults.push(`${row.id}: ${won.length} decisions were taken, ${count('approval.decided', row.id)} announced`);
    if (won.length === 0 && row.decided_by !== null) faults.push(`${row.id} is ${row.status} without a decision`);
    if (won[0]?.what === 'deny' && row.status !== 'denied') faults.push(`${row.id} was denied and is ${row.status}`);
    if (won[0]?.what === 'approve' && !['executed', 'expired'].includes(row.status))
      faults.push(`${row.id} was approved and is ${row.status}`);
    if (row.decided_at && row.decided_at >= row.expires_at) faults.push(`${row.id} was decided after its time`);
    for (const { what, said: late } of said)
      if (late.status !== 200 && late.status !== 409) faults.push(`${row.id}: ${what} was answered ${late.status}`);
    if (count('approval.requested', row.id) !== 1) faults.push(`${row.id} was announced more than once`);
    const ended = count('approval.executed', row.id) + count('approval.expired', row.id);
    if (ended !== (row.status === 'denied' ? 0 : 1))
      faults.push(`${row.id} is ${row.status}, and ended ${ended} times`);
  }
  return {
    name: 'an approval is decided once',
    seen: `${rows.length} approvals, ${lost} decisions came too late`,
    faults,
  };
}

/** Checks that the answer to a cancellation is true: either the flow is cancelled, or the cancellation was too late. */
function answersHeld(books: Books): Check {
  const faults: string[] = [];
  const cancels = books.acts.filter(({ what }) => what === 'cancel');
  let won = 0;
  for (const { marker, said } of cancels) {
    const flow = books.flows.find((one) => one.marker === marker)!;
    if (flow.kind === 'warmup') {
      if (said.status !== 200) faults.push(`${marker}: stop was answered ${said.status}`);
      continue;
    }
    const end = waysOf(books, TABLES[flow.kind], marker)[0]?.states.at(-1);
    if (flow.shopping) {
      // An order that had already failed is returned unchanged.
      if (said.status !== 200 || said.answer.status !== end)
        faults.push(`${marker}: was answered ${said.status} ${said.answer.status} and is ${end}`);
      if (end === 'cancelled') won += 1;
      continue;
    }
    const taken = said.status === (flow.kind === 'direct' ? 204 : 200);
    if (taken) won += 1;
    if (taken && end !== 'cancelled') faults.push(`${marker} was cancelled and is ${end}`);
    if (!taken && said.status !== 409) faults.push(`${marker}: the cancellation was answered ${said.status}`);
    if (said.status === 409 && end === 'cancelled') faults.push(`${marker}: it was too late, and it is cancelled`);
  }
  return { name: 'a cancellation holds, or was too late', seen: `${cancels.length}, of which ${won} held`, faults };
}

/**
 * Checks that the mail server received one email per run and lead, per direct send, and per step of a test, and no
 * Message-ID twice.
 */
function nothingTwice({ flows, messages, byRecipient }: Books): Check {
  const faults: string[] = [];
  const copies = new Map<string, number>();
  for (const message of messages) {
    const id = messageIdOf(message);
    copies.set(id, (copies.get(id) ?? 0) + 1);
  }
  for (const [id, count] of copies) if (count > 1) faults.push(`${id} was received ${count} times`);
  const most = { run: 1, direct: 1, test: 2, warmup: Infinity, order: 0, renewal: 0 } as const;
  for (const flow of flows)
    for (const address of addressesOf(flow)) {
      const got = byRecipient.get(address)?.length ?? 0;
      if (got > most[flow.kind]) faults.push(`${flow.marker}: ${address} got ${got} emails`);
    }
  return { name: 'nothing is mailed twice', seen: `${messages.length} emails`, faults };
}

/**
 * Checks that every received email was claimed and marked, that `sent` ones were received, and that received ones are
 * `sent` or `uncertain`.
 */
async function receivedIsClaimed({ db, messages, steps }: Books): Promise<Check> {
  const faults: string[] = [];
  const received = new Set(messages.map(messageIdOf));
  const columns = ['id', 'state', 'message_id', 'handover', 'claimed_at'];
  const rows = [...(await db('sends').select(columns)), ...(await db('warmup_mails').select(columns))];
  const known = new Set(rows.map((row) => row.message_id));
  for (const id of received) if (!known.has(id)) faults.push(`${id} is in no row`);
  const claims = new Map<string, number>();
  for (const { subject, row, state } of steps)
    if ((subject === 'sends' || subject === 'warmup_mails') && state === 'sending')
      claims.set(row, (claims.get(row) ?? 0) + 1);
  for (const row of rows) {
    const came = received.has(row.message_id);
    if (came && !claims.has(row.id)) faults.push(`${row.id} was received and never claimed`);
    if (came && !['sent', 'uncertain'].includes(row.state)) faults.push(`${row.id} was received and is ${row.state}`);
    if (came && row.handover !== 'begun') faults.push(`${row.id} was received, and its end not marked`);
    if (!came && row.state === 'sent') faults.push(`${row.id} is sent and was not received`);
    if (['sent', 'uncertain'].includes(row.state) && row.handover !== 'begun')
      faults.push(`${row.id} is ${row.state}, and its end was not marked`);
  }
  const total = [...claims.values()].reduce((sum, count) => sum + count, 0);
  return { name: 'claimed, handed over, received', seen: `${total} claims, ${received.size} received`, faults };
}

/** Checks that no denied, cancelled or undecided email is sent, except for emails that a worker had already claimed. */
function noMailAfterwards(books: Books): Check {
  const faults: string[] = [];
  let quiet = 0;
  for (const flow of books.flows) {
    const got = addressesOf(flow).flatMap((address) => books.byRecipient.get(address) ?? []);
    const cancelled = books.acts.find(
      ({ marker, what, said }) => marker === flow.marker && what === 'cancel' && said.status < 300,
    );
    if (flow.kind === 'run' || flow.kind === 'direct') {
      const states = waysOf(books, flow.kind === 'run' ? 'runs' : 'direct_sends', flow.marker)[0]?.states ?? [];
      const left =
        flow.kind === 'run' ? states.includes('active') : !['cancelled', 'denied', 'expired'].includes(states.at(-1)!);
      if (!left) quiet += 1;
      if (!left && got.length > 0)
        faults.push(`${flow.marker} went ${states.join(' > ')}, and ${got.length} emails left`);
    }
    if (!cancelled) continue;
    const late = books.steps.filter(
      ({ marker, subject, state, at }) =>
        marker === flow.marker &&
        (subject === 'sends' || subject === 'warmup_mails') &&
        state === 'sending' &&
        at.getTime() > cancelled.said.answeredAt,
    );
    // A stopped warmup may send later emails, because its owner may have resumed it at the same time.
    if (late.length > 0 && flow.kind !== 'warmup')
      faults.push(`${flow.marker}: ${late.length} emails were claimed after the cancellation was answered`);
  }
  return {
    name: 'nothing leaves after a denial, an expiry or a cancellation',
    seen: `${quiet} flows without a launch`,
    faults,
  };
}

/** Checks that the app gets one event id per step despite deaths, and after a cancellation at most the open call. */
function appCalls(books: Books): Check {
  const faults: string[] = [];
  for (const flow of books.flows.filter(({ kind }) => kind === 'test')) {
    const own = books.calls.filter(({ marker }) => marker === flow.marker);
    const ids = new Set(own.map(({ eventId }) => eventId));
    const stepRuns = waysOf(books, 'test_run_steps', flow.marker).filter(({ states }) =>
      states[0]?.startsWith('app_action'),
    );
    if (stepRuns.length > 1) faults.push(`${flow.marker} came to its app step ${stepRuns.length} times`);
    for (const id of ids) if (!stepRuns.some(({ row }) => row === id)) faults.push(`${flow.marker}: ${id} is no step`);
    const completed = stepRuns[0]?.states.includes('app_action completed');
    if (completed && own.length === 0) faults.push(`${flow.marker}: the step is done without a call`);
    const done = books.steps.find(
      ({ row, state }) => row === stepRuns[0]?.row && /completed|skipped|failed/.test(state ?? ''),
    );
    const after = own.filter(({ at }) => done && at > done.at.getTime() + 50);
    if (after.length > 1) faults.push(`${flow.marker}: ${after.length} calls after the step was over`);
  }
  return { name: 'the app sees one event id per step', seen: `${books.calls.length} calls`, faults };
}

/** Checks that a run launches its campaign once, and only if it is active. */
async function launches(books: Books): Promise<Check> {
  const faults: string[] = [];
  const rows: { id: string; campaign_id: string }[] = await books.db('runs').select('id', 'campaign_id');
  const started: { data: { campaign_id: string } }[] = await books
    .db('domain_events')
    .where({ type: 'campaign.started' })
    .select('data');
  let launched = 0;
  for (const { id, campaign_id: campaignId } of rows) {
    const path = books.paths.get(`runs ${id}`)!;
    const times = started.filter(({ data }) => data.campaign_id === campaignId).length;
    launched += times;
    if (times !== (path.states.includes('active') ? 1 : 0))
      faults.push(`${path.marker} went ${path.states.join(' > ')}, its campaign was started ${times} times`);
  }
  return { name: 'a run launches its campaign once', seen: `${launched} launches of ${rows.length} runs`, faults };
}

/** Checks that actions allowed by a policy are counted once. */
async function policyCounts({ db, workspaces }: Books): Promise<Check> {
  const faults: string[] = [];
  let total = 0;
  for (const { allowedKey } of workspaces) {
    const key = { api_key_id: allowedKey.apiKeyId };
    const [runs, directs, used] = await Promise.all([
      db('runs').where(key).whereRaw(`policy_decision ->> 'decision' = 'execute'`),
      db('direct_sends').where(key),
      db('agent_policy_usage').where({ credential_id: allowedKey.apiKeyId }),
    ]);
    const counted = used.reduce((sum, { actions }) => sum + Number(actions), 0);
    total += counted;
    if (counted !== runs.length + directs.length)
      faults.push(`${counted} actions are counted, ${runs.length} runs and ${directs.length} emails were allowed`);
  }
  return { name: 'what a policy allowed is counted once', seen: `${total} actions`, faults };
}

/** Checks that the daily counters of mailboxes equal the numbers of emails that use one of their slots on that day. */
async function dailyCounts({ db }: Books): Promise<Check> {
  const { rows } = await db.raw(
    `with held as (
       select mailbox_id, slot_day from sends
       union all
       select mailbox_id, slot_day from warmup_mails where not (state = 'failed' and claim_token is null)
     ), truth as (select mailbox_id as id, slot_day as day, count(*)::int as n from held group by 1, 2),
     counted as (select scope_id as id, day, count::int as n from daily_counters where scope = 'mailbox')
     select coalesce(t.id, c.id) as id, coalesce(t.n, 0) as truth, coalesce(c.n, 0) as counted
     from truth t full join counted c on c.id = t.id and c.day = t.day`,
  );
  const faults = rows
    .filter((row: any) => row.truth !== row.counted)
    .map((row: any) => `mailbox ${row.id} counts ${row.counted}, its emails are ${row.truth}`);
  return { name: 'counters of mailboxes are their emails', seen: `${rows.length} days of mailboxes`, faults };
}

/** Checks that each finished direct send has one event of the right type. */
async function directEvents({ db }: Books): Promise<Check> {
  const faults: string[] = [];
  const rows: { id: string; state: string }[] = await db('direct_sends').select('id', 'state');
  const events: { type: string; data: { email_id: string } }[] = await db('domain_events')
    .whereIn('type', ['inbox.email_sent', 'inbox.email_failed'])
    .select('type', 'data');
  for (const { id, state } of rows) {
    const types = events.filter(({ data }) => data.email_id === id).map(({ type }) => type);
    const last = types.at(-1);
    const wanted = state === 'sent' ? 'inbox.email_sent' : state === 'cancelled' ? undefined : 'inbox.email_failed';
    if (last !== wanted || new Set(types).size !== types.length)
      faults.push(`${id} is ${state}, and told ${types.join()}`);
  }
  return { name: 'a direct send is announced once', seen: `${events.length} events`, faults };
}
