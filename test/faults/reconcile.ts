import type { RawDb } from '../harness/database.ts';
import { header, messageIdOf, type ReceivedMessage } from './mail-record.ts';
import type { Outside } from './outside.ts';
import { MARKS, type Person } from './people.ts';
import type { Scenario } from './scenario.ts';
import type { Message } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';

/** Comparison of records. `faults` has one line per difference; empty if there are none. */
export interface Check {
  name: string;
  /** Text with the numbers of the compared items. */
  seen: string;
  faults: string[];
}

export interface Reconciliation {
  checks: Check[];
  /** Uncertain emails, with a flag if the mail server has them. */
  uncertain: { email: string; step: number; onServer: boolean; detail: string }[];
}

interface Send {
  id: string;
  enrollment_id: string;
  contact_id: string;
  mailbox_id: string;
  step_id: string;
  state: string;
  recipient: string;
  message_id: string | null;
  error_detail: Message | null;
  claimed_at: Date | null;
  handover: 'pending' | 'begun' | null;
  sent_at: Date | null;
}

interface Enrollment {
  id: string;
  contact_id: string;
  state: string;
  app_values: Record<string, any>;
  failure_reason: Message | null;
  finished_at: Date | null;
}

interface StepRun {
  id: string;
  enrollment_id: string;
  step_id: string;
  kind: string;
  state: string;
  outcome: string | null;
}

interface Wait {
  enrollment_id: string;
  contact_id: string;
  step_run_id: string;
  state: string;
  event_id: string | null;
}

/** Data of both sides, read once. */
interface Facts {
  scenario: Scenario;
  outside: Outside;
  record: readonly ReceivedMessage[];
  byMessageId: Map<string, ReceivedMessage[]>;
  sends: Send[];
  enrollments: Map<string, Enrollment>;
  runs: StepRun[];
  waits: Wait[];
  inbound: Map<string, Date>;
}

/** Compares the database with the records of mail servers, app and people. */
export async function reconcile(
  db: RawDb,
  scenario: Scenario,
  outside: Outside,
  record: readonly ReceivedMessage[],
): Promise<Reconciliation> {
  const facts = await collect(db, scenario, outside, record);
  const checks = [
    noContactTwice(facts),
    serverToDatabase(facts),
    databaseToServer(facts),
    threeBooks(facts),
    ends(facts),
    conversations(facts),
    appCalls(facts),
    waitsAndEvents(facts),
    await eventRows(db, facts),
    await sentEvents(db, facts),
    await counters(db, facts),
    await bounces(db, facts),
    await nothingLeft(db, facts),
  ];
  return { checks, uncertain: uncertainOf(facts) };
}

async function collect(
  db: RawDb,
  scenario: Scenario,
  outside: Outside,
  record: readonly ReceivedMessage[],
): Promise<Facts> {
  const mine = { campaign_id: scenario.campaignId };
  const byMessageId = new Map<string, ReceivedMessage[]>();
  for (const message of record) {
    const id = messageIdOf(message);
    byMessageId.set(id, [...(byMessageId.get(id) ?? []), message]);
  }
  const enrollments: Enrollment[] = await db('enrollments').where(mine);
  const inbound: { contact_id: string; created_at: Date }[] = await db('inbound_messages').where({
    organization_id: scenario.tenant.organizationId,
    kind: 'reply',
  });
  return {
    scenario,
    outside,
    record,
    byMessageId,
    sends: await db('sends').where(mine).orderBy('id'),
    enrollments: new Map(enrollments.map((row) => [row.contact_id, row])),
    runs: await db('step_runs').where(mine).orderBy('id'),
    waits: await db('waits').where(mine),
    inbound: new Map(inbound.map((row) => [row.contact_id, row.created_at])),
  };
}

