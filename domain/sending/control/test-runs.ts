import { json } from '../../../db/connection.ts';
import type { StoredIssue } from '../../../db/json-columns.ts';
import type { Columns, Row } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { signal, signalOpen } from '../../../temporal/dispatch.ts';
import { testRunWorkflow } from '../../../workflows/test-run/contract.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { message, type Message } from '../../../messages/index.ts';

/** One prospect on the way through a campaign's steps, for a test. */
export type TestRunRow = Row<'test_runs'>;
/** One step that a test run has met. */
export type TestStepRow = Row<'test_run_steps'>;

/** The states of a test run that has not finished. */
export const OPEN_TEST_RUN = ['running', 'waiting_for_event'] as const;

/** What a step of a test run came to. */
export interface TestStepResult {
  state: Extract<TestStepRow['state'], 'completed' | 'skipped' | 'failed'>;
  outcome: string;
  detail?: Message | null;
  error?: StoredIssue;
  /** Stored with the step, and as `.App.<output_key>` where it has one. */
  output?: Record<string, unknown>;
  attempts?: number;
}

/** Locks a test run, before its steps and emails, in the order of every writer. Undefined when there is no such run. */
export async function lockTestRun(tx: Tx, id: string): Promise<TestRunRow | undefined> {
  const [run] = await tx.org.sql<TestRunRow>(
    'select * from test_runs where organization_id = :org and id = :id for no key update',
    { id },
  );
  return run;
}

/**
 * Locks the test run of a step, or of the email that has its id. Undefined when the id is none of a test, as that of the
 * email of a campaign.
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
 * Records what a step came to, its run locked, when it is still open.
 * @returns false when it was settled before
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
 * Records what became of the email of a test run: its step is over, and the next one replies in its conversation. Nothing else
 * follows, whatever the answer was: a test suppresses nobody and counts nowhere but for its mailbox.
 * @returns false when the email is none of a test
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

/** The conversation after an email, as for leads: one that may have left lends its subject, and nothing replies to it. */
const CONVERSATIONS = {
  sent: `coalesce(s.conversation, r.conversation)`,
  uncertain: `case when jsonb_array_length(r.conversation -> 'messageIds') > 0 then r.conversation
             else jsonb_build_object('subject', coalesce(s.conversation ->> 'subject', ''), 'messageIds', '[]'::jsonb) end`,
};

/** Whether an email is that of a test run that has not finished. */
export async function isTestEmailWanted(org: OrgScope, sendId: string): Promise<boolean> {
  const [open] = await org.sql(
    `select 1 from test_run_steps s join test_runs r on r.id = s.test_run_id
     where s.organization_id = :org and s.id = :id and r.state = 'running'`,
    { id: sendId },
  );
  return open !== undefined;
}

/** Whether an email is that of a test run: what comes back of it has no consequences. */
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

/** A test run that an event has resumed. */
interface ResumedTestRun {
  run_id: string;
  campaign_id: string;
  step_id: string;
  contact_id: string;
}

/**
 * Resumes the test runs that wait for an event of a contact, and signals them: the same rules as for leads. Their rows are
 * locked in one order, so that concurrent events cannot deadlock.
 */
export async function resumeTestRuns(
  tx: Tx,
  event: Pick<Row<'product_events'>, 'id' | 'contact_id' | 'name' | 'data' | 'occurred_at'>,
): Promise<ResumedTestRun[]> {
  const { contact_id: contactId } = event;
  if (contactId === null) return [];
  const bindings = { contact: contactId, name: event.name, occurred: event.occurred_at, now: tx.now };
  const due = `organization_id = :org and contact_id = :contact and event_name = :name and state = 'waiting'
      and started_at <= :occurred and deadline > :now and deadline > :occurred`;
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

/** The run looks again after the commit, because it was cancelled. */
export function signalCancelled(tx: Tx, id: string): void {
  tx.intend(signalOpen(testRunWorkflow, argsOf(tx, id), 'cancelled', { cause: 'person' }));
}

function argsOf(tx: Tx, testRunId: string) {
  return { organizationId: tx.org.organizationId, testRunId };
}
