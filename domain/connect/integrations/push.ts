import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, badRequest, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { message, type Message } from '../../../messages/index.ts';
import { may } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { compileFilters, type ContactFilters } from '../../directory/contact-filters.ts';
import { openAccount, logRun, recordReauth } from './account.ts';
import { pauseCalls, acquireCall } from './claim.ts';
import { readConnection } from './connections.ts';
import { mappedFields, readMappings, type Mapping } from './mapped.ts';
import { withRecord } from './record.ts';
import { failureReason } from './failure.ts';
import {
  RateLimited,
  ReauthRequired,
  type ActionContact,
  type Provider,
  type ProviderCall,
} from './providers/provider.ts';

/** Selects the contacts to write to a provider: by id, or all that match the filters except some. */
export interface PushSelection {
  contact_ids?: readonly string[] | undefined;
  all?: boolean | undefined;
  filters?: ContactFilters | undefined;
  exclude?: readonly string[] | undefined;
}

/** Result of writing contacts to a provider. `email` is set only if the caller may read contacts. */
interface PushResult {
  provider: string;
  pushed: number;
  failed: number;
  results: { contact_id: string; email?: string; ok: boolean; error?: Message }[];
}

export const MAX_PUSHED = 500;
/** Maximum duration (ms) of a push of contacts to a provider. Contacts not written by that time fail. */
const PUSH_MS = 110_000;
const SIDE_BY_SIDE = 4;
/** Maximum wait (ms) until a provider's rate limit allows the next call. */
const LONGEST_WAIT_MS = 20_000;

/**
 * Writes contacts to a CRM now, each to its known record. Without one, writes to the record with the same address. A
 * repeated push therefore creates no second record. A contact that the provider rejects fails without affecting the
 * others.
 * @throws AppError not_found; bad_request (the provider accepts no contacts, nothing selected); selection_too_large;
 * conflict when the account needs reauthorization
 */
export async function pushContacts(ctx: Ctx, connectionId: string, selection: PushSelection): Promise<PushResult> {
  const connection = await readConnection(ctx, connectionId);
  if (connection.status === 'reauth_required') throw reconnect(connection.last_error);
  const { provider, call, refused } = openAccount(ctx, connection);
  if (!provider.push)
    throw badRequest(message('connect.takes_no_contacts', { provider: provider.name }), [
      { path: 'params.id', message: message('connect.connection_of', { provider: provider.name }) },
    ]);
  const contacts = await selectContacts(ctx, selection);
  const mappings = await readMappings(reader(ctx), connection, provider);
  const startedAt = ctx.clock.now();
  const results: PushResult['results'] = [];
  try {
    await pushAll(ctx, { connectionId: connection.id, provider, call, mappings, contacts }, results);
  } catch (error) {
    if (!(error instanceof ReauthRequired)) throw error;
    await recordReauth(ctx, refused(error), error.said);
    await logPush(ctx, connection.id, results, startedAt, error.said);
    throw reconnect(error.said);
  }
  await logPush(ctx, connection.id, results, startedAt);
  const pushed = results.filter(({ ok }) => ok).length;
  const order = new Map(contacts.map(({ id }, index) => [id, index]));
  results.sort((a, b) => order.get(a.contact_id)! - order.get(b.contact_id)!);
  return { provider: provider.id, pushed, failed: results.length - pushed, results };
}

function reconnect(detail: Message | null): AppError {
  return new AppError('conflict', message('connect.reconnect'), { fix: detail ?? message('connect.reconnect.fix') });
}

/** Lists problems of the selected ids, except those of their format. */
export async function selectionProblems(ctx: Ctx, { all, contact_ids: ids = [] }: PushSelection): Promise<Problem[]> {
  if (all) return [];
  const path = 'body.contact_ids';
  if (ids.length === 0) return [{ path, message: message('directory.nothing_selected') }];
  const known = await reader(ctx).table('contacts').whereIn('id', ids.filter(isUuid)).first('id');
  return known ? [] : [{ path, message: message('directory.no_contact_named') }];
}

