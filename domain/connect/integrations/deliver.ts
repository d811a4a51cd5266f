import { setTimeout as sleep } from 'node:timers/promises';
import { json } from '../../../db/connection.ts';
import { MINUTE_MS } from '../../../lib/clock.ts';
import type { TargetLimits } from '../../../lib/target-limits.ts';
import { message, type Message } from '../../../messages/index.ts';
import type { DeliveryReport } from '../../../workflows/integration-delivery/contract.ts';
import { organizationOf, type Ctx } from '../../platform/kernel/context.ts';
import { singleStatement, reader } from '../../platform/kernel/transact.ts';
import { DELETION_SCHEDULED } from '../../platform/workspace-deletion.ts';
import { retryUntilStored } from '../../platform/kernel/retry-until-stored.ts';
import { openAccount, logRun, recordReauth, type ConnectionRow, type OpenAccount } from './account.ts';
import { claimDeliveries, type Claimed, type Delivery } from './claim.ts';
import { failureReason } from './failure.ts';
import { mappedFields, readMappings } from './mapped.ts';
import {
  RateLimited,
  ReauthRequired,
  Refused,
  type ActionContact,
  type ContactRecord,
  type Provider,
} from './providers/provider.ts';
import { findAction, findProvider } from './registry.ts';
import { withRecord } from './record.ts';
import { settleDelivery, type Outcome } from './settle.ts';

/** Parameters of one delivery iteration. */
interface DeliveryIteration {
  /** Limits the open calls of this process to one provider. */
  limits: TargetLimits;
  signal: AbortSignal;
  /** Progress callback, called with the number of deliveries made so far. */
  reached?: (made: number) => void;
}

/** Maximum number of concurrent calls. Each is for another lane, the ordered queue of one contact. */
const SIDE_BY_SIDE = 8;
/** Duration (ms) after which an iteration ends, so that other connections can make their deliveries. */
const ITERATION_MS = 30_000;
/** Maximum wait (ms) spent inside an iteration. For a longer wait the iteration ends. */
const SHORT_WAIT_MS = 1_500;
/** Interval (ms) at which the workflow of an unknown provider checks if a newer build supports it. */
const UNKNOWN_PROVIDER_MS = 15 * MINUTE_MS;
/** Interval (ms) at which waiting deliveries check if the scheduled deletion of their workspace was cancelled. */
const ENDING_MS = 15 * MINUTE_MS;
/**
 * Maximum time (ms) for which storing an outcome is retried while the database is unreachable. It is shorter than the
 * lease of the lane.
 */
const OUTAGE_RETRY_MS = 10_000;
/** Maximum time (ms) that an iteration waits in the worker for a permit, if the provider is responsive. */
const PATIENCE_MS = 500;

/**
 * Makes the due deliveries of one connection: lanes in parallel, deliveries of a lane in order, at the provider's rate.
 * The result of each delivery is stored separately. If the worker crashes, only deliveries in flight are repeated.
 */
export async function makeDueDeliveries(
  ctx: Ctx,
  connectionId: string,
  turn: DeliveryIteration,
): Promise<DeliveryReport> {
  const connection = await readLive(ctx, connectionId);
  if (!connection) return { kind: 'done', why: 'the account is not connected' };
  const provider = findProvider(connection.provider);
  const wakeIn = (ms: number) => ctx.clock.now().getTime() + ms;
  if (connection.workspace_ends)
    return { kind: 'wait', wakeAt: wakeIn(ENDING_MS), why: 'the deletion of the workspace is scheduled' };
  // Lets the workflow wait for a newer build. If it ended here, the periodic sweep would start it again each time.
  if (!provider)
    return { kind: 'wait', wakeAt: wakeIn(UNKNOWN_PROVIDER_MS), why: 'this build does not know the provider' };
  const permit = await turn.limits.acquireSoon(provider.id, organizationOf(ctx), PATIENCE_MS);
  if ('retryInMs' in permit)
    return { kind: 'wait', wakeAt: wakeIn(permit.retryInMs), why: 'this worker has as many calls open as it may' };
  const tally: Tally = { made: 0, given: 0, error: null, hung: false };
  const startedAt = ctx.clock.now();
  try {
    return await makeUntilIdle(ctx, connection, provider, turn, tally);
  } finally {
    permit.release(tally.hung ? 'hung' : 'answered');
    await logIteration(ctx, connectionId, tally, startedAt);
  }
}

interface Tally {
  made: number;
  given: number;
  error: Message | null;
  hung: boolean;
}

async function makeUntilIdle(
  ctx: Ctx,
  connection: ConnectionRow,
  provider: Provider,
  { signal, reached }: DeliveryIteration,
  tally: Tally,
): Promise<DeliveryReport> {
  const endsAt = performance.now() + ITERATION_MS;
  for (;;) {
    signal.throwIfAborted();
    const claimed = await claimDeliveries(ctx, connection.id, provider.rate, SIDE_BY_SIDE);
    if (claimed.kind === 'empty') return { kind: 'done', why: `${tally.made} made, none is left` };
    if (claimed.kind === 'wait') {
      const inMs = claimed.wakeAt - ctx.clock.now().getTime();
      if (inMs > SHORT_WAIT_MS || performance.now() + inMs > endsAt)
        return { kind: 'wait', wakeAt: claimed.wakeAt, why: claimed.why };
      await sleep(Math.max(5, inMs), undefined, { signal });
      continue;
    }
    const needsPerson = await makeClaimed(ctx, connection, claimed, tally);
    reached?.(tally.made);
    if (needsPerson) return { kind: 'done', why: 'the account has to be connected again' };
    if (performance.now() > endsAt) return { kind: 'more', why: `${tally.made} made` };
  }
}