/** Checks that no contact got an email twice. Uses only the mail server's own record: the marks and the recipients. */
function noContactTwice({ record }: Facts): Check {
  const seen = new Map<string, number>();
  const faults: string[] = [];
  for (const message of record) {
    const step = stepOf(message);
    if (step === 0 || message.envelope.to.length !== 1)
      faults.push(`a message to ${message.envelope.to.join()} is of no step`);
    const key = `${message.envelope.to[0]} step ${step}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  for (const [key, times] of seen) if (times > 1) faults.push(`${key} was mailed ${times} times`);
  return {
    name: 'no contact is mailed a step twice',
    seen: `${record.length} messages, ${seen.size} (recipient, step)`,
    faults,
  };
}

function serverToDatabase({ record, sends }: Facts): Check {
  const known = new Map(sends.map((send) => [send.message_id, send]));
  const faults: string[] = [];
  for (const message of record) {
    const id = messageIdOf(message);
    const send = known.get(id);
    if (!send) faults.push(`${id} to ${message.envelope.to.join()} is in no sends row`);
    else if (send.state !== 'sent' && send.state !== 'uncertain')
      faults.push(`${id} is on the server, but its sends row says ${send.state}`);
    else if (send.recipient !== message.envelope.to[0])
      faults.push(`${id} went to ${message.envelope.to.join()}, the sends row says ${send.recipient}`);
  }
  return { name: 'every message has its sends row', seen: `${record.length} messages`, faults };
}

function databaseToServer({ sends, byMessageId }: Facts): Check {
  const faults: string[] = [];
  const counts: Record<string, number> = {};
  for (const send of sends) {
    counts[send.state] = (counts[send.state] ?? 0) + 1;
    const copies = send.message_id ? (byMessageId.get(send.message_id)?.length ?? 0) : 0;
    const fits = { sent: copies === 1, uncertain: copies <= 1, bounced: copies === 0 }[send.state];
    if (!fits) faults.push(`${send.id} to ${send.recipient} is ${send.state}, and ${copies} times on the server`);
  }
  const seen = Object.entries(counts)
    .map(([state, count]) => `${count} ${state}`)
    .join(', ');
  return { name: 'every sends row is true', seen, faults };
}

/**
 * Compares the claimed, the submitted and the received emails, each from its own record. Each received email was
 * submitted, and only a submitted email can be uncertain.
 */
function threeBooks({ sends, byMessageId }: Facts): Check {
  const received = (send: Send): boolean => byMessageId.has(send.message_id ?? '');
  const claimed = sends.filter(({ claimed_at: at }) => at !== null);
  const handedOver = sends.filter(({ handover }) => handover === 'begun');
  const faults = sends.flatMap((send) => {
    const of = `${send.id} to ${send.recipient}`;
    const found: string[] = [];
    if (send.handover !== null && send.claimed_at === null) found.push(`${of} was handed over and never claimed`);
    if (send.handover !== 'begun' && received(send)) found.push(`${of} was received, but its end not marked`);
    if (send.handover !== 'begun' && (send.state === 'uncertain' || send.state === 'sent'))
      found.push(`${of} is ${send.state}, but its end was not marked`);
    return found;
  });
  return {
    name: 'claimed, handed over, received',
    seen: `${claimed.length} claimed, ${handedOver.length} handed over, ${sends.filter(received).length} received`,
    faults,
  };
}

/** Checks that every contact ends as its behaviour requires, depending on the emails sent to it. */
function ends(facts: Facts): Check {
  const { scenario, enrollments, sends } = facts;
  const faults: string[] = [];
  const counts: Record<string, number> = {};
  for (const someone of scenario.people) {
    const enrollment = enrollments.get(someone.contactId)!;
    counts[enrollment.state] = (counts[enrollment.state] ?? 0) + 1;
    const [first, followUp] = [scenario.stepIds[0], scenario.stepIds[3]].map((step) =>
      sends.find((send) => send.contact_id === someone.contactId && send.step_id === step),
    );
    const expected = expectedEnd(facts, someone, first, followUp);
    if (enrollment.state !== expected) {
      faults.push(
        `${someone.email} (${someone.behaviour}, ${someone.transport}) is ${enrollment.state}, not ${expected}; emails ${first?.state}, ${followUp?.state}${enrollment.failure_reason ? `; ${render(enrollment.failure_reason)}` : ''}`,
      );
    }
    if (expected === 'completed' && followUp?.state !== 'sent' && followUp?.state !== 'uncertain')
      faults.push(`${someone.email} has completed, its follow-up is ${followUp?.state ?? 'missing'}`);
    if (first === undefined) faults.push(`${someone.email} has no first email`);
  }
  return {
    name: 'every contact ends where it should',
    seen: Object.entries(counts)
      .map(([state, count]) => `${count} ${state}`)
      .join(', '),
    faults,
  };
}

function expectedEnd(
  { outside, inbound }: Facts,
  someone: Person,
  first: Send | undefined,
  followUp: Send | undefined,
): string {
  if (first?.state === 'bounced' || followUp?.state === 'bounced')
    return someone.behaviour === 'bounce' ? 'bounced' : 'completed';
  if (outside.replied.has(someone.email)) {
    const readAt = inbound.get(someone.contactId);
    // A reply that is read after the last email was sent arrives when the contact has already completed the sequence.
    const leftAt = followUp?.state === 'uncertain' ? followUp.claimed_at : followUp?.sent_at;
    return readAt && leftAt && leftAt < readAt ? 'completed' : 'replied';
  }
  return 'completed';
}

/**
 * Checks that follow-ups are replies to the first email if that was certainly sent. They must contain the answer of the
 * app and the data of the event.
 */
function conversations({ scenario, sends, record, enrollments }: Facts): Check {
  const faults: string[] = [];
  let compared = 0;
  const people = new Map(scenario.people.map((someone) => [someone.email, someone]));
  for (const message of record) {
    if (stepOf(message) !== 2) continue;
    compared += 1;
    const someone = people.get(message.envelope.to[0]!)!;
    const first = sends.find((send) => send.contact_id === someone.contactId && send.step_id === scenario.stepIds[0]);
    const answers = header(message.raw, 'in-reply-to');
    // The first email may still have been uncertain when the follow-up was written, even if it now counts as sent.
    const mayStandAlone = first?.state === 'uncertain' || someone.behaviour === 'reply';
    if (answers !== first?.message_id && !(mayStandAlone && answers === ''))
      faults.push(`the follow-up to ${someone.email} does not reply to its first email`);
    if (first?.state === 'uncertain' && /^re:/i.test(header(message.raw, 'subject')))
      faults.push(`the follow-up to ${someone.email} looks like a reply to an email it may not have`);
    if (!message.raw.includes(someone.code)) faults.push(`the follow-up to ${someone.email} lacks the app's answer`);
    if (enrollments.get(someone.contactId)!.app_values.offer?.code !== someone.code)
      faults.push(`the app's answer for ${someone.email} is not stored`);
  }
  return { name: 'follow-ups reply in the thread, with the answer', seen: `${compared} follow-ups`, faults };
}

