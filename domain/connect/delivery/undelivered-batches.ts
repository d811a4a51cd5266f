import type { RunQuery } from '../../platform/expected-runs.ts';

const UNDELIVERED = `status in ('pending', 'in_flight', 'failed')`;

/**
 * Builds the query for batches with unsettled deliveries, including batches of single endpoints. The recursive query
 * reads one index entry per batch and skips the other deliveries. The query returns batches in id order and stops at
 * the limit.
 * @param args columns with the arguments of the workflow
 * @param which SQL condition that selects the batches
 */
export function undeliveredBatches(args: string, which: string): RunQuery {
  return {
    rows: `select distinct ${args}
     from webhook_deliveries
     where batch_id is not null and ${UNDELIVERED} and ${which}`,
    keys: ['batch_id'],
    pageSql: `with recursive batches as (
    (select batch_id, endpoint_id from webhook_deliveries
     where batch_id > cast(:after as uuid) and ${UNDELIVERED} order by batch_id limit 1)
    union all
    select n.batch_id, n.endpoint_id from batches b cross join lateral (
      select batch_id, endpoint_id from webhook_deliveries
      where batch_id > b.batch_id and ${UNDELIVERED} order by batch_id limit 1
    ) n
  )
  select ${args} from batches where ${which} limit :limit`,
  };
}
