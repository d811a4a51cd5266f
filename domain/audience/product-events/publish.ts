import { ProductEvents, type ProductEventRow } from '../../../db/models/product-event.ts';
import { refuseProblems, type Problem } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { signalEvent } from '../../sending/control/signals.ts';
import { lockWaitsOf } from '../../sending/control/waits.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { identifyPerson } from '../people/identify.ts';
import { resumeTestRuns } from '../../sending/control/test-runs.ts';

/** Maximum number of bytes of an event's data, as JSON. */
const MAX_EVENT_DATA_BYTES = 64 * 1024;

/** Maximum time (ms) by which a reporter's clock may be ahead of Heron's. */
const MAX_AHEAD_MS = 60 * 60_000;

/** A reported product event, with exactly one of `email` and `contactId`. */
interface EventReport {
  name: string;
  email?: string | undefined;
  contactId?: string | undefined;
  /**
   * Further identifiers of the same person, which are linked. If another identifier is given, the email need not belong
   * to a contact.
   */
  userId?: string | undefined;
  anonymousId?: string | undefined;
  /** Time of the event. Defaults to now. */
  occurredAt?: Date | undefined;
  data: Record<string, unknown>;
}

/** A lead or test run whose wait the event has ended. */
interface ResumedRun {
  mode: 'live' | 'test';
  /** Id of the step run, or of the test run for a test. */
  run_id: string;
  campaign_id: string;
  step_id: string;
  contact_id: string;
}

interface PublishedEvent {
  event: ProductEventRow;
  resumed: ResumedRun[];
}

/**
 * Stores a product event and ends the contact's waits for it (POST /events). The event and all ended waits commit
 * together, so the response lists exactly these waits. A wait matches if it is open and the event occurred after the
 * contact entered it and before its deadline. The engine then completes the step. A wait that begins later queries for
 * earlier events (`domain/sending/enrollment/wait.ts`). A person without a contact has no waits.
 * @throws AppError event_contact_not_found (404); bad_request for data that cannot be stored, and for an event in the
 * future, which would distort reports until that time
 */
export async function publishEvent(ctx: Ctx, report: EventReport): Promise<PublishedEvent> {
  refuseProblems(eventProblems(report, ctx.clock.now()));
  return transact(ctx, async (tx) => {
    const { personId, contactId } = await identifyPerson(tx, report);
    const occurredAt = report.occurredAt ?? tx.now;
    const event = await tx.org.create(ProductEvents, {
      id: newId(),
      contact_id: contactId,
      person_id: personId,
      name: report.name,
      data: report.data,
      occurred_at: occurredAt,
      received_at: tx.now,
      named_by: await namedBy(tx, report, contactId),
    });
    if (contactId) await lockWaitsOf(tx, contactId, 'publish');
    const waits = contactId ? await resumeWaits(tx, event) : [];
    for (const wait of waits) signalEvent(tx, wait, event.id);
    const tests = contactId ? await resumeTestRuns(tx, event) : [];
    const resumed = [
      ...waits.map((wait) => ({ ...wait, mode: 'live' as const })),
      ...tests.map((test) => ({ ...test, mode: 'test' as const })),
    ];
    tx.emit('custom.event', {
      event_id: event.id,
      name: event.name,
      contact_id: contactId,
      occurred_at: occurredAt.toISOString(),
      received_at: tx.now.toISOString(),
      data: report.data,
    });
    tx.audit({
      action: 'product_event.published',
      entityType: 'product_event',
      entityId: event.id,
      metadata: { name: event.name, matched_waits: resumed.length },
    });
    return { event, resumed };
  });
}

/**
 * Returns the identifier by which the event named its person: contact, email, user_id or anonymous_id. It is stored, so
 * that attributions can be explained.
 */
async function namedBy(tx: Tx, report: EventReport, contactId: string | null): Promise<string> {
  if (report.contactId) return 'contact';
  const linked = report.userId ? 'user_id' : report.anonymousId ? 'anonymous_id' : null;
  if (!linked) return 'email';
  const own = await tx.org.sql('select id from contacts where organization_id = :org and id = :id and email = :email', {
    id: contactId,
    email: report.email?.toLowerCase() ?? null,
  });
  return own.length > 0 ? 'email' : linked;
}

/**
 * Locks waits in the same order everywhere, so that concurrent events cannot deadlock. Skips waits that have ended in
 * the meantime.
 */
function resumeWaits(
  tx: Tx,
  event: ProductEventRow,
): Promise<(Omit<ResumedRun, 'mode'> & { enrollment_id: string })[]> {
  return tx.org.sql(
    `with due as (
       select id from waits
       where organization_id = :org and contact_id = :contact and event_name = :name and state = 'open'
         and entered_at <= :occurred and (deadline is null or (deadline > :now and deadline > :occurred))
       order by id for update
     )
     update waits w set state = 'resumed', event_id = :event, settled_at = :now from due where w.id = due.id
     returning w.step_run_id as run_id, w.enrollment_id, w.campaign_id, w.step_id, w.contact_id`,
    { contact: event.contact_id, name: event.name, event: event.id, occurred: event.occurred_at, now: tx.now },
  );
}

/** Lists problems of an event that its schema does not detect; empty if there are none. */
export function eventProblems(
  { data, occurredAt }: Partial<Pick<EventReport, 'data' | 'occurredAt'>>,
  now: Date,
): Problem[] {
  const problems: Problem[] = [];
  if (data && Buffer.byteLength(JSON.stringify(data)) > MAX_EVENT_DATA_BYTES)
    problems.push({
      path: 'body.data',
      message: message('audience.event_too_large', { kib: MAX_EVENT_DATA_BYTES / 1024 }),
    });
  if (occurredAt && occurredAt.getTime() > now.getTime() + MAX_AHEAD_MS)
    problems.push({ path: 'body.occurred_at', message: message('audience.event_ahead') });
  return problems;
}