/**
 * Checks that the app can detect every repeated call of a step run: each step run has one event id, and calls are
 * signed.
 */
function appCalls({ outside, runs, scenario }: Facts): Check {
  const faults: string[] = [];
  const appRuns = new Map(runs.filter((run) => run.kind === 'app_action').map((run) => [run.id, run]));
  const ids = new Map<string, Set<string>>();
  for (const call of outside.calls) {
    if (!call.signed) faults.push(`a call for ${call.email} is not signed`);
    if (call.eventId !== call.runId || !appRuns.has(call.eventId))
      faults.push(`the event id ${call.eventId} for ${call.email} is no step run`);
    ids.set(call.email, (ids.get(call.email) ?? new Set()).add(call.eventId));
  }
  for (const [email, eventIds] of ids)
    if (eventIds.size > 1) faults.push(`${email} came to the app under ${eventIds.size} event ids`);
  for (const run of appRuns.values()) {
    const answered = outside.calls.some((call) => call.eventId === run.id && call.status === 200);
    if (run.state === 'completed' && !answered)
      faults.push(`step run ${run.id} completed without an answer of the app`);
    if (run.state !== 'completed' && run.state !== 'skipped') faults.push(`step run ${run.id} is ${run.state}`);
  }
  const perContact = new Set([...appRuns.values()].map((run) => run.enrollment_id));
  if (perContact.size !== appRuns.size) faults.push('a contact has two runs of the app step');
  return {
    name: 'the app sees one event id per step run',
    seen: `${outside.calls.length} calls, ${ids.size} ids, ${scenario.people.length} contacts`,
    faults,
  };
}

