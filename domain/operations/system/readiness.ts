import { across } from '../../../db/across.ts';
import type { Columns } from '../../../db/rows.ts';
import { DRIFT_LIMIT_MS, DRIFT_WARNING_MS } from '../../../lib/clock.ts';
import { errorSummary } from '../../../lib/error-report.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reactionStatus, unplacedSeconds, type SubscriberStatus } from '../../platform/events/status.ts';
import { ALIVE_MS } from '../instance/fleet.ts';
import { lastSearches } from './reconcile.ts';
import { message, joined, type Message } from '../../../messages/index.ts';
import { externalText } from '../../platform/external-text.ts';

interface ReadinessCheck {
  name: string;
  ok: boolean;
  /** State of the checked part, or its error. */
  detail: Message;
  fix?: Message;
  latencyMs?: number;
}

/** Age (seconds) of an outbox row above which the relay is reported as stopped. */
const STUCK_SECONDS = 30;
/** Age (seconds) of waiting events above which their processing is reported as stopped. */
const LAG_SECONDS = 60;

/**
 * Checks the parts of a running installation: database, Temporal, live workers and their clocks, outbox relay, missing
 * and failing workflows, event intake, fan-out and subscribers. Never throws: an error is returned as a failed check.
 */
export async function readiness(ctx: Ctx): Promise<{ ready: boolean; checks: ReadinessCheck[] }> {
  const database = await timed('database', () => databaseAnswers(ctx), message('ready.database.fix'));
  const checks = [
    database,
    ...(await workflowChecks(ctx)),
    await timed('clocks', () => clocksAgree(ctx), message('ready.clocks.fix')),
    await timed('scheduler', () => intentsInTime(ctx), message('ready.scheduler.fix')),
    await timed('parked_intents', () => noParkedIntents(ctx), message('ready.intents.fix')),
    await timed('runs', () => missingRuns(ctx), message('ready.runs.fix')),
    await timed('failing_runs', () => noFailingRuns(ctx), message('ready.failing_runs.fix')),
    intakeCheck(database),
    await timed('event_stream', () => eventsPlaced(ctx), message('ready.stream.fix')),
    ...(await reactionChecks(ctx)),
  ];
  return { ready: checks.every((check) => check.ok), checks };
}

/** Thrown by a check if the part does not work. The message describes the problem. */
class NotReady extends Error {
  readonly said: Message;

  constructor(said: Message) {
    super(said.code);
    this.said = said;
  }
}

async function databaseAnswers({ db }: Ctx): Promise<Message> {
  const [server] = await across(db, 'maintenance').sql<{ readonly: boolean }>(
    `select current_setting('transaction_read_only')::boolean as readonly`,
  );
  if (server!.readonly) throw new NotReady(message('ready.database_read_only'));
  return message('ready.database');
}

/** Checks whether Temporal responds, and which workers it reports. If it does not respond, no worker is reported. */
async function workflowChecks(ctx: Ctx): Promise<ReadinessCheck[]> {
  let presence: Parameters<typeof workersCheck>[0] = { workers: 0, unserved: [] };
  const service = await timed(
    'workflow_service',
    async () => {
      presence = await ctx.workflows.health();
      return message('ready.temporal');
    },
    message('ready.temporal.fix'),
  );
  return [service, workersCheck(presence)];
}

/**
 * Checks whether the clocks of the workers' machines agree with PostgreSQL's clock. A worker whose clock is wrong stops
 * polling for tasks.
 */
async function clocksAgree({ db }: Ctx): Promise<Message> {
  const workers = await across(db, 'maintenance').sql<Columns<'workers', 'clock_ahead_ms'>>(
    `select clock_ahead_ms from workers where seen_at > now() - ${ALIVE_MS} * interval '1 millisecond'`,
  );
  const driftsMs = workers.map(({ clock_ahead_ms: ahead }) => Math.abs(ahead));
  const count = driftsMs.filter((drift) => drift >= DRIFT_LIMIT_MS).length;
  const maxMs = Math.max(0, ...driftsMs);
  const seconds = Math.round(maxMs / 1000);
  if (count > 0) throw new NotReady(message('ready.clocks_wrong', { count, seconds }));
  return maxMs < DRIFT_WARNING_MS ? message('ready.clocks') : message('ready.clocks_differ', { seconds });
}

/**
 * Checks the age of waiting intents in the outbox. Ignores intents that wait for a parked intent of the same workflow,
 * because the relay is not the cause.
 */
async function intentsInTime({ db }: Ctx): Promise<Message> {
  const [stuck] = await across(db, 'maintenance').sql<{ n: number }>(
    `select count(*) as n from outbox o
     where o.created_at < now() - interval '${STUCK_SECONDS} seconds'
       and not exists (select 1 from outbox p where p.workflow_id = o.workflow_id and p.id <= o.id and p.parked_at is not null)`,
  );
  if (stuck!.n > 0) throw new NotReady(message('ready.scheduler_late', { count: stuck!.n, seconds: STUCK_SECONDS }));
  return message('ready.scheduler');
}

