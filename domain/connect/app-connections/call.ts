import { json } from '../../../db/connection.ts';
import type { StoredIssue } from '../../../db/json-columns.ts';
import { EgressError } from '../../../lib/egress/index.ts';
import type { Permit, TargetLimits } from '../../../lib/target-limits.ts';
import { message } from '../../../messages/index.ts';
import { branchesInSuspense, factsAfter, matchingBranch } from '../../sending/campaign/graph.ts';
import { logCampaign } from '../../sending/campaign/log.ts';
import { POSSIBLY_SENT } from '../../sending/enrollment/snapshot.ts';
import { organizationOf, type Ctx } from '../../platform/kernel/context.ts';
import { CALL_IS_FREE, CALL_RECHECK_MS, callClaimMs, CLAIM_CALL } from '../../platform/kernel/call-claim.ts';
import { reader, singleStatement, transact, type Tx } from '../../platform/kernel/transact.ts';
import { effectiveSettings } from '../../sending/campaign/outreach-settings.ts';
import { actionBody, InputsTooLarge, readActionCall, type ActionCall } from './action-call.ts';
import { readAnswer, readFailure, type Answer } from './answer.ts';
import { actionUrl } from './base-url.ts';
import { openSecret } from './connections.ts';
import { sendSigned } from './signed-request.ts';
import { render } from '../../../messages/render.ts';

/**
 * Maximum time (ms) that a call waits in the worker for a permit, if the app is responsive. After that the call is
 * retried later.
 */
export const PERMIT_WAIT_MS = 500;

/** The result of one call. `retry`: call again later. `stale`: the step run no longer waits for an answer. */
export type CallResult =
  | { outcome: 'success' | 'error' | 'stale'; detail?: string }
  /** `retryInMs`: delay (ms) before the next call. */
  | { outcome: 'retry'; detail: string; retryInMs: number };

/**
 * First and longest delay (ms) between failed calls. Each failed call doubles the delay. Waits for a free permit do not
 * count as failed calls.
 */
const RETRY = { first: 2_000, longest: 300_000 };

/**
 * Result without a call. `busy`: the app has the maximum number of open calls. `under_way`: the call of another attempt
 * may be in progress. No attempt is counted. Call again after `retryInMs`.
 */
export interface AppBusy {
  outcome: 'busy' | 'under_way';
  retryInMs: number;
}

/** States of a step run that waits for the app's answer. */
const CALLED = ['running', 'waiting'] as const;

type Failure = Extract<Answer, { ok: false }>;

/**
 * Calls the customer's app for the app_action step of a contact, and stores the answer as `.App.<output_key>`. Calling
 * again is safe: the app gets the same event id, and answers after the first stored one are ignored. A temporary
 * failure is retried until task_reliability.max_attempts. After the last retry or a permanent failure, the step run
 * takes the branch for outcome `error`. Without such a branch the step run is blocked until a person retries it.
 * @param limits limits for the calls that this process has open with one app connection
 */
export async function callApp(ctx: Ctx, stepRunId: string, limits: TargetLimits): Promise<CallResult | AppBusy> {
  const call = await readActionCall(reader(ctx), stepRunId, ctx.clock.now());
  if (!call) return { outcome: 'stale' };
  const { connection } = call;
  const attempts = call.attempts + 1;
  if (!connection) return storeFailure(ctx, call, attempts, NO_CONNECTION);
  const permit = await limits.acquireSoon(connection.id, organizationOf(ctx), PERMIT_WAIT_MS);
  if ('retryInMs' in permit) return { outcome: 'busy', retryInMs: permit.retryInMs };
  if (!(await claimCall(ctx, stepRunId))) {
    permit.release('unused');
    return { outcome: 'under_way', retryInMs: CALL_RECHECK_MS };
  }
  const answer = await askApp(ctx, call, connection, permit);
  if (answer.ok) return storeAnswer(ctx, call, attempts, answer.output);
  const { task_reliability: reliability } = await effectiveSettings(reader(ctx), call.campaign.id);
  const limit = reliability.enabled ? reliability.max_attempts : 1;
  if (answer.retryable && attempts < limit) return storeRetry(ctx, call, attempts, answer);
  return storeFailure(ctx, call, attempts, answer);
}

/**
 * Claims the call, and stores the time of the first call to the app. Returns false if another attempt may be in
 * progress.
 */
async function claimCall(ctx: Ctx, stepRunId: string): Promise<boolean> {
  const rows = await singleStatement(ctx).sql(
    `update step_runs set ${CLAIM_CALL}, called_at = coalesce(called_at, :now)
     where organization_id = :org and id = :id and state = any(:states) and ${CALL_IS_FREE} returning id`,
    {
      id: stepRunId,
      states: [...CALLED],
      now: ctx.clock.now(),
      claimMs: callClaimMs(ctx.config.APP_ACTION_TIMEOUT_MS),
    },
  );
  return rows.length > 0;
}

/** Converts a failed call into the issue stored with its step. */
export function issueOf({ said, fix }: Failure): StoredIssue {
  return { code: 'app_action_failed', message: said, fix };
}

export const NO_CONNECTION: Failure = {
  ok: false,
  retryable: false,
  said: message('connect.app_gone'),
  fix: message('connect.app_gone.fix'),
};

