import { Button, Group, Modal, NumberInput, Select, SimpleGrid, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconPlus from 'tabler:plus';
import type { InfiniteData } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, queryClient, type AnswerOf, type RowOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { ContactSelect } from '../../components/contact-select.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { DraftForm } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { toDateTime } from '../../components/time.tsx';
import { text, useText } from '../../text/index.ts';

type Meeting = RowOf<'/v1/meetings'>;
const STATUSES = ['booked', 'completed', 'no_show'] as const;
type Status = (typeof STATUSES)[number];
const MINUTE_MS = 60_000;
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Dialog that logs a meeting which is in no connected calendar. */
export function LogMeeting() {
  const t = useText();
  const [isOpen, dialog] = useDisclosure();
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={dialog.open}>
        {t('meetings.log')}
      </Button>
      <Modal opened={isOpen} onClose={dialog.close} title={t('meetings.log')}>
        <MeetingForm onDone={dialog.close} />
      </Modal>
    </>
  );
}

/** Buttons for a manually logged meeting. All other meetings are changed in their calendar. */
export function ManualMeeting({ meeting, onChange }: { meeting: Meeting; onChange: () => void }) {
  const t = useText();
  const [reason, setReason] = useState('');
  const cancel = useAction(
    () => dataOf(heron.POST('/v1/meetings/{id}/cancel', { params: { path: { id: meeting.id } }, body: { reason } })),
    { stale: [['meetings'], ['contacts']], isShown: true },
  );
  return (
    <Group gap="xs" mt={4}>
      <Button size="compact-xs" variant="default" aria-haspopup="dialog" onClick={onChange}>
        {t('meetings.change')}
      </Button>
      <ConfirmButton size="compact-xs" act={cancel} label={t('meetings.cancel')} title={t('meetings.cancel.ask')}>
        <Text size="sm" mb="sm">
          {t('meetings.cancel.why')}
        </Text>
        <TextInput
          label={t('meetings.reason')}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      </ConfirmButton>
    </Group>
  );
}

/**
 * Dialog that changes a meeting. The dialog stays open if another person moves the meeting to another day or out of the
 * list.
 */
export function ChangeMeeting({ meeting, onClose }: { meeting: Meeting; onClose: () => void }) {
  const t = useText();
  return (
    <Dialog onClose={onClose} title={t('meetings.change')}>
      <MeetingForm meeting={storedMeetings().find(({ id }) => id === meeting.id) ?? meeting} onDone={onClose} />
    </Dialog>
  );
}

/** Meeting as an editable draft; `begins` is a datetime-local value in the browser's zone. */
interface Edited {
  event_name: string;
  begins: string;
  minutes: number | string;
  location: string;
  join_url: string;
  status: Status;
  updated_at: string;
}
const NEW: Edited = {
  event_name: '',
  begins: '',
  minutes: 30,
  location: '',
  join_url: '',
  status: 'booked',
  updated_at: '',
};
const editedOf = (meeting: Meeting): Edited => ({
  event_name: meeting.event_name,
  begins: meeting.scheduled_for ? toLocal(meeting.scheduled_for) : '',
  minutes: minutesOf(meeting),
  location: meeting.location,
  join_url: meeting.join_url,
  status: meeting.status === 'completed' || meeting.status === 'no_show' ? meeting.status : 'booked',
  updated_at: meeting.updated_at,
});

