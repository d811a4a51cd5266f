import type { Row } from '../../../db/rows.ts';
import { addressKey } from '../../../lib/address.ts';
import { newId } from '../../../lib/ids.ts';
import { recordActivities, type ActivityType } from '../activities.ts';
import { finishEnrollments } from '../../sending/control/finish.ts';
import { storableText } from '../../platform/storable-text.ts';
import type { EventData } from '../../platform/kernel/event-payloads.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { message } from '../../../messages/index.ts';

export type Meeting = Row<'meetings'>;

/** State of a meeting as reported by its provider, or by the person who logs it. Missing texts are empty. */
export interface MeetingReport {
  /** Id of the meeting in its source. It is the same in all reports about the meeting. */
  externalEventId: string;
  /** Id, in the same source, of the meeting that this one replaces. */
  replaces?: string | undefined;
  kind: Meeting['status'];
  /**
   * Time of the change, by the clock of the source. The report with the latest time is the valid one, even if an
   * earlier one arrives after it.
   */
  occurredAt: Date;
  inviteeEmail: string;
  inviteeName: string;
  eventName: string;
  eventType: string;
  scheduledFor: Date | null;
  endTime: Date | null;
  joinUrl: string;
  location: string;
  cancelUrl: string;
  rescheduleUrl: string;
  canceledReason: string;
}

/** Origin of a report about a meeting. */
export interface MeetingSource {
  source: 'calendly' | 'cal_com' | 'manual';
  connectionId: string | null;
}

/** Effect of a report. `stale` means that this report or a later one was already stored. */
type MeetingChange = 'booked' | 'rescheduled' | 'canceled' | 'updated' | 'stale';

/** Ranks of statuses. If two reports have the same time, the one with the higher rank is the valid one. */
const RANK: Record<Meeting['status'], number> = { booked: 0, rescheduled: 1, completed: 2, no_show: 2, canceled: 3 };
const MAX_TEXT = 500;
const MAX_URL = 2_000;

/**
 * Stores a report about a meeting. Reports may arrive in any order and repeatedly. The one with the latest time is the
 * valid one. The contact is found by the address of the invitee. A booked or rescheduled meeting ends that contact's
 * enrollments in campaigns that stop on a reply. Every change emits an event and adds an entry to the contact's log.
 */
export async function recordMeeting(tx: Tx, from: MeetingSource, given: MeetingReport): Promise<MeetingChange> {
  const news = withStorableIds(given);
  // Locks all meetings of the source together, because reports about a meeting that was rescheduled several times have
  // different ids.
  await tx.org.lock(`meetings/${tx.org.organizationId}/${from.source}`);
  const [known, replaced] = await findMeetings(tx, from, news);
  if (!known) return addMeeting(tx, from, news);
  const isFormer = known.external_event_id !== news.externalEventId && known.external_event_id !== news.replaces;
  if (news.replaces && known.external_event_id !== news.replaces) await absorb(tx, known, news.replaces, replaced);
  if (isFormer) return 'stale';
  const age = news.occurredAt.getTime() - known.news_at.getTime();
  const isLater = age > 0 || (age === 0 && RANK[news.kind] > RANK[known.status]);
  const isReplaced = known.external_event_id !== news.externalEventId && age >= 0;
  return isLater || isReplaced ? changeMeeting(tx, known, news) : 'stale';
}

/** Converts the ids of a report to the form in which they are stored, so that queries find them. */
function withStorableIds(news: MeetingReport): MeetingReport {
  return {
    ...news,
    externalEventId: storableText(news.externalEventId, MAX_TEXT),
    replaces: news.replaces === undefined ? undefined : storableText(news.replaces, MAX_TEXT),
  };
}

/**
 * Locks and returns the meetings to which a report may refer. The first one has the report's id, had it before it was
 * rescheduled, or is the replaced meeting. The second one is the replaced meeting, if it is a different row.
 */