async function noParkedIntents({ db }: Ctx): Promise<Message> {
  const [parked] = await across(db, 'maintenance').sql<{ count: number }>(
    'select count(*) from outbox where parked_at is not null',
  );
  const { count } = parked!;
  if (count > 0) throw new NotReady(message('ready.intents_parked', { count }));
  return message('ready.intents');
}

function intakeCheck(database: ReadinessCheck): ReadinessCheck {
  const name = 'event_intake';
  return database.ok
    ? { name, ok: true, detail: message('ready.intake') }
    : { name, ok: false, detail: message('ready.intake_down'), fix: database.fix! };
}

async function eventsPlaced(ctx: Ctx): Promise<Message> {
  const seconds = await unplacedSeconds(ctx);
  if (seconds > LAG_SECONDS) throw new NotReady(message('ready.stream_late', { seconds: Math.round(seconds) }));
  return message('ready.stream');
}

/**
 * Returns two checks: no event subscriber is late, and no event is parked. The first check also counts organizations
 * whose next event fails.
 */
async function reactionChecks(ctx: Ctx): Promise<ReadinessCheck[]> {
  const list = (say: (each: SubscriberStatus) => Message | false): Message[] => all.flatMap((each) => say(each) || []);
  let all: SubscriberStatus[] = [];
  return [
    await timed(
      'reactions',
      async () => {
        all = await reactionStatus(ctx);
        const late = list(
          ({ name: subscriber, lag_seconds: age }) =>
            age > LAG_SECONDS && message('ready.reactions_late', { subscriber, seconds: Math.round(age) }),
        );
        if (late.length > 0) throw new NotReady(joined(late));
        const failing = list(
          ({ name: subscriber, failing_organizations: count }) =>
            count > 0 && message('ready.reactions_failing', { subscriber, count }),
        );
        return failing.length > 0 ? joined(failing) : message('ready.reactions');
      },
      message('ready.reactions.fix'),
    ),
    await timed(
      'parked_events',
      async () => {
        const parked = list(
          ({ name: subscriber, parked_events: count }) =>
            count > 0 && message('ready.parked_some', { subscriber, count }),
        );
        if (parked.length > 0) throw new NotReady(joined(parked));
        return message('ready.parked');
      },
      message('ready.parked.fix'),
    ),
  ];
}

function workersCheck({ workers, unserved }: { workers: number; unserved: readonly string[] }): ReadinessCheck {
  const name = 'workers';
  if (workers === 0)
    return { name, ok: false, detail: message('ready.workers_none'), fix: message('ready.workers_none.fix') };
  if (unserved.length === 0) return { name, ok: true, detail: message('ready.workers', { count: workers }) };
  return {
    name,
    ok: false,
    detail: message('ready.workers_unserved', { count: workers, roles: unserved }),
    fix: message('ready.workers_unserved.fix', { roles: unserved }),
  };
}

/** Maximum age (ms) of the last search for missing workflows. The sweep searches every 15 minutes. */
const STALE_SEARCH_MS = 2 * 3_600_000;

/** Checks the result of the last search for missing workflows. A new installation has no result yet. */
async function missingRuns(ctx: Ctx): Promise<Message> {
  const looks = await lastSearches(ctx.db);
  if (looks.length === 0) return message('ready.runs_unchecked');
  const oldest = new Date(Math.min(...looks.map(({ at }) => at.getTime())));
  if (ctx.clock.now().getTime() - oldest.getTime() > STALE_SEARCH_MS)
    throw new NotReady(message('ready.runs_stale', { at: oldest.toISOString() }));
  const missing = looks.filter((look) => look.missing > 0).map((look) => `${look.missing} ${look.family}`);
  if (missing.length > 0) throw new NotReady(message('ready.runs_missing', { families: missing }));
  return message('ready.runs');
}

/** Maximum number of failing workflows that are named. */
const NAMED_RUNS = 5;

async function noFailingRuns({ workflows }: Ctx): Promise<Message> {
  const ids = await workflows.failingRuns(NAMED_RUNS);
  if (ids.length > 0) throw new NotReady(message('ready.failing_runs_some', { ids: [...ids] }));
  return message('ready.failing_runs');
}

async function timed(name: string, probe: () => Promise<Message>, fix: Message): Promise<ReadinessCheck> {
  const started = performance.now();
  try {
    const detail = await probe();
    return { name, ok: true, detail, latencyMs: Math.round(performance.now() - started) };
  } catch (error) {
    return {
      name,
      ok: false,
      detail: error instanceof NotReady ? error.said : externalText(errorSummary(error)),
      fix,
      latencyMs: Math.round(performance.now() - started),
    };
  }
}