/** Checks `matched_waits` of each report: the 202 response agrees with the database, and no other wait was resumed. */
function waitsAndEvents({ outside, waits, runs, enrollments, scenario }: Facts): Check {
  const faults: string[] = [];
  const resumed = waits.filter((wait) => wait.state === 'resumed');
  const open = waits.filter((wait) => wait.state === 'open');
  for (const wait of open) faults.push(`a wait of contact ${wait.contact_id} is still open`);
  const said = new Map(outside.publications.map((publication) => [publication.eventId, publication]));
  for (const publication of outside.publications) {
    const moved = resumed.filter((wait) => wait.event_id === publication.eventId);
    if (publication.runIds.length !== publication.matchedWaits)
      faults.push(`event ${publication.key} said ${publication.matchedWaits} matched waits, and names others`);
    if (publication.runIds.some((run) => !moved.some((wait) => wait.step_run_id === run)))
      faults.push(`event ${publication.key} names runs that it has not resumed`);
    if (moved.length > 1) faults.push(`event ${publication.key} resumed ${moved.length} waits of one contact`);
    const missed = waits.find((wait) => wait.contact_id === publication.contactId && wait.state === 'timed_out');
    if (moved.length === 0 && missed)
      faults.push(`event ${publication.key} came after the call of its contact began, and resumed no wait`);
  }
  for (const wait of resumed) {
    if (!said.has(wait.event_id ?? ''))
      faults.push(`a wait of contact ${wait.contact_id} was resumed by an event that was never answered`);
    const run = runs.find(({ id }) => id === wait.step_run_id);
    if (run?.state === 'completed' && run.outcome !== 'event')
      faults.push(`step run ${wait.step_run_id} had its event but went on with ${run.outcome}`);
    const order = enrollments.get(wait.contact_id)!.app_values.order?.order;
    if (run?.state === 'completed' && order !== said.get(wait.event_id ?? '')?.key)
      faults.push(`the event's data of contact ${wait.contact_id} is not stored`);
  }
  for (const wait of waits.filter(({ state }) => state === 'timed_out')) {
    const run = runs.find(({ id }) => id === wait.step_run_id);
    if (run?.outcome !== 'timeout')
      faults.push(`step run ${wait.step_run_id} timed out but went on with ${run?.outcome}`);
  }
  const reporters = new Set(
    scenario.people.filter(({ behaviour }) => behaviour === 'event').map(({ contactId }) => contactId),
  );
  for (const wait of resumed)
    if (!reporters.has(wait.contact_id))
      faults.push(`contact ${wait.contact_id} was resumed without an event of its own`);
  const count = (state: string): number => waits.filter((wait) => wait.state === state).length;
  return {
    name: 'matched_waits is the truth',
    seen: `${outside.publications.length} events; waits: ${resumed.length} resumed, ${count('timed_out')} timed out, ${count('cancelled')} cancelled`,
    faults,
  };
}

/** Checks that requests with the same key created only one event. */
async function eventRows(db: RawDb, { outside, scenario }: Facts): Promise<Check> {
  const rows: { id: string }[] = await db('product_events')
    .where({ organization_id: scenario.tenant.organizationId })
    .select('id');
  const told = new Set(outside.publications.map(({ eventId }) => eventId));
  const faults = rows
    .filter(({ id }) => !told.has(id))
    .map(({ id }) => `event ${id} is stored, and no answer named it`);
  if (told.size !== outside.publications.length) faults.push('two keys were answered with one event');
  if (rows.length !== told.size) faults.push(`${rows.length} events are stored, ${told.size} were answered`);
  const repeated = outside.publications.filter(({ requests }) => requests > 1).length;
  return { name: 'one event per idempotency key', seen: `${rows.length} events, ${repeated} needed retries`, faults };
}

async function sentEvents(db: RawDb, { sends, scenario }: Facts): Promise<Check> {
  const rows: { data: { task_id: string } }[] = await db('domain_events').where({
    organization_id: scenario.tenant.organizationId,
    type: 'campaign.email_sent',
  });
  const perSend = new Map<string, number>();
  for (const { data } of rows) perSend.set(data.task_id, (perSend.get(data.task_id) ?? 0) + 1);
  const faults: string[] = [];
  for (const send of sends) {
    const wanted = send.state === 'sent' ? 1 : 0;
    const got = perSend.get(send.id) ?? 0;
    if (got !== wanted) faults.push(`${send.id} is ${send.state} and has ${got} campaign.email_sent events`);
  }
  if (perSend.size > sends.length) faults.push('there are campaign.email_sent events of no send');
  return { name: 'one campaign.email_sent per sent email', seen: `${rows.length} events`, faults };
}

