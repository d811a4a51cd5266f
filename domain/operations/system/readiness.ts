import { across } from '../../../db/across.ts';
import { errorSummary } from '../../../lib/error-report.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reactionStatus, unplacedSeconds, type SubscriberStatus } from '../../platform/events/status.ts';
import { lastLooks } from './reconcile.ts';

interface ReadinessCheck {
  name: string;
  ok: boolean;
  detail: string;
  fix?: string;
  latencyMs?: number;
}

/** An outbox row older than this (seconds) means that no relay carries intents to Temporal. */
const STUCK_SECONDS = 30;
/** Events older than this (seconds) without a position, or that a subscriber has not applied, mean that no process works on them. */
const LAG_SECONDS = 60;

/**
 * The state of the running parts: database, workflow service, live workers, the outbox scheduler, event intake, the
 * fan-out and the reactions. Never throws: what fails is a check that is not ok.
 */
export async function readiness(ctx: Ctx): Promise<{ ready: boolean; checks: ReadinessCheck[] }> {
  const database = await timed(
    'database',
    () => databaseAnswers(ctx),
    'Check PRIMARY_DB and that PostgreSQL is running.',
  );
  const checks = [
    database,
    ...(await workflowChecks(ctx)),
    await timed('scheduler', () => intentsInTime(ctx), 'Start a worker process with the role relay and check its log.'),
    await timed(
      'parked_intents',
      () => noParkedIntents(ctx),
      'See the reasons with `heron outbox`; then `heron outbox retry` or `heron outbox drop`.',
    ),
    await timed('runs', () => missingRuns(ctx), 'See the log of the workers; `heron reconcile` looks again.'),
    intakeCheck(database),
    await timed(
      'event_stream',
      () => eventsPlaced(ctx),
      'Start a worker process with the role fanout and check its log.',
    ),
    ...(await reactionChecks(ctx)),
  ];
  return { ready: checks.every((check) => check.ok), checks };
}

async function databaseAnswers({ db }: Ctx): Promise<string> {
  const [server] = await across(db, 'maintenance').sql<{ readonly: boolean }>(
    `select current_setting('transaction_read_only')::boolean as readonly`,
  );
  if (server!.readonly) throw new Error('PostgreSQL answers and takes no writes: it is a standby, or set read-only');
  return 'PostgreSQL answers';
}

/** Whether Temporal answers, and the workers that it says are there: none where it does not answer. */
async function workflowChecks(ctx: Ctx): Promise<ReadinessCheck[]> {
  let presence: Parameters<typeof workersCheck>[0] = { workers: 0, unserved: [] };
  const service = await timed(
    'workflow_service',
    async () => {
      presence = await ctx.workflows.health();
      return 'Temporal answers';
    },
    'Check TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and that Temporal is running.',
  );
  return [service, workersCheck(presence)];
}

/** What waits behind a parked intent of its workflow is not the relay's fault, and so not counted. */
async function intentsInTime({ db }: Ctx): Promise<string> {
  const [stuck] = await across(db, 'maintenance').sql<{ n: number }>(
    `select count(*) as n from outbox o
     where o.created_at < now() - interval '${STUCK_SECONDS} seconds'
       and not exists (select 1 from outbox p where p.workflow_id = o.workflow_id and p.id <= o.id and p.parked_at is not null)`,
  );
  if (stuck!.n > 0) throw new Error(`${stuck!.n} intents wait for longer than ${STUCK_SECONDS} s`);
  return 'The outbox is carried out in time';
}

async function noParkedIntents({ db }: Ctx): Promise<string> {
  const [parked] = await across(db, 'maintenance').sql<{ count: number }>(
    'select count(*) from outbox where parked_at is not null',
  );
  const { count } = parked!;
  if (count > 0) throw new Error(`${count} ${count === 1 ? 'intent is' : 'intents are'} parked`);
  return 'Temporal took every intent';
}

