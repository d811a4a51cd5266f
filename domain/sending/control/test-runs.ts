import { json } from '../../../db/connection.ts';
import type { StoredIssue } from '../../../db/json-columns.ts';
import type { Columns, Row } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { signal, signalOpen } from '../../../temporal/dispatch.ts';
import { testRunWorkflow } from '../../../workflows/test-run/contract.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { lockWaitsOf } from './waits.ts';
import { message, type Message } from '../../../messages/index.ts';

/** A test run. It takes one prospect through the steps of a campaign. */
export type TestRunRow = Row<'test_runs'>;
/** A step that a test run has reached. */
export type TestStepRow = Row<'test_run_steps'>;

/** States of an unfinished test run. */
export const OPEN_TEST_RUN = ['running', 'waiting_for_event'] as const;

/** Result of a step of a test run. */
export interface TestStepResult {
  state: Extract<TestStepRow['state'], 'completed' | 'skipped' | 'failed'>;
  outcome: string;
  detail?: Message | null;
  error?: StoredIssue;
  /** Output of the step, also stored as `.App.<output_key>` if the step has an output key. */
  output?: Record<string, unknown>;
  attempts?: number;
}

/** Locks a test run; every writer locks it before its steps and emails. Returns undefined for an unknown id. */
export async function lockTestRun(tx: Tx, id: string): Promise<TestRunRow | undefined> {
  const [run] = await tx.org.sql<TestRunRow>(
    'select * from test_runs where organization_id = :org and id = :id for no key update',
    { id },
  );
  return run;
}

/**
 * Locks the test run that a step belongs to. The email of a step has the same id. Returns undefined if the id belongs
 * to no test, for example to a campaign email.
 */
export async function lockTestRunOf(tx: Tx, stepId: string): Promise<TestRunRow | undefined> {
  const [run] = await tx.org.sql<TestRunRow>(
    `select r.* from test_runs r where r.organization_id = :org
       and r.id = (select test_run_id from test_run_steps where organization_id = :org and id = :id) for no key update`,
    { id: stepId },
  );
  return run;
}

/**
 * Stores the result of an open step. The caller must have locked the run.
 * @returns false when the step already had a result
 */
export async function settleTestStep(tx: Tx, stepId: string, result: TestStepResult): Promise<boolean> {
  const { state, outcome, detail = null, error, output, attempts } = result;
  const [settled] = await tx.org.sql<Columns<'test_run_steps', 'test_run_id' | 'output_key'>>(
    `update test_run_steps set state = :state, outcome = :outcome, detail = cast(:detail as jsonb), error = cast(:error as jsonb),
       output = cast(:output as jsonb), attempts = coalesce(:attempts, attempts), completed_at = :now
     where organization_id = :org and id = :id and state in ('running', 'waiting') returning test_run_id, output_key`,
    {
      id: stepId,
      state,
      outcome,
      detail: detail ? json(detail) : null,
      error: error ? json(error) : null,
      output: output ? json(output) : null,
      attempts: attempts ?? null,
      now: tx.now,
    },
  );
  if (!settled) return false;
  await tx.org.sql(
    `update test_runs set updated_at = :now,
       app_values = case when cast(:key as text) is null then app_values else app_values || jsonb_build_object(cast(:key as text), cast(:output as jsonb)) end
     where organization_id = :org and id = :id`,
    {
      id: settled.test_run_id,
      key: output ? settled.output_key : null,
      output: output ? json(output) : null,
      now: tx.now,
    },
  );
  return true;
}

/**
 * Stores the outcome of a test run's email: its step ends, and the next email replies in its conversation. Has no other
 * effects: a test suppresses nobody and is counted only for its mailbox.
 * @returns false when the email belongs to no test run
 */
export async function settleTestEmail(
  tx: Tx,
  sendId: string,
  result: Pick<TestStepResult, 'state' | 'outcome' | 'detail'>,
): Promise<boolean> {
  const run = await lockTestRunOf(tx, sendId);
  if (!run) return false;
  const error = result.state === 'failed' ? { error: emailIssue(result.detail ?? null) } : {};
  await settleTestStep(tx, sendId, { ...result, ...error });
  if (result.outcome in CONVERSATIONS)
    await tx.org.sql(
      `update test_runs r set conversation = ${CONVERSATIONS[result.outcome as keyof typeof CONVERSATIONS]}
       from sends s where r.organization_id = :org and r.id = :id and s.id = :send`,
      { id: run.id, send: sendId },
    );
  return true;
}

/**
 * SQL of the conversation after an email, by the email's outcome, as for leads. Later emails may not reply to an
 * uncertain email, so only its subject is kept.
 */
const CONVERSATIONS = {
  sent: `coalesce(s.conversation, r.conversation)`,
  uncertain: `case when jsonb_array_length(r.conversation -> 'messageIds') > 0 then r.conversation
             else jsonb_build_object('subject', coalesce(s.conversation ->> 'subject', ''), 'messageIds', '[]'::jsonb) end`,
};