async function findMeetings(tx: Tx, { source }: MeetingSource, news: MeetingReport): Promise<Meeting[]> {
  return tx.org.sql<Meeting>(
    `select * from meetings where organization_id = :org and source = :source
       and (external_event_id = :external or external_event_id = :replaces or replaced_ids @> array[cast(:external as text)])
     order by external_event_id = :external desc, external_event_id = :replaces, id limit 2 for update`,
    { source, external: news.externalEventId, replaces: news.replaces ?? '' },
  );
}

/**
 * Merges the replaced meeting into its successor. This is needed if the first report about the successor did not name
 * the replaced meeting.
 */
async function absorb(tx: Tx, known: Meeting, replaces: string, replaced: Meeting | undefined): Promise<void> {
  if (known.replaced_ids.includes(replaces)) return;
  const ids = [...known.replaced_ids, ...(replaced?.replaced_ids ?? []), replaces];
  if (replaced) await tx.org.table('meetings').where({ id: replaced.id }).delete();
  await tx.org.sql(
    `update meetings set replaced_ids = cast(:ids as text[]), created_at = least(created_at, :created) where organization_id = :org and id = :id`,
    { id: known.id, ids, created: replaced?.created_at ?? known.created_at },
  );
}

async function addMeeting(tx: Tx, from: MeetingSource, news: MeetingReport): Promise<MeetingChange> {
  const contact = await contactOf(tx, news.inviteeEmail);
  const [row] = await tx.org.sql<Meeting>(
    `insert into meetings (id, organization_id, source, connection_id, external_event_id, replaced_ids, status, invitee_email, invitee_name, event_name,
       event_type, scheduled_for, end_time, join_url, location, cancel_url, reschedule_url, canceled_reason, contact_id, campaign_id, news_at, created_at, updated_at)
     values (:id, :org, :source, :connection, :external, cast(:replaced as text[]), :status, :email, :name, :event, :type, :start, :end, :join, :location,
       :cancel, :reschedule, :reason, :contact, :campaign, :at, :now, :now) returning *`,
    {
      id: newId(),
      source: from.source,
      connection: from.connectionId,
      replaced: news.replaces ? [news.replaces] : [],
      contact: contact?.id ?? null,
      campaign: contact?.campaign_id ?? null,
      ...columnsOf(news),
      now: tx.now,
    },
  );
  // Emits only the event about the cancellation if the first known report is a cancellation.
  return applyMeetingChange(tx, row!, row!.status === 'canceled' ? 'canceled' : 'booked');
}

async function changeMeeting(tx: Tx, known: Meeting, news: MeetingReport): Promise<MeetingChange> {
  const contact = known.contact_id ? undefined : await contactOf(tx, news.inviteeEmail);
  const [row] = await tx.org.sql<Meeting>(
    `update meetings set external_event_id = :external, status = :status, invitee_email = :email, invitee_name = :name, event_name = :event, event_type = :type,
       scheduled_for = :start, end_time = :end, join_url = :join, location = :location, cancel_url = :cancel, reschedule_url = :reschedule,
       canceled_reason = :reason, news_at = :at, updated_at = :now, contact_id = coalesce(contact_id, :contact), campaign_id = coalesce(campaign_id, :campaign),
       replaced_ids = case when external_event_id = :external then replaced_ids else array_append(replaced_ids, external_event_id) end
     where organization_id = :org and id = :id returning *`,
    {
      id: known.id,
      contact: contact?.id ?? null,
      campaign: contact?.campaign_id ?? null,
      ...columnsOf(news),
      now: tx.now,
    },
  );
  if (row!.status === 'canceled') return applyMeetingChange(tx, row!, 'canceled');
  if (known.status === 'canceled' && news.kind === 'booked') return applyMeetingChange(tx, row!, 'booked');
  const isNewlyMoved =
    row!.status === 'rescheduled' &&
    (known.status !== 'rescheduled' || known.external_event_id !== news.externalEventId);
  const isMoved = isNewlyMoved || row!.scheduled_for?.getTime() !== known.scheduled_for?.getTime();
  return isMoved ? applyMeetingChange(tx, row!, 'rescheduled', known.scheduled_for) : 'updated';
}

