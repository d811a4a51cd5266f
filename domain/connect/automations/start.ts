import { setImmediate } from 'node:timers/promises';
import { json } from '../../../db/connection.ts';
import type { Columns } from '../../../db/rows.ts';
import { newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { start } from '../../../temporal/dispatch.ts';
import { automationWorkflow } from '../../../workflows/automation/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import type { EventData } from '../../platform/kernel/event-payloads.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { runRights } from '../../approvals/automation-rights.ts';
import { addDeadLetter, AUTOMATION_LOOP } from '../../platform/dead-letters.ts';
import type { Triggered } from '../triggers/read.ts';
import type { AutomationRow } from './automations.ts';
import { startRefusal } from './start-refusal.ts';
import { spendBudget } from './budget.ts';
import { matchesFilter } from './filter.ts';
import { announceFailure, executeReadyNodes, type Ended } from './execute-ready-nodes.ts';
import { MAX_AUTOMATION_RUN_HOPS, toWaiting, type AutomationRunState } from './state.ts';
import { findContacts } from './values.ts';
import { CALLED } from './validate.ts';

/**
 * A possible start of runs: an event with its triggers, or a request by a campaign step or a node for one automation.
 */
export type RunTrigger = { hops: number } & (
  | {
      kind: 'trigger';
      eventId: string;
      triggered: readonly Triggered[];
      /**
       * Id of the reply, if earlier events concerned the same reply. An automation that has run for this reply does not
       * run again.
       */
      replyId?: string;
    }
  | { kind: 'request'; request: EventData<'automation.requested'> }
);

type Automation = Pick<
  AutomationRow,
  'id' | 'name' | 'enabled' | 'trigger_event' | 'filter' | 'graph' | 'author_rights'
>;

interface Wanted {
  automation: Automation;
  cause: string;
  trigger: string;
  data: Record<string, unknown>;
  contactId: string | null;
  hops: number;
  /** Rights of the run that requests this one. Null for an event or a campaign step. */
  callerRights: readonly string[] | null;
  /** Id of the reply; see {@link RunTrigger}. */
  replyId?: string;
  /** True if the hourly budget of runs started by other runs is used up. */
  isTooMany?: boolean;
}

/**
 * Starts the runs of events in their order: one per event and matching automation, and one per request. Nodes that can
 * be executed now are executed in the caller's transaction. A run that waits or calls another system continues in a
 * workflow, which is started after the commit.
 */
export async function startAutomationRuns(tx: Tx, ctx: Ctx, occasions: readonly RunTrigger[]): Promise<void> {
  const wanted = await withinBudget(
    tx,
    await withoutRun(tx, [
      ...(await matchingAutomations(tx, occasions)),
      ...(await requestedAutomations(tx, occasions)),
    ]),
  );
  if (wanted.length === 0) return;
  const contacts = await findContacts(
    tx.org,
    wanted.flatMap(({ contactId }) => (contactId ? [contactId] : [])),
    { lock: true },
  );
  const runs: { run: AutomationRunState; cause: string; ended: Ended }[] = [];
  for (const group of byHops(wanted))
    // One transaction stores the events of all runs in a group.
    await transact({ ...ctx, trx: tx.trx, hops: group[0]!.hops + 1 }, async (own) => {
      for (const each of group) {
        const contact = (each.contactId && contacts.get(each.contactId)) || null;
        const run = toRun(each, contact);
        // Yields to the event loop, because evaluating conditions may take a while without a query. Other work of the
        // process and the transaction's timeout can then run.
        await setImmediate();
        runs.push({ run, cause: each.cause, ended: await begin(own, ctx, run, each) });
      }
    });
  await storeRuns(tx, runs);
  for (const { run, ended } of runs)
    if (!ended) tx.intend(start(automationWorkflow, { organizationId: tx.org.organizationId, runId: run.id }));
}

/** Groups adjacent runs with the same hop count. */
function byHops(wanted: readonly Wanted[]): Wanted[][] {
  const groups: Wanted[][] = [];
  for (const each of wanted) {
    const last = groups.at(-1);
    if (last?.[0]?.hops === each.hops) last.push(each);
    else groups.push([each]);
  }
  return groups;
}

/**
 * Limits runs started by other runs to the workspace's budget. Above the budget, one run per automation is stored with
 * `isTooMany`: it reports the failure and executes no node.
 */
async function withinBudget(tx: Tx, wanted: Wanted[]): Promise<Wanted[]> {
  if (wanted.length === 0) return [];
  const led = wanted.filter(({ hops }) => hops > 0).length;
  let room = await spendBudget(tx, { first: wanted.length - led, led });
  const told = new Set<string>();
  return wanted.flatMap((each) => {
    if (each.hops === 0) return [each];
    room -= 1;
    if (room >= 0) return [each];
    if (told.has(each.automation.id)) return [];
    told.add(each.automation.id);
    return [{ ...each, isTooMany: true }];
  });
}

async function begin(
  tx: Tx,
  ctx: Ctx,
  run: AutomationRunState,
  { automation, callerRights, isTooMany }: Wanted,
): Promise<Ended> {
  if (!automation.enabled) return { status: 'error', detail: message('connect.run_off') };
  // The rights are checked again, because the automation may have changed since the requesting node checked them.
  const borrowed = callerRights && startRefusal(callerRights, automation.graph);
  if (borrowed) {
    announceFailure(tx, run, borrowed);
    return { status: 'error', detail: borrowed };
  }
  if (run.hops < MAX_AUTOMATION_RUN_HOPS && !isTooMany) return executeReadyNodes(tx, ctx, run);
  const detail = isTooMany ? message('connect.run_too_many') : message('connect.run_loop', { hops: run.hops });
  announceFailure(tx, run, detail, { loop: true });
  await addDeadLetter(tx, {
    taskType: AUTOMATION_LOOP,
    taskId: run.automationId,
    payload: { automation_id: run.automationId, automation_run_id: run.id },
    error: detail,
    attempts: 1,
    maxAttempts: 1,
    nextRetryAt: null,
  });
  return { status: 'error', detail };
}

/**
 * Finds the automations whose trigger and filter match the events, and locks them for share. A concurrent disabling of
 * an automation waits for the lock, and then also ends the runs that begin here.
 */
async function matchingAutomations(tx: Tx, occasions: readonly RunTrigger[]): Promise<Wanted[]> {
  const events = occasions.filter((occasion) => occasion.kind === 'trigger');
  const triggers = [...new Set(events.flatMap(({ triggered }) => triggered.map(({ trigger }) => trigger)))];
  if (triggers.length === 0) return [];
  const automations = await tx.org.sql<Automation>(
    `select id, name, enabled, trigger_event, filter, graph, author_rights from automations
     where organization_id = :org and enabled and trigger_event = any(cast(:triggers as text[])) order by id for share`,
    { triggers },
  );
  if (automations.length === 0) return [];
  return events.flatMap(({ eventId, triggered, replyId, hops }) =>
    triggered.flatMap(({ trigger, data, contactId }) =>
      automations
        .filter((automation) => automation.trigger_event === trigger && matchesFilter(automation.filter, data))
        .map((automation) => ({
          automation,
          cause: `event/${eventId}`,
          trigger,
          data,
          contactId,
          hops,
          callerRights: null,
          ...(replyId ? { replyId } : {}),
        })),
    ),
  );
}

/**
 * Finds the automations requested by a campaign step or by a node of another run. A run requested by another run gets
 * that run's data.
 */
async function requestedAutomations(tx: Tx, occasions: readonly RunTrigger[]): Promise<Wanted[]> {
  const asked = occasions.filter((occasion) => occasion.kind === 'request');
  if (asked.length === 0) return [];
  const automations = await tx.org.sql<Automation>(
    `select id, name, enabled, trigger_event, filter, graph, author_rights from automations
     where organization_id = :org and id = any(cast(:ids as uuid[])) order by id for share`,
    { ids: asked.map(({ request }) => request.automation_id) },
  );
  const callers = await tx.org.sql<Columns<'automation_runs', 'id' | 'trigger_event' | 'data' | 'rights'>>(
    'select id, trigger_event, data, rights from automation_runs where organization_id = :org and id = any(cast(:ids as uuid[]))',
    { ids: asked.flatMap(({ request }) => (request.run_id ? [request.run_id] : [])) },
  );
  return asked.flatMap(({ request, hops }): Wanted[] => {
    const automation = automations.find(({ id }) => id === request.automation_id.toLowerCase());
    if (!automation) return [];
    const { cause, contact_id: contactId } = request;
    const caller = callers.find(({ id }) => id === request.run_id);
    if (caller) {
      const { trigger_event: trigger, data: given, rights } = caller;
      return [{ automation, cause, trigger, data: given, contactId, hops, callerRights: rights ?? [] }];
    }
    const { campaign_id, step_id, contact_email } = request;
    const data = { campaign_id, step_id, contact_id: contactId, contact_email };
    // The rights of a deleted run are unknown, so the requested run gets none.
    return [{ automation, cause, trigger: CALLED, data, contactId, hops, callerRights: request.run_id ? [] : null }];
  });
}

/**
 * Drops runs that exist already. Therefore neither a repeated event nor the correction of an already processed reply
 * starts a second run.
 */
async function withoutRun(tx: Tx, wanted: readonly Wanted[]): Promise<Wanted[]> {
  if (wanted.length === 0) return [];
  const there = await tx.org.sql<{ automation_id: string; cause: string }>(
    `with w as materialized (
       select * from unnest(cast(:automations as uuid[]), cast(:causes as text[]), cast(:contacts as uuid[]), cast(:replies as text[]))
         as w(automation_id, cause, contact_id, reply_id)
     )
     select w.automation_id, w.cause from w join automation_runs r on r.automation_id = w.automation_id and r.cause = w.cause and r.organization_id = :org
     union all
     select w.automation_id, w.cause from w join automation_runs r on r.contact_id = w.contact_id and r.automation_id = w.automation_id
       and r.data ->> 'email_id' = w.reply_id and r.organization_id = :org
     where w.reply_id is not null`,
    {
      automations: wanted.map(({ automation }) => automation.id),
      causes: wanted.map(({ cause }) => cause),
      contacts: wanted.map(({ contactId }) => contactId),
      replies: wanted.map(({ replyId }) => replyId ?? null),
    },
  );
  const seen = new Set(there.map((run) => `${run.automation_id} ${run.cause}`));
  return wanted.filter(({ automation, cause }) => {
    const key = `${automation.id} ${cause}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function toRun(
  { automation, trigger, data, hops, callerRights }: Wanted,
  contact: AutomationRunState['contact'],
): AutomationRunState {
  return {
    id: newId(),
    automationId: automation.id,
    automationName: automation.name,
    graph: automation.graph,
    trigger,
    data,
    contact,
    results: [],
    waiting: toWaiting(null),
    hops,
    rights: runRights(automation.author_rights, callerRights),
  };
}

async function storeRuns(
  tx: Tx,
  runs: readonly { run: AutomationRunState; cause: string; ended: Ended }[],
): Promise<void> {
  await tx.org.sql(
    `insert into automation_runs (id, organization_id, automation_id, cause, trigger_event, contact_id, status, data, node_results, error_detail, hops,
       graph, waiting, rights, started_at, finished_at)
     select r.id, :org, r.automation_id, r.cause, r.trigger_event, r.contact_id, r.status, cast(r.data as jsonb), cast(r.results as jsonb), cast(r.detail as jsonb), r.hops,
       cast(r.graph as jsonb), cast(r.waiting as jsonb), cast(r.rights as text[]), :now, case when r.status = 'running' then null else cast(:now as timestamptz) end
     from unnest(cast(:ids as uuid[]), cast(:automations as uuid[]), cast(:causes as text[]), cast(:triggers as text[]), cast(:contacts as uuid[]),
       cast(:statuses as text[]), cast(:payloads as text[]), cast(:results as text[]), cast(:details as text[]), cast(:hops as int[]),
       cast(:graphs as text[]), cast(:waitings as text[]), cast(:rights as text[]))
       as r(id, automation_id, cause, trigger_event, contact_id, status, data, results, detail, hops, graph, waiting, rights)`,
    {
      now: tx.now,
      ids: runs.map(({ run }) => run.id),
      automations: runs.map(({ run }) => run.automationId),
      causes: runs.map(({ cause }) => cause),
      triggers: runs.map(({ run }) => run.trigger),
      contacts: runs.map(({ run }) => run.contact?.id ?? null),
      statuses: runs.map(({ ended }) => ended?.status ?? 'running'),
      payloads: runs.map(({ run }) => json(run.data)),
      results: runs.map(({ run }) => json(run.results)),
      details: runs.map(({ ended }) => (ended?.detail ? json(ended.detail) : null)),
      hops: runs.map(({ run }) => run.hops),
      graphs: runs.map(({ run, ended }) => (ended ? null : json(run.graph))),
      waitings: runs.map(({ run, ended }) => (ended ? null : json(run.waiting))),
      // The rights are names defined by Heron, so the array literal needs no quotes.
      rights: runs.map(({ run }) => `{${run.rights.join(',')}}`),
    },
  );
}