/** Checks that the counters that enforce caps agree with the sent emails. */
async function counters(db: RawDb, { scenario }: Facts): Promise<Check> {
  const result = await db.raw(
    `with truth as (
       select 'campaign' as scope, campaign_id as scope_id, slot_day as day, count(*)::int as n from sends where campaign_id = :campaign group by 2, 3
       union all
       select 'campaign_new', campaign_id, slot_day, count(*)::int from sends where campaign_id = :campaign and is_first group by 2, 3
       union all
       select 'mailbox', mailbox_id, (slot_at at time zone 'utc')::date, count(*)::int from sends where campaign_id = :campaign group by 2, 3
     )
     select coalesce(t.scope, c.scope) as scope, coalesce(t.day, c.day)::text as day, coalesce(t.n, 0) as truth, coalesce(c.count, 0) as counted
     from truth t full join (select * from daily_counters where organization_id = :org and scope <> 'org_campaigns') c
       on c.scope = t.scope and c.scope_id = t.scope_id and c.day = t.day`,
    { campaign: scenario.campaignId, org: scenario.tenant.organizationId },
  );
  const rows = (result as { rows: { scope: string; day: string; truth: number; counted: number }[] }).rows;
  const faults = rows
    .filter((row) => row.truth !== row.counted)
    .map((row) => `${row.scope} on ${row.day} counts ${row.counted}, the sends are ${row.truth}`);
  if (rows.length === 0) faults.push('nothing was counted');
  return {
    name: 'daily counters equal the sends',
    seen: rows.map((row) => `${row.scope} ${row.counted}`).join(', '),
    faults,
  };
}

async function bounces(db: RawDb, { sends, scenario }: Facts): Promise<Check> {
  const bounced = new Set(sends.filter(({ state }) => state === 'bounced').map(({ recipient }) => recipient));
  const rows: { email: string }[] = await db('suppressions')
    .where({ organization_id: scenario.tenant.organizationId, source: 'bounce' })
    .select('email');
  const suppressed = new Set(rows.map(({ email }) => email));
  const events: { data: { contact_email: string } }[] = await db('domain_events').where({
    organization_id: scenario.tenant.organizationId,
    type: 'campaign.email_bounced',
  });
  const faults = [
    ...[...bounced].filter((email) => !suppressed.has(email)).map((email) => `${email} bounced and is not suppressed`),
    ...[...suppressed]
      .filter((email) => !bounced.has(email))
      .map((email) => `${email} is suppressed and did not bounce`),
  ];
  if (events.length !== bounced.size)
    faults.push(`${bounced.size} emails bounced, ${events.length} campaign.email_bounced events`);
  return { name: 'bounces are suppressed and announced once', seen: `${bounced.size} bounced`, faults };
}

async function nothingLeft(db: RawDb, { scenario }: Facts): Promise<Check> {
  const faults: string[] = [];
  const outbox: { workflow_id: string; last_error: string | null }[] = await db('outbox').select(
    'workflow_id',
    'last_error',
  );
  for (const row of outbox)
    faults.push(`the outbox still holds ${row.workflow_id} (${row.last_error ?? 'never tried'})`);
  const stuck: { contact_id: string; state: string; waiting_for: Message | null }[] = await db('enrollments')
    .where({ campaign_id: scenario.campaignId })
    .whereIn('state', ['pending', 'active']);
  for (const row of stuck)
    faults.push(
      `contact ${row.contact_id} is still ${row.state}: ${row.waiting_for ? render(row.waiting_for) : 'waiting for nothing'}`,
    );
  const campaign = (await db('campaigns').where({ id: scenario.campaignId }).first('status')) as { status: string };
  if (campaign.status !== 'completed') faults.push(`the campaign is ${campaign.status}`);
  // A person must resolve an uncertain email.
  const letters: { last_error: string }[] = await db('dead_letters')
    .where({ organization_id: scenario.tenant.organizationId })
    .whereNot({ task_type: 'uncertain_email' });
  for (const letter of letters) faults.push(`a dead letter: ${letter.last_error}`);
  return {
    name: 'nothing is left behind',
    seen: `outbox ${outbox.length}, open contacts ${stuck.length}, campaign ${campaign.status}`,
    faults,
  };
}

function uncertainOf({ sends, byMessageId, scenario }: Facts): Reconciliation['uncertain'] {
  return sends
    .filter(({ state }) => state === 'uncertain')
    .map((send) => ({
      email: send.recipient,
      step: send.step_id === scenario.stepIds[0] ? 1 : 4,
      onServer: byMessageId.has(send.message_id ?? ''),
      detail: send.error_detail ? render(send.error_detail) : '',
    }));
}

/** Returns 1 for the first email, 2 for the follow-up, and 0 for other emails. */
function stepOf({ raw }: ReceivedMessage): number {
  return MARKS.findIndex((mark) => raw.includes(mark)) + 1;
}