/** Returns true if an email belongs to a running test run. */
export async function isTestEmailWanted(org: OrgScope, sendId: string): Promise<boolean> {
  const [open] = await org.sql(
    `select 1 from test_run_steps s join test_runs r on r.id = s.test_run_id
     where s.organization_id = :org and s.id = :id and r.state = 'running'`,
    { id: sendId },
  );
  return open !== undefined;
}

/** Returns true if an email belongs to a test run. Replies and bounces of such an email have no effects. */
export async function isTestEmail(org: OrgScope, sendId: string): Promise<boolean> {
  const [step] = await org.sql('select 1 from test_run_steps where organization_id = :org and id = :id', {
    id: sendId,
  });
  return step !== undefined;
}

function emailIssue(detail: Message | null): StoredIssue {
  return {
    code: 'run_failed',
    message: detail ? message('tests.email_failed', { reason: detail }) : message('ended.not_sent'),
    fix: message('tests.email_failed.fix'),
  };
}

/**
 * Opens the wait of a step, by the same rule as for leads. An event that occurred after the previous step had begun its
 * work ends the wait at once.
 * @returns that event; the caller then completes the step
 */
export async function openTestWait(
  tx: Tx,
  step: TestStepRow,
  { eventName, deadline }: { eventName: string; deadline: Date },
): Promise<Columns<'product_events', 'id' | 'data'> | undefined> {
  await lockWaitsOf(tx, step.contact_id, 'open');
  const [event] = await tx.org.sql<Columns<'product_events', 'id' | 'data'>>(
    `with opened as (
       update test_run_steps t set state = 'waiting', event_name = :name, deadline = :deadline, entered_at = coalesce(
         (select coalesce(s.claimed_at, p.started_at) from test_run_steps p left join sends s on s.id = p.id
          where p.test_run_id = t.test_run_id and p.seq = t.seq - 1), t.started_at)
       where t.organization_id = :org and t.id = :id returning t.id, t.test_run_id, t.contact_id, t.entered_at
     )
     select e.id, e.data from opened o
     join product_events e on e.organization_id = :org and e.contact_id = o.contact_id and e.name = :name
       and e.received_at >= o.entered_at and e.occurred_at >= o.entered_at
     where not exists (select from test_run_steps u where u.test_run_id = o.test_run_id and u.event_id = e.id)
     order by e.received_at, e.id limit 1`,
    { id: step.id, name: eventName, deadline },
  );
  if (event) await tx.org.table('test_run_steps').where({ id: step.id }).update({ event_id: event.id });
  return event;
}

/** A test run that an event has resumed. */
interface ResumedTestRun {
  run_id: string;
  campaign_id: string;
  step_id: string;
  contact_id: string;
}

/**
 * Resumes and signals the test runs that wait for an event of a contact, as for leads. Locks their rows in id order, so
 * that concurrent events cannot deadlock.
 */
export async function resumeTestRuns(
  tx: Tx,
  event: Pick<Row<'product_events'>, 'id' | 'contact_id' | 'name' | 'data' | 'occurred_at'>,
): Promise<ResumedTestRun[]> {
  const { contact_id: contactId } = event;
  if (contactId === null) return [];
  const bindings = { contact: contactId, name: event.name, occurred: event.occurred_at, now: tx.now };
  const due = `organization_id = :org and contact_id = :contact and event_name = :name and state = 'waiting'
      and entered_at <= :occurred and deadline > :now and deadline > :occurred`;
  const held = await tx.org.sql<{ id: string }>(
    `select id from test_runs where organization_id = :org and state = 'waiting_for_event'
       and id in (select test_run_id from test_run_steps where ${due}) order by id for no key update`,
    bindings,
  );
  if (held.length === 0) return [];
  const steps = await tx.org.sql<Columns<'test_run_steps', 'id' | 'test_run_id' | 'step_id'> & { campaign_id: string }>(
    `select s.id, s.test_run_id, s.step_id, r.campaign_id from test_run_steps s join test_runs r on r.id = s.test_run_id
     where s.organization_id = :org and s.test_run_id = any(:held::uuid[]) and s.id in (select id from test_run_steps where ${due}) order by s.id`,
    { ...bindings, held: held.map(({ id }) => id) },
  );
  for (const step of steps) {
    await tx.org.table('test_run_steps').where({ id: step.id }).update({ event_id: event.id });
    await settleTestStep(tx, step.id, { state: 'completed', outcome: 'event', output: event.data });
    await tx.org
      .table('test_runs')
      .where({ id: step.test_run_id })
      .update({ state: 'running', waiting_for: null, waiting_until: null, updated_at: tx.now });
    tx.intend(signal(testRunWorkflow, argsOf(tx, step.test_run_id), 'event', { eventId: event.id }));
  }
  return steps.map(({ test_run_id, campaign_id, step_id }) => ({
    run_id: test_run_id,
    campaign_id,
    step_id,
    contact_id: contactId,
  }));
}

/** Signals a cancelled test run after the commit. */
export function signalCancelled(tx: Tx, id: string): void {
  tx.intend(signalOpen(testRunWorkflow, argsOf(tx, id), 'cancelled', { cause: 'person' }));
}

function argsOf(tx: Tx, testRunId: string) {
  return { organizationId: tx.org.organizationId, testRunId };
}
