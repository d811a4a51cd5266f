/** Messages of the operations area. */
export const operations = {
  // Messages about administrators, the outbox and dead letters.
  'admin.no_account': 'No account has the address {email}',
  'admin.last': 'The installation needs at least one administrator',
  'outbox.not_parked': 'These intents are not parked, and nothing was changed: {ids}',
  'outbox.not_parked.fix': '`heron outbox` lists the parked intents.',
  'task.not_uncertain': 'The task cannot count as sent',
  'field.only_uncertain_email': 'must be again for a task that is not of type uncertain_email',
  'task.replayed': 'The task has been replayed already',
  'task.replayed.fix': 'GET /v1/tasks/dlq?status=pending lists those that have not.',
  'task.not_uncertain_any_more': 'The email is not uncertain any more',

  // Results of the readiness checks.
  'health.stalled': 'Background work of this process makes no progress: {loops}',
  'health.stalled.fix': 'Restart the process. Its log shows what it was waiting for.',
  'ready.database': 'PostgreSQL answers',
  'ready.database_read_only': 'PostgreSQL answers and accepts no writes: it is a standby, or set read-only',
  'ready.database.fix': 'Check PRIMARY_DB and that PostgreSQL is running.',
  'ready.temporal': 'Temporal answers',
  'ready.temporal.fix': 'Check TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and that Temporal is running.',
  'ready.workers_none': 'No worker is alive',
  'ready.workers_none.fix': 'Start a worker process with the role temporal.',
  'ready.workers': '{count, plural, one {# worker} other {# workers}} alive',
  'ready.workers_unserved': '{count, plural, one {# worker} other {# workers}} alive, none of them for {roles}',
  'ready.workers_unserved.fix': 'Start a worker process with the role temporal, or with {roles}.',
  'ready.clocks': "The workers' clocks agree with PostgreSQL",
  'ready.clocks_differ': "A worker's clock differs from that of PostgreSQL by {seconds, number} s",
  'ready.clocks_wrong':
    '{count, plural, one {# worker accepts} other {# workers accept}} no work: the clock differs from that of PostgreSQL by up to {seconds, number} s',
  'ready.clocks.fix':
    'Set the clock of the machine and check its time service. The worker continues automatically when the clock is right.',
  'ready.scheduler': 'The outbox is processed in time',
  'ready.scheduler_late':
    '{count, plural, one {# intent waits} other {# intents wait}} for longer than {seconds, number} s',
  'ready.scheduler.fix': 'Start a worker process with the role relay and check its log.',
  'ready.intents': 'Temporal has accepted every intent',
  'ready.intents_parked': '{count, plural, one {# intent is} other {# intents are}} parked',
  'ready.intents.fix':
    '`heron outbox` shows the reasons. The relay retries parked intents automatically; `heron outbox retry` does so at once, and `heron outbox drop` discards one.',
  'ready.runs': 'Every run that must be open was open at the last check',
  'ready.runs_unchecked': 'The first check for missing runs is still to come',
  'ready.runs_stale': 'The last check for missing runs was on {at, date, moment} (UTC)',
  'ready.runs_missing': 'Runs were missing at the last check, and were started again: {families}',
  'ready.runs.fix': 'See the log of the workers; `heron reconcile` checks again.',
  'ready.failing_runs': 'No run is stuck because of failing workflow tasks',
  'ready.failing_runs_some': 'Runs are stuck because their workflow tasks fail: {ids}',
  'ready.failing_runs.fix':
    'Read the error of the failing task in the Temporal UI. A build that can handle it continues the run by itself; otherwise terminate the run, and maintenance opens it again within 15 minutes.',
  'run.kept_failing': 'blocked: it kept failing ({kind})',
  'ready.intake': 'Product events are accepted',
  'ready.intake_down': 'Product events cannot be stored',
  'ready.stream': 'Events get their stream position in time',
  'ready.stream_late': 'The oldest event without a stream position is {seconds, number} s old',
  'ready.stream.fix': 'Start a worker process with the role fanout and check its log.',
  'ready.reactions': 'Subscribers keep up with events',
  'ready.reactions_late': '{subscriber} is {seconds, number} s behind',
  'ready.reactions_failing': '{subscriber} fails in {count, plural, one {# organization} other {# organizations}}',
  'ready.reactions.fix':
    'Start a worker process with the role reactions and check its log; `heron reactions` shows more.',
  'ready.parked': 'No event is parked',
  'ready.parked_some': '{subscriber} has parked {count, plural, one {# event} other {# events}}',
  'ready.parked.fix':
    'See them with `heron reactions`; then run `heron reactions replay` or `heron reactions discard`.',

  // Errors of parts of the installation.
  'part.status': '{url} answers {status, number}',
  'part.silent': 'No answer within {seconds, number} s',
  'part.nats': 'NATS (NATS_URL): {error}',
  'part.no_issuer': '{url} names no issuer',
  'part.issuer': '{url} names {issuer}',
  'part.no_keys': 'none',
  'part.unmarked_place': 'PostgreSQL, or a folder that no worker has marked',
} as const;
