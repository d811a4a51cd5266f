import type { RunQuery } from '../../platform/expected-runs.ts';

const UNDELIVERED = `status in ('pending', 'in_flight')`;

/**
 * The batches, an endpoint's own among them, that have something to deliver. For a page the index leads from each batch to
 * the next, past its deliveries. The recursion makes them in the order of their ids, and only as many as the limit takes.
 * @param args columns with the arguments of the contract
 * @param which condition that tells the batches of the contract from the others
 */
export function undeliveredBatches(args: string, which: string): RunQuery {
  return {
    rows: `select distinct batch_id as position, ${args}
     from webhook_deliveries
     where batch_id is not null and ${UNDELIVERED} and ${which}`,
    key: 'batch_id',
    pageSql: `with recursive batches as (
    (select batch_id, endpoint_id from webhook_deliveries
     where batch_id > cast(:after as uuid) and ${UNDELIVERED} order by batch_id limit 1)
    union all
    select n.batch_id, n.endpoint_id from batches b cross join lateral (
      select batch_id, endpoint_id from webhook_deliveries
      where batch_id > b.batch_id and ${UNDELIVERED} order by batch_id limit 1
    ) n
  )
  select batch_id as position, ${args} from batches where ${which} limit :limit`,
  };
}