async function selectContacts(ctx: Ctx, selection: PushSelection): Promise<ActionContact[]> {
  const columns = 'c.id, c.email, c.first_name, c.last_name, c.company, c.phone, c.custom_fields';
  if (!selection.all) {
    refuseProblems(await selectionProblems(ctx, selection));
    const ids = [...new Set(selection.contact_ids?.map((id) => id.toLowerCase()))];
    if (ids.length > MAX_PUSHED) throw tooLarge();
    return reader(ctx).sql<ActionContact>(
      `select ${columns} from contacts c join unnest(cast(:ids as uuid[])) with ordinality as asked(id, place) on asked.id = c.id
       where c.organization_id = :org order by asked.place`,
      { ids: ids.filter(isUuid) },
    );
  }
  const where = compileFilters(selection.filters ?? {}, ctx.clock.now());
  const exclude = (selection.exclude ?? []).filter(isUuid);
  if (exclude.length > 0)
    where.add(`not exists (select 1 from unnest(${where.bind(exclude, 'uuid[]')}) as out(id) where out.id = c.id)`);
  const rows = await reader(ctx).sql<ActionContact>(
    `select ${columns} from contacts c where c.organization_id = :org and ${where.all()} order by c.id limit :limit`,
    { ...where.bindings, limit: MAX_PUSHED + 1 },
  );
  if (rows.length > MAX_PUSHED) throw tooLarge();
  if (rows.length === 0) refuseProblems([{ path: 'body.filters', message: message('directory.no_contact_matched') }]);
  return rows;
}

function tooLarge(): AppError {
  return new AppError('selection_too_large', message('connect.push_too_large', { max: MAX_PUSHED }), {
    fix: message('connect.push_too_large.fix'),
  });
}

interface Push {
  connectionId: string;
  provider: Provider;
  call: ProviderCall;
  mappings: readonly Mapping[];
  contacts: readonly ActionContact[];
}

/** Writes the contacts, several in parallel, and collects the results. @throws ReauthRequired */
async function pushAll(ctx: Ctx, push: Push, results: PushResult['results']): Promise<void> {
  const queue = [...push.contacts];
  const endsAt = performance.now() + PUSH_MS;
  const showsEmail = may(ctx.actor, ['READ_CONTACTS'], ['view_contacts']);
  const work = async () => {
    for (let contact = queue.shift(); contact; contact = queue.shift()) {
      const error = await pushOne(ctx, push, contact, endsAt).catch((thrown: unknown) => {
        queue.length = 0;
        throw thrown;
      });
      results.push({
        contact_id: contact.id,
        ...(showsEmail ? { email: contact.email } : {}),
        ok: error === undefined,
        ...(error === undefined ? {} : { error }),
      });
    }
  };
  const settled = await Promise.allSettled(Array.from({ length: SIDE_BY_SIDE }, work));
  const failed = settled.find((each) => each.status === 'rejected');
  if (failed) throw failed.reason;
}

/** Writes one contact. Returns the reason of a failure, or undefined on success. @throws ReauthRequired */
async function pushOne(ctx: Ctx, push: Push, contact: ActionContact, endsAt: number): Promise<Message | undefined> {
  const { provider, call, mappings, connectionId } = push;
  for (;;) {
    const waitMs = await acquireCall(ctx, connectionId, provider.rate);
    if (waitMs > LONGEST_WAIT_MS) return message('connect.push_paused', { provider: provider.name });
    if (performance.now() + waitMs > endsAt) return message('connect.push_no_time');
    if (waitMs > 0) {
      await sleep(waitMs);
      continue;
    }
    try {
      await withRecord(ctx, connectionId, contact.id, (record) =>
        provider.push!.writeContact(call, { email: contact.email, record }, mappedFields(mappings, contact, null)),
      );
      return undefined;
    } catch (error) {
      if (error instanceof RateLimited) {
        // Pauses all calls of the connection, for the other contacts and for concurrent deliveries.
        if (await transact(ctx, (tx) => pauseCalls(tx, connectionId, error.retryAfterMs))) continue;
        return error.said;
      }
      if (error instanceof ReauthRequired) throw error;
      // An unexpected answer also fails only this contact.
      return failureReason(ctx, error, provider);
    }
  }
}

function logPush(
  ctx: Ctx,
  id: string,
  results: PushResult['results'],
  startedAt: Date,
  error?: Message,
): Promise<void> {
  const failed = results.filter(({ ok }) => !ok);
  const [first] = failed;
  const detail =
    error ?? (first ? message('connect.push_failed', { failed: failed.length, reason: first.error ?? '' }) : null);
  return logRun(ctx, id, {
    kind: 'push',
    status: detail === null ? 'success' : 'error',
    detail,
    records: results.length - failed.length,
    startedAt,
  });
}
