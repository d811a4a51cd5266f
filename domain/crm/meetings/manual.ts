import { AppError, notFound, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { assertUnchanged } from '../../platform/assert-unchanged.ts';
import { getMeeting, type MeetingView } from './read.ts';
import { recordMeeting, type Meeting, type MeetingReport, type MeetingSource } from './record.ts';

const MANUAL: MeetingSource = { source: 'manual', connectionId: null };

/** Details of a meeting entered by a person. */
interface MeetingDetails {
  event_name?: string | undefined;
  scheduled_for?: Date | undefined;
  end_time?: Date | null | undefined;
  join_url?: string | undefined;
  location?: string | undefined;
  /** Status of the meeting. The values `completed` and `no_show` are allowed only for past meetings. */
  status?: 'booked' | 'completed' | 'no_show' | undefined;
}

/** A meeting to log, with a contact's id or the invitee's address. */
interface NewMeeting extends MeetingDetails {
  contact_id?: string | undefined;
  invitee_email?: string | undefined;
  invitee_name?: string | undefined;
  event_name: string;
  scheduled_for: Date;
}

/** Returns a problem if the contact id is unknown in the workspace. */
export async function meetingProblems(ctx: Ctx, given: Pick<NewMeeting, 'contact_id'>): Promise<Problem[]> {
  if (given.contact_id === undefined) return [];
  const contact = await reader(ctx).table('contacts').where({ id: given.contact_id }).first('id');
  return contact ? [] : [{ path: 'body.contact_id', message: message('directory.unknown_contact') }];
}

/**
 * Logs a meeting that was not booked with a connected calendar service. It has the same effects as a booking. Finds the
 * contact by the address, and ends the contact's enrollments in campaigns that stop on a reply. Emits meeting.booked
 * and adds an entry to the contact's log.
 * @throws AppError bad_request as found by {@link meetingProblems}
 */
export async function logMeeting(ctx: Ctx, input: NewMeeting): Promise<MeetingView> {
  return transact(ctx, async (tx) => {
    refuseProblems(await meetingProblems({ ...ctx, trx: tx.trx }, input));
    const contact = input.contact_id
      ? await tx.org.table('contacts').where({ id: input.contact_id }).first('email', 'first_name', 'last_name')
      : undefined;
    const externalEventId = newId();
    await recordMeeting(tx, MANUAL, {
      ...NOTHING,
      externalEventId,
      kind: input.status ?? 'booked',
      occurredAt: tx.now,
      inviteeEmail: contact?.email ?? input.invitee_email ?? '',
      inviteeName: input.invitee_name ?? (contact ? `${contact.first_name} ${contact.last_name}`.trim() : ''),
      eventName: input.event_name,
      scheduledFor: input.scheduled_for,
      endTime: input.end_time ?? null,
      joinUrl: input.join_url ?? '',
      location: input.location ?? '',
    });
    const [row] = await tx.org
      .table('meetings')
      .where({ source: 'manual', external_event_id: externalEventId })
      .select('id');
    tx.audit({ action: 'create', entityType: 'meeting', entityId: row!.id, metadata: { source: 'manual' } });
    return getMeeting({ ...ctx, trx: tx.trx }, row!.id);
  });
}

/** Returns a problem if a change would make the meeting end before it begins. Empty if the meeting does not exist. */
export async function meetingChangeProblems(ctx: Ctx, id: string, given: Times): Promise<Problem[]> {
  const known = isUuid(id) ? await reader(ctx).table('meetings').where({ id, source: 'manual' }).first() : undefined;
  return known ? timeProblems(known, given) : [];
}

type Times = Pick<MeetingDetails, 'scheduled_for' | 'end_time'>;

function timeProblems(known: Pick<Meeting, 'scheduled_for' | 'end_time'>, given: Times): Problem[] {
  if (given.scheduled_for === undefined && given.end_time === undefined) return [];
  const begin = given.scheduled_for ?? known.scheduled_for;
  const end = given.end_time === undefined ? known.end_time : given.end_time;
  return begin && end && end <= begin ? [{ path: 'body.end_time', message: message('crm.meeting_ends_early') }] : [];
}

/**
 * Changes a manually logged meeting. Emits meeting.rescheduled if its time changes.
 * @param options.expectedUpdatedAt the `updated_at` that the caller has seen
 * @throws AppError not_found; bad_request for an end before the beginning; conflict for a provider's meeting, a
 * cancelled one, or a changed `updated_at`
 */
export async function changeMeeting(
  ctx: Ctx,
  id: string,
  given: MeetingDetails,
  { expectedUpdatedAt }: { expectedUpdatedAt?: Date | undefined } = {},
): Promise<MeetingView> {
  return transact(ctx, async (tx) => {
    const known = await lockManual(tx, id);
    if (known.status === 'canceled')
      throw new AppError('conflict', message('crm.meeting_canceled'), { fix: message('crm.meeting_canceled.fix') });
    assertUnchanged('meeting', known.updated_at, expectedUpdatedAt);
    const scheduledFor = given.scheduled_for ?? known.scheduled_for;
    const endTime = given.end_time === undefined ? known.end_time : given.end_time;
    refuseProblems(timeProblems(known, given));
    const isMoved = scheduledFor?.getTime() !== known.scheduled_for?.getTime();
    await recordMeeting(tx, MANUAL, {
      ...reportOf(tx, known),
      kind: given.status ?? (isMoved ? 'rescheduled' : known.status),
      eventName: given.event_name ?? known.event_name,
      scheduledFor,
      endTime,
      joinUrl: given.join_url ?? known.join_url,
      location: given.location ?? known.location,
    });
    tx.audit({ action: 'update', entityType: 'meeting', entityId: id, metadata: { fields: Object.keys(given) } });
    return getMeeting({ ...ctx, trx: tx.trx }, id);
  });
}

/**
 * Cancels a manually logged meeting and emits meeting.canceled. A meeting that is already cancelled is returned
 * unchanged.
 * @throws AppError not_found; conflict for a meeting booked at a provider
 */
export async function cancelMeeting(ctx: Ctx, id: string, reason: string): Promise<MeetingView> {
  return transact(ctx, async (tx) => {
    const known = await lockManual(tx, id);
    if (known.status !== 'canceled') {
      await recordMeeting(tx, MANUAL, { ...reportOf(tx, known), kind: 'canceled', canceledReason: reason });
      tx.audit({ action: 'cancel', entityType: 'meeting', entityId: id });
    }
    return getMeeting({ ...ctx, trx: tx.trx }, id);
  });
}

/**
 * Locks and returns a manually logged meeting. First takes the lock for all such meetings, which {@link recordMeeting}
 * takes too.
 */
async function lockManual(tx: Tx, id: string): Promise<Meeting> {
  await tx.org.lock(`meetings/${tx.org.organizationId}/manual`);
  const [known] = isUuid(id)
    ? await tx.org.sql<Meeting>('select * from meetings where organization_id = :org and id = :id for update', { id })
    : [];
  if (!known) throw notFound('meeting');
  if (known.source !== 'manual')
    throw new AppError('conflict', message('crm.meeting_of_calendar'), { fix: message('crm.meeting_of_calendar.fix') });
  return known;
}

const NOTHING = {
  eventType: '',
  endTime: null,
  joinUrl: '',
  location: '',
  cancelUrl: '',
  rescheduleUrl: '',
  canceledReason: '',
};

/**
 * Converts a stored meeting to a report with the current time. The latest report about a meeting is the valid one, so
 * this report replaces the stored state.
 */
function reportOf(tx: Tx, known: Meeting): MeetingReport {
  return {
    ...NOTHING,
    externalEventId: known.external_event_id,
    kind: known.status,
    occurredAt: new Date(Math.max(tx.now.getTime(), known.news_at.getTime() + 1)),
    inviteeEmail: known.invitee_email,
    inviteeName: known.invitee_name,
    eventName: known.event_name,
    scheduledFor: known.scheduled_for,
    endTime: known.end_time,
    joinUrl: known.join_url,
    location: known.location,
  };
}