function intakeCheck(database: ReadinessCheck): ReadinessCheck {
  const name = 'event_intake';
  return database.ok
    ? { name, ok: true, detail: 'Product events are accepted' }
    : { name, ok: false, detail: 'Product events cannot be stored', fix: database.fix! };
}

async function eventsPlaced(ctx: Ctx): Promise<string> {
  const seconds = await unplacedSeconds(ctx);
  if (seconds > LAG_SECONDS) throw new Error(`The oldest event without a position is ${Math.round(seconds)} s old`);
  return 'Events get their position in time';
}

/** Whether subscribers keep up, and whether events are parked. Organizations whose next event fails are counted. */
async function reactionChecks(ctx: Ctx): Promise<ReadinessCheck[]> {
  const list = (say: (each: SubscriberStatus) => string | false): string =>
    all.flatMap((each) => say(each) || []).join(', ');
  let all: SubscriberStatus[] = [];
  return [
    await timed(
      'reactions',
      async () => {
        all = await reactionStatus(ctx);
        const late = list(
          ({ name, lag_seconds: age }) => age > LAG_SECONDS && `${name} is ${Math.round(age)} s behind`,
        );
        if (late) throw new Error(late);
        const failing = list(
          ({ name, failing_organizations: count }) => count > 0 && `${name} fails in ${count} of the organizations`,
        );
        return failing || 'Events are applied in time';
      },
      'Start a worker process with the role reactions and check its log; `heron reactions` tells more.',
    ),
    await timed(
      'parked_events',
      async () => {
        const parked = list(({ name, parked_events: count }) => count > 0 && `${name} has parked ${count}`);
        if (parked) throw new Error(parked);
        return 'No subscriber has given up on an event';
      },
      'See them with `heron reactions`; then `heron reactions replay` or `heron reactions discard`.',
    ),
  ];
}

function workersCheck({ workers, unserved }: { workers: number; unserved: readonly string[] }): ReadinessCheck {
  const name = 'workers';
  if (workers === 0)
    return { name, ok: false, detail: 'No worker is alive', fix: 'Start a worker process with the role temporal.' };
  const alive = `${workers} worker${workers === 1 ? '' : 's'} alive`;
  if (unserved.length === 0) return { name, ok: true, detail: alive };
  return {
    name,
    ok: false,
    detail: `${alive}, none of them for ${unserved.join(', ')}`,
    fix: `Start a worker process with the role temporal, or with ${unserved.join(', ')}.`,
  };
}

/** A search older than this (ms) does not count: the sweep searches every quarter of an hour. */
const STALE_LOOK_MS = 2 * 3_600_000;

/** The result of the last search for missing runs. Right after an installation there is none yet. */
async function missingRuns(ctx: Ctx): Promise<string> {
  const looks = await lastLooks(ctx.db);
  if (looks.length === 0) return 'The first look for missing runs is still to come';
  const oldest = new Date(Math.min(...looks.map(({ at }) => at.getTime())));
  if (ctx.clock.now().getTime() - oldest.getTime() > STALE_LOOK_MS)
    throw new Error(`The last look for missing runs was at ${oldest.toISOString()}`);
  const missing = looks.filter((look) => look.missing > 0).map((look) => `${look.missing} ${look.family}`);
  if (missing.length > 0)
    throw new Error(`Runs were missing at the last look, and were started again: ${missing.join(', ')}`);
  return 'Every run that must be open was open at the last look';
}

async function timed(name: string, probe: () => Promise<string>, fix: string): Promise<ReadinessCheck> {
  const started = performance.now();
  try {
    const detail = await probe();
    return { name, ok: true, detail, latencyMs: Math.round(performance.now() - started) };
  } catch (error) {
    return {
      name,
      ok: false,
      detail: errorSummary(error),
      fix,
      latencyMs: Math.round(performance.now() - started),
    };
  }
}
