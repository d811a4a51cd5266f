import { transact } from '../../domain/platform/kernel/transact.ts';
import { recordMeeting, type MeetingReport } from '../../domain/crm/meetings/record.ts';
import { HOSTILE, WIDE, type PageToSee, type Stage } from './stage.ts';

const HOUR_MS = 3_600_000;

/** Creates future, past and cancelled meetings. Their places are arbitrary text. */
export async function sceneOfMeetings({ world, tenant, post }: Stage): Promise<PageToSee[]> {
  const meeting = (id: string, inHours: number, more: Partial<MeetingReport>) => {
    const scheduledFor = new Date(Math.ceil(Date.now() / HOUR_MS) * HOUR_MS + inHours * HOUR_MS);
    return transact(world.system(tenant.organizationId), (tx) =>
      recordMeeting(
        tx,
        { source: 'calendly', connectionId: null },
        {
          externalEventId: id,
          kind: 'booked',
          occurredAt: new Date(),
          inviteeEmail: 'ada@example.com',
          inviteeName: 'Ada Lovelace',
          eventName: 'Thirty minutes',
          eventType: 'thirty-minutes',
          scheduledFor,
          endTime: new Date(scheduledFor.getTime() + HOUR_MS / 2),
          joinUrl: 'https://meet.example.com/ada',
          location: 'Video call',
          cancelUrl: 'https://meet.example.com/ada/cancel',
          rescheduleUrl: 'https://meet.example.com/ada/move',
          canceledReason: '',
          ...more,
        },
      ),
    );
  };
  await meeting('one', 26, {});
  await meeting('two', 27, { inviteeEmail: 'somebody@example.org', inviteeName: WIDE, eventName: 'First talk' });
  await meeting('three', 80, {
    inviteeEmail: 'x@example.org',
    inviteeName: HOSTILE,
    eventName: HOSTILE,
    location: HOSTILE,
    joinUrl: `javascript:document.title='owned'`,
  });
  await meeting('four', -50, {});
  await meeting('five', -30, { kind: 'canceled', canceledReason: HOSTILE });
  const at = (inHours: number) => new Date(Math.ceil(Date.now() / HOUR_MS) * HOUR_MS + inHours * HOUR_MS).toISOString();
  await post('/meetings', {
    invitee_email: 'ada@example.com',
    event_name: 'Coffee at the fair',
    scheduled_for: at(28),
    end_time: at(29),
    location: 'Hall 4, Hamburg',
    join_url: '',
    status: 'booked',
  });
  await post('/meetings', {
    invitee_email: 'noor@example.org',
    event_name: WIDE,
    scheduled_for: at(-70),
    end_time: null,
    location: '',
    join_url: '',
    status: 'no_show',
  });
  return [
    ['meetings-empty', '/meetings', 'empty'],
    ['meetings', '/meetings?zone=UTC'],
    ['meetings-past', '/meetings?past=yes'],
    ['meetings-log', '/meetings', undefined, (page) => page.getByRole('button', { name: 'Log a meeting' }).click()],
  ];
}