/** Calls the app with a permit, and releases the permit as soon as the app has answered or failed. */
export async function askApp(
  ctx: Ctx,
  call: ActionCall,
  connection: NonNullable<ActionCall['connection']>,
  permit: Permit,
): Promise<Answer> {
  let result: 'answered' | 'hung' | 'unused' = 'unused';
  try {
    const response = await sendSigned(ctx, {
      event: 'app.action',
      eventId: call.runId,
      url: actionUrl(connection.base_url, call.action.path),
      secret: openSecret(ctx, connection),
      body: actionBody(call, ctx.clock.now()),
      timeoutMs: ctx.config.APP_ACTION_TIMEOUT_MS,
    });
    result = 'answered';
    return readAnswer(response);
  } catch (error) {
    if (error instanceof InputsTooLarge) {
      return {
        ok: false,
        retryable: false,
        said: message('connect.app_inputs_too_large'),
        fix: message('connect.app_inputs_too_large.fix'),
      };
    }
    if (!(error instanceof EgressError)) throw error;
    result = error.kind === 'timeout' ? 'hung' : 'answered';
    return readFailure(error);
  } finally {
    permit.release(result);
  }
}

async function storeAnswer(
  ctx: Ctx,
  call: ActionCall,
  attempts: number,
  output: Record<string, unknown>,
): Promise<CallResult> {
  const key = call.action.output_key;
  return settle(ctx, call, async (tx) => {
    const settled = await closeRun(tx, call.runId, {
      state: 'completed',
      outcome: 'success',
      attempts,
      output: json(output),
      output_key: key,
      detail: null,
      error: null,
      completed_at: tx.now,
    });
    if (!settled) return undefined;
    await tx.org.sql(
      `update enrollments set app_values = app_values || jsonb_build_object(cast(:key as text), cast(:output as jsonb)), last_activity_at = :now
       where organization_id = :org and id = :id`,
      { id: call.enrollment.id, key, output: json(output), now: tx.now },
    );
    return { outcome: 'success' };
  });
}

async function storeRetry(ctx: Ctx, call: ActionCall, attempts: number, failure: Failure): Promise<CallResult> {
  return settle(ctx, call, async (tx) => {
    const settled = await closeRun(tx, call.runId, { attempts, detail: json(failure.said) });
    const retryInMs = Math.min(RETRY.first * 2 ** (attempts - 1), RETRY.longest);
    return settled ? { outcome: 'retry', detail: render(failure.said), retryInMs } : undefined;
  });
}

async function storeFailure(ctx: Ctx, call: ActionCall, attempts: number, failure: Failure): Promise<CallResult> {
  const error = json(issueOf(failure));
  return settle(ctx, call, async (tx) => {
    if (await routesErrors(tx, call)) {
      const settled = await closeRun(tx, call.runId, {
        state: 'completed',
        outcome: 'error',
        attempts,
        error,
        detail: json(failure.said),
        completed_at: tx.now,
      });
      return settled ? { outcome: 'error', detail: render(failure.said) } : undefined;
    }
    const settled = await closeRun(tx, call.runId, {
      state: 'blocked',
      attempts,
      error,
      detail: json(failure.said),
    });
    if (!settled) return undefined;
    await tx.org
      .table('enrollments')
      .where({ id: call.enrollment.id })
      .update({ blocked: true, last_activity_at: tx.now });
    await logCampaign(
      tx,
      call.campaign.id,
      'step_blocked',
      message('log.app_not_called', { step: call.step.name, reason: failure.said }),
      {
        step_id: call.step.id,
        contact_id: call.contact.id,
        step_run_id: call.runId,
        code: 'app_action_failed',
      },
    );
    return { outcome: 'error', detail: render(failure.said) };
  });
}

/**
 * Returns true if the step has a branch for a failing app. A branch that also depends on an open, click or reply is
 * included only if an email was sent. The workflow evaluates such a branch when the next step is due.
 */
async function routesErrors(tx: Tx, { step, action, contact, enrollment }: ActionCall): Promise<boolean> {
  const facts = { ...factsAfter('error'), contact: { ...contact }, app: enrollment.app_values };
  const routed = { ...step, action };
  if (matchingBranch(routed, facts)) return true;
  if (branchesInSuspense(routed, facts).length === 0) return false;
  const [left] = await tx.org.sql(
    `select 1 from sends where organization_id = :org and enrollment_id = :id and state = any(:left) limit 1`,
    { id: enrollment.id, left: [...POSSIBLY_SENT] },
  );
  return left !== undefined;
}

/**
 * Runs `work` with the enrollment locked, as every writer does. Therefore `work` can check whether the step still waits
 * for the call, and a late result changes nothing.
 */
function settle(ctx: Ctx, call: ActionCall, work: (tx: Tx) => Promise<CallResult | undefined>): Promise<CallResult> {
  return transact(ctx, async (tx) => {
    const [held] = await tx.org.sql(
      `select id from enrollments where organization_id = :org and id = :id and state = 'active' for update`,
      { id: call.enrollment.id },
    );
    return (held ? await work(tx) : undefined) ?? { outcome: 'stale' };
  });
}

/** Updates the step run if it still waits for its answer. Returns false otherwise. */
async function closeRun(tx: Tx, runId: string, changes: Record<string, unknown>): Promise<boolean> {
  return (
    ((await tx.org
      .table('step_runs')
      .where({ id: runId })
      .whereIn('state', CALLED)
      .update({ ...changes, call_until: null })) as unknown as number) > 0
  );
}
