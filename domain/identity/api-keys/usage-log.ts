import { across } from '../../../db/across.ts';
import { newId } from '../../../lib/ids.ts';
import type { Deps } from '../../platform/kernel/context.ts';

/** Time (ms) for which a new record waits in memory, so that several records can be written together. */
const GATHER_MS = 1_000;
/** Wait (ms) after the database has refused a batch. */
const RETRY_MS = 5_000;
const BATCH = 1_000;
/**
 * Maximum number of records kept in memory while the database cannot be reached. They need about 25 MB if all user
 * agents are very long.
 */
const MAX_WAITING = 20_000;

/** One answered request of an API key. */
export interface KeyRequest {
  apiKeyId: string;
  /** Route template, such as /v1/contacts/:id. */
  endpoint: string;
  method: string;
  ipAddress: string;
  userAgent: string;
  status: number;
  durationMs: number;
  /** Id in the X-Request-Id header of the answer. */
  requestId: string;
}

/** Records the use of API keys asynchronously, so that requests do not wait. Create one per process. */
export interface UsageLog {
  /** Records a request in memory. It is written within about a second. */
  record(request: KeyRequest): void;
  /**
   * Writes all recorded requests; for shutdown.
   * @throws Error of the database; the records are then kept
   */
  flush(): Promise<void>;
}

interface UsageLogOptions {
  /**
   * Called with the number of dropped records. The oldest are dropped if more than `maxWaiting` could not be written.
   */
  onDropped?: (count: number) => void;
  maxWaiting?: number;
}

type Noted = KeyRequest & { id: string; at: Date };

/** Creates the log of one process. */
export function createUsageLog(
  { db, clock, log }: Pick<Deps, 'db' | 'clock' | 'log'>,
  options: UsageLogOptions = {},
): UsageLog {
  const { maxWaiting = MAX_WAITING, onDropped } = options;
  let waiting: Noted[] = [];
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failing = false;

  function arm(ms: number): void {
    if (timer || writing || waiting.length === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      write().catch((error: unknown) =>
        log.warn({ err: error, waiting: waiting.length }, 'usage of API keys not written yet'),
      );
    }, ms);
    timer.unref();
  }

  function trim(): void {
    if (waiting.length <= maxWaiting) return;
    // Drops a tenth of the records at once, because removing single records from the front of a long list would slow
    // down every request.
    const dropped = waiting.length - Math.floor(maxWaiting * 0.9);
    waiting = waiting.slice(dropped);
    onDropped?.(dropped);
    log.warn({ dropped }, 'usage of API keys given up: the database has been away too long');
  }

  /** Writes the waiting records in batches. A call during another one returns the promise of that call. */
  function write(): Promise<void> {
    writing ??= writeBatches().finally(() => {
      writing = undefined;
      arm(failing ? RETRY_MS : GATHER_MS);
    });
    return writing;
  }

  async function writeBatches(): Promise<void> {
    let left = waiting.length;
    while (left > 0) {
      const batch = waiting.slice(0, Math.min(left, BATCH));
      waiting = waiting.slice(batch.length);
      left -= batch.length;
      try {
        await store(db, batch);
        failing = false;
      } catch (error) {
        failing = true;
        waiting = batch.concat(waiting);
        trim();
        throw error;
      }
    }
  }

  return {
    record(request) {
      waiting.push({ ...request, id: newId(), at: clock.now() });
      trim();
      arm(GATHER_MS);
    },
    async flush() {
      clearTimeout(timer);
      timer = undefined;
      await writing?.catch(() => {});
      await write();
    },
  };
}

/**
 * Stores records and adds them to their minutes, in one statement. Only newly stored records are counted, so requests
 * are not counted twice if a batch is repeated after a lost database response. Minutes are written in key order, so
 * that processes cannot deadlock. Records of a key that was deleted in the meantime are dropped.
 */
async function store(db: Deps['db'], batch: readonly Noted[]): Promise<void> {
  const column = <T>(pick: (record: Noted) => T): T[] => batch.map(pick);
  await across(db, 'engine').sql(
    `with stored as (
       insert into api_key_usage_logs (id, organization_id, api_key_id, endpoint, method, ip_address, user_agent, response_code, response_time_ms, request_id, created_at)
       select v.id, k.organization_id, k.id, v.endpoint, v.method, v.ip, v.agent, v.code, v.ms, v.request, v.at
       from unnest(:ids::uuid[], :keys::uuid[], :endpoints::text[], :methods::text[], :ips::text[], :agents::text[], :codes::int[], :ms::int[], :requests::text[], :at::timestamptz[])
         as v (id, api_key_id, endpoint, method, ip, agent, code, ms, request, at)
       join api_keys k on k.id = v.api_key_id
       on conflict (id) do nothing
       returning organization_id, api_key_id, endpoint, method, response_code, response_time_ms, created_at
     )
     insert into api_key_usage_minutes as m
       (organization_id, api_key_id, minute, endpoint, method, count, success, client_errors, server_errors, latency_ms, last_at)
     select organization_id, api_key_id, date_trunc('minute', created_at), endpoint, method, count(*),
       count(*) filter (where response_code < 400), count(*) filter (where response_code between 400 and 499),
       count(*) filter (where response_code >= 500), sum(response_time_ms), max(created_at)
     from stored
     group by 1, 2, 3, 4, 5
     order by 2, 3, 4, 5
     on conflict (api_key_id, minute, endpoint, method) do update set
       count = m.count + excluded.count, success = m.success + excluded.success, client_errors = m.client_errors + excluded.client_errors,
       server_errors = m.server_errors + excluded.server_errors, latency_ms = m.latency_ms + excluded.latency_ms,
       last_at = greatest(m.last_at, excluded.last_at)`,
    {
      ids: column((record) => record.id),
      keys: column((record) => record.apiKeyId),
      endpoints: column((record) => record.endpoint),
      methods: column((record) => record.method),
      ips: column((record) => record.ipAddress),
      agents: column((record) => record.userAgent),
      codes: column((record) => record.status),
      ms: column((record) => Math.round(record.durationMs)),
      requests: column((record) => record.requestId),
      at: column((record) => record.at),
    },
  );
}