/** Makes the claimed deliveries. Returns true if the account must be connected again. */
async function makeClaimed(
  ctx: Ctx,
  connection: ConnectionRow,
  { lease, deliveries }: Claimed,
  tally: Tally,
): Promise<boolean> {
  // Reads the connection again for every group, because tokens may have been refreshed or the account reconnected.
  const current = (await readLive(ctx, connection.id)) ?? connection;
  const account = openAccount(ctx, current);
  const { provider } = account;
  const [contacts, mappings] = await Promise.all([
    readContacts(ctx, deliveries),
    readMappings(reader(ctx), current, provider),
  ]);
  let needsPerson = false;
  await Promise.all(
    deliveries.map(async (delivery) => {
      const contact = delivery.contact_id ? (contacts.get(delivery.contact_id) ?? null) : null;
      const fields = contact ? mappedFields(mappings, contact, delivery.subscription_id) : {};
      const outcome = await attempt(ctx, { account, delivery, contact, fields });
      if (outcome.kind === 'done') tally.made += 1;
      else if ('said' in outcome) tally.error = outcome.said;
      if (outcome.kind === 'refused') tally.given += 1;
      if (outcome.kind === 'unavailable') tally.hung = true;
      if (outcome.kind === 'reauth') needsPerson = true;
      await retryUntilStored(ctx, () => settleDelivery(ctx, delivery, lease, outcome), { forMs: OUTAGE_RETRY_MS });
    }),
  );
  return needsPerson;
}

interface Work {
  account: OpenAccount;
  delivery: Delivery;
  contact: ActionContact | null;
  fields: Record<string, string>;
}

/** Performs one action at its provider. Converts every error to an outcome. */
async function attempt(ctx: Ctx, { account, delivery, contact, fields }: Work): Promise<Outcome> {
  const { provider, call } = account;
  const action = findAction(provider, delivery.action);
  const { action: name } = delivery;
  if (!action)
    return { kind: 'refused', said: message('connect.action_gone', { provider: provider.name, action: name }) };
  const config = action.config.safeParse(delivery.config);
  if (!config.success) return { kind: 'refused', said: message('connect.config_misfit') };
  if (action.contact === 'required' && !contact) return { kind: 'refused', said: message('connect.needs_contact') };
  try {
    const perform = (record: ContactRecord) =>
      action.perform(call, {
        config: config.data,
        deliveryId: delivery.id,
        trigger: delivery.trigger_event,
        data: delivery.data,
        occurredAt: delivery.occurred_at,
        contact,
        record,
        fields,
        isTest: false,
      });
    if (contact && provider.push) await withRecord(ctx, delivery.connection_id, contact.id, perform);
    else await perform({});
    return { kind: 'done' };
  } catch (error) {
    return outcomeOf(ctx, error, account);
  }
}

async function outcomeOf(ctx: Ctx, error: unknown, account: OpenAccount): Promise<Outcome> {
  if (error instanceof RateLimited) return { kind: 'limited', retryAfterMs: error.retryAfterMs };
  if (error instanceof Refused) return { kind: 'refused', said: error.said };
  if (error instanceof ReauthRequired) {
    const needsPerson = await recordReauth(ctx, account.refused(error), error.said);
    return needsPerson ? { kind: 'reauth' } : { kind: 'limited', retryAfterMs: SHORT_WAIT_MS };
  }
  // After an unexpected answer or an internal error this delivery fails, and the others continue.
  return { kind: 'unavailable', said: failureReason(ctx, error, account.provider) };
}

/** Returns the connection if deliveries to it are allowed, otherwise undefined. */
async function readLive(ctx: Ctx, id: string): Promise<(ConnectionRow & { workspace_ends: boolean }) | undefined> {
  const [row] = await reader(ctx).sql<ConnectionRow & { workspace_ends: boolean }>(
    `select *, ${DELETION_SCHEDULED} as workspace_ends from integration_connections where organization_id = :org and id = :id and status in ('connected', 'degraded')`,
    { id },
  );
  return row;
}

async function readContacts(ctx: Ctx, deliveries: readonly Delivery[]): Promise<Map<string, ActionContact>> {
  const ids = deliveries.flatMap(({ contact_id: id }) => id ?? []);
  if (ids.length === 0) return new Map();
  const rows = await reader(ctx).sql<ActionContact>(
    `select id, email, first_name, last_name, company, phone, custom_fields from contacts
     where organization_id = :org and id = any(cast(:ids as uuid[]))`,
    { ids },
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Writes a summary of the iteration into the connection's log, and stores the time of the last delivery. */
async function logIteration(
  ctx: Ctx,
  connectionId: string,
  { made, given, error }: Tally,
  startedAt: Date,
): Promise<void> {
  if (made === 0 && error === null) return;
  const detail = error !== null && given > 0 ? message('connect.given_up', { given, reason: error }) : error;
  await logRun(ctx, connectionId, {
    kind: 'dispatch',
    status: error === null ? 'success' : 'error',
    detail,
    records: made,
    startedAt,
  });
  await singleStatement(ctx).sql(
    `update integration_connections set last_synced_at = case when :made > 0 then cast(:now as timestamptz) else last_synced_at end,
       last_error = coalesce(cast(:error as jsonb), last_error), last_error_at = case when cast(:error as jsonb) is null then last_error_at else :now end
     where organization_id = :org and id = :id`,
    { id: connectionId, made, now: ctx.clock.now(), error: error && json(error) },
  );
}