function columnsOf(news: MeetingReport) {
  const text = (value: string) => storableText(value, MAX_TEXT);
  const url = (value: string) => (/^https?:\/\//i.test(value) ? storableText(value, MAX_URL) : '');
  return {
    external: news.externalEventId,
    status: news.kind,
    email: addressKey(text(news.inviteeEmail)),
    name: text(news.inviteeName),
    event: text(news.eventName),
    type: text(news.eventType),
    start: news.scheduledFor,
    end: news.endTime,
    join: url(news.joinUrl),
    location: text(news.location),
    cancel: url(news.cancelUrl),
    reschedule: url(news.rescheduleUrl),
    reason: text(news.canceledReason),
    at: news.occurredAt,
  };
}

/** Returns the contact with an address and its latest campaign. The contact is locked until the transaction ends. */
async function contactOf(tx: Tx, email: string): Promise<{ id: string; campaign_id: string | null } | undefined> {
  const [row] = await tx.org.sql<{ id: string; campaign_id: string | null }>(
    `select c.id, (select e.campaign_id from enrollments e where e.contact_id = c.id order by e.last_activity_at desc nulls last, e.id desc limit 1) as campaign_id
     from contacts c where c.organization_id = :org and c.email = :email for key share of c`,
    { email: addressKey(storableText(email, MAX_TEXT)) },
  );
  return row;
}

/**
 * Emits the event of a change and adds an entry to the contact's log. Ends the contact's enrollments in campaigns that
 * stop on a reply, if a meeting was booked or rescheduled.
 */
async function applyMeetingChange(
  tx: Tx,
  meeting: Meeting,
  change: 'booked' | 'rescheduled' | 'canceled',
  previous: Date | null = null,
): Promise<MeetingChange> {
  emitChange(tx, meeting, change, previous);
  await logFor(tx, meeting, `meeting_${change}`);
  if (change !== 'canceled') await stopCampaigns(tx, meeting);
  return change;
}

function emitChange(
  tx: Tx,
  meeting: Meeting,
  change: 'booked' | 'rescheduled' | 'canceled',
  previous: Date | null,
): void {
  const data: EventData<'meeting.booked'> = {
    entity_id: meeting.id,
    meeting_id: meeting.id,
    source: meeting.source,
    contact_id: meeting.contact_id,
    contact_email: meeting.invitee_email,
    campaign_id: meeting.campaign_id,
    invitee_name: meeting.invitee_name,
    event_name: meeting.event_name,
    scheduled_for: meeting.scheduled_for?.toISOString() ?? null,
    end_time: meeting.end_time?.toISOString() ?? null,
    join_url: meeting.join_url,
  };
  if (change === 'rescheduled')
    tx.emit('meeting.rescheduled', { ...data, previous_time: previous?.toISOString() ?? null });
  else if (change === 'canceled') tx.emit('meeting.canceled', { ...data, reason: meeting.canceled_reason });
  else tx.emit('meeting.booked', data);
}

/** Adds an entry to the contact's log. */
async function logFor(tx: Tx, meeting: Meeting, type: ActivityType): Promise<void> {
  if (!meeting.contact_id) return;
  const metadata = { meeting_id: meeting.id, source: meeting.source };
  await recordActivities(tx, [{ type, contactId: meeting.contact_id, dealId: null, metadata }]);
}

/** Ends a contact's enrollments in campaigns that stop on a reply, because the contact has booked a meeting. */
async function stopCampaigns(tx: Tx, { contact_id: contactId }: Meeting): Promise<void> {
  if (!contactId) return;
  const rows = await tx.org.sql<{ id: string }>(
    `select e.id from enrollments e join campaigns c on c.id = e.campaign_id
     where e.organization_id = :org and e.contact_id = :contact and e.state in ('pending', 'active') and c.stop_on_reply order by e.id`,
    { contact: contactId },
  );
  await finishEnrollments(
    tx,
    rows.map(({ id }) => id),
    'completed',
    { reason: message('ended.meeting') },
  );
}