function MeetingForm({ meeting, onDone }: { meeting?: Meeting; onDone: () => void }) {
  const t = useText();
  const [contact, setContact] = useState<string | null>(null);
  const [email, setEmail] = useState('');
  const draft = useDraft<Edited>({
    stored: meeting ? editedOf(meeting) : NEW,
    write: async (changes, { updated_at: expected_updated_at, ...before }) => {
      const { event_name, begins, minutes, location, join_url, status } = { ...before, ...changes };
      const begin = new Date(begins);
      const fields = {
        event_name,
        scheduled_for: begin.toISOString(),
        end_time: Number(minutes) > 0 ? new Date(begin.getTime() + Number(minutes) * MINUTE_MS).toISOString() : null,
        location,
        join_url,
      };
      if (meeting) {
        // Sends no status before the meeting is over, so that a rescheduled meeting stays marked as rescheduled.
        const outcome = isOver(begins) && status !== 'booked' ? { status } : {};
        const body = { ...fields, ...outcome, expected_updated_at };
        return keep(await dataOf(heron.PATCH('/v1/meetings/{id}', { params: { path: { id: meeting.id } }, body })));
      }
      const who = contact ? { contact_id: contact } : { invitee_email: email };
      const body = { ...fields, ...who, status: isOver(begins) ? status : 'booked' };
      return dataOf(heron.POST('/v1/meetings', { body }));
    },
    readAgain: async () => {
      await queryClient.refetchQueries({ queryKey: ['meetings'], type: 'active' });
      const stored = storedMeetings().find(({ id }) => id === meeting?.id);
      return stored && editedOf(stored);
    },
    stale: [['meetings'], ['contacts']],
    done: t(meeting ? 'saved' : 'meetings.logged'),
    onDone,
  });
  const { value, change } = draft;
  return (
    <DraftForm
      draft={draft}
      submit={meeting ? undefined : t('meetings.log')}
      names={{
        event_name: t('meetings.what'),
        begins: t('meetings.begins', { zone: HERE }),
        minutes: t('meetings.minutes'),
        location: t('meetings.where'),
        join_url: t('meetings.link'),
        status: t('meetings.outcome'),
      }}
      say={{
        begins: (begins) => (begins ? toDateTime(new Date(begins).toISOString()) : ''),
        status: sayOutcome,
      }}
    >
      {meeting ? null : (
        <>
          <ContactSelect label={t('meetings.contact')} value={contact} onChange={setContact} />
          {contact ? null : (
            <TextInput
              type="email"
              label={t('meetings.address')}
              description={t('meetings.address.why')}
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
              required
            />
          )}
        </>
      )}
      <TextInput
        label={t('meetings.what')}
        value={value.event_name}
        onChange={(event) => change({ event_name: event.currentTarget.value })}
        required
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput
          type="datetime-local"
          label={t('meetings.begins', { zone: HERE })}
          value={value.begins}
          onChange={(event) => change({ begins: event.currentTarget.value })}
          required
        />
        <NumberInput
          label={t('meetings.minutes')}
          value={value.minutes}
          onChange={(minutes) => change({ minutes })}
          min={0}
          max={1440}
        />
      </SimpleGrid>
      <TextInput
        label={t('meetings.where')}
        value={value.location}
        onChange={(event) => change({ location: event.currentTarget.value })}
      />
      <TextInput
        type="url"
        label={t('meetings.link')}
        value={value.join_url}
        onChange={(event) => change({ join_url: event.currentTarget.value })}
      />
      {isOver(value.begins) ? (
        <Select
          label={t('meetings.outcome')}
          data={STATUSES.map((one) => ({ value: one, label: sayOutcome(one) }))}
          value={value.status}
          onChange={(status) => change({ status: (status ?? 'booked') as Status })}
          allowDeselect={false}
        />
      ) : null}
      {meeting ? null : (
        <Text size="sm" c="dimmed">
          {t('meetings.log.why')}
        </Text>
      )}
    </DraftForm>
  );
}

const isOver = (begins: string) => begins !== '' && Date.parse(begins) < Date.now();
const sayOutcome = (status: Status) =>
  text(status === 'booked' ? 'meetings.outcome.open' : `meetings.status.${status}`);

type Pages = InfiniteData<AnswerOf<'/v1/meetings'>>;

/** Returns all meetings in the cached lists. */
function storedMeetings(): Meeting[] {
  return queryClient
    .getQueriesData<Pages>({ queryKey: ['meetings'] })
    .flatMap(([, list]) => list?.pages.flatMap(({ data }) => data) ?? []);
}

/** Replaces a changed meeting in the cached lists. */
function keep(stored: Meeting): void {
  queryClient.setQueriesData<Pages>(
    { queryKey: ['meetings'] },
    (list) =>
      list && {
        ...list,
        pages: list.pages.map((page) => ({
          ...page,
          data: page.data.map((one) => (one.id === stored.id ? stored : one)),
        })),
      },
  );
}

/** Formats a time for a datetime-local input, in the browser's zone. */
function toLocal(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}

function minutesOf(meeting: Meeting): number | string {
  if (!meeting.scheduled_for || !meeting.end_time) return '';
  return Math.round((Date.parse(meeting.end_time) - Date.parse(meeting.scheduled_for)) / MINUTE_MS);
}
