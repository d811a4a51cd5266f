import { Button, Group, Modal, NumberInput, Select, SimpleGrid, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconPlus from '@tabler/icons-react/dist/esm/icons/IconPlus.mjs';
import { useState } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useAct } from '../../parts/act.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { ContactSelect } from '../../parts/contact-select.tsx';
import { Form } from '../../parts/form.tsx';
import { useText } from '../../text/index.ts';

type Meeting = RowOf<'/v1/meetings'>;
const STATUSES = ['booked', 'completed', 'no_show'] as const;
type Status = (typeof STATUSES)[number];
const MINUTE_MS = 60_000;
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Logs a meeting that no connected calendar knows. */
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

/** What can be done with a meeting that was logged by hand; others are changed at their calendar. */
export function ManualMeeting({ meeting }: { meeting: Meeting }) {
  const t = useText();
  const [isOpen, dialog] = useDisclosure();
  const [reason, setReason] = useState('');
  const cancel = useAct(
    () => dataOf(heron.POST('/v1/meetings/{id}/cancel', { params: { path: { id: meeting.id } }, body: { reason } })),
    { stale: [['meetings'], ['contacts']], isShown: true },
  );
  return (
    <Group gap="xs" mt={4}>
      <Button size="compact-xs" variant="default" onClick={dialog.open}>
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
      <Modal opened={isOpen} onClose={dialog.close} title={t('meetings.change')}>
        <MeetingForm meeting={meeting} onDone={dialog.close} />
      </Modal>
    </Group>
  );
}

function MeetingForm({ meeting, onDone }: { meeting?: Meeting; onDone: () => void }) {
  const t = useText();
  const [contact, setContact] = useState<string | null>(null);
  const [email, setEmail] = useState('');
  const [what, setWhat] = useState(meeting?.event_name ?? '');
  const [begins, setBegins] = useState(meeting?.scheduled_for ? toLocal(meeting.scheduled_for) : '');
  const [minutes, setMinutes] = useState<number | string>(minutesOf(meeting));
  const [location, setLocation] = useState(meeting?.location ?? '');
  const [link, setLink] = useState(meeting?.join_url ?? '');
  const [status, setStatus] = useState<Status>(
    meeting?.status === 'completed' || meeting?.status === 'no_show' ? meeting.status : 'booked',
  );
  const isOver = begins !== '' && Date.parse(begins) < Date.now();
  const save = useAct(
    (): Promise<unknown> => {
      const begin = new Date(begins);
      const fields = {
        event_name: what,
        scheduled_for: begin.toISOString(),
        end_time: Number(minutes) > 0 ? new Date(begin.getTime() + Number(minutes) * MINUTE_MS).toISOString() : null,
        location,
        join_url: link,
      };
      if (meeting) {
        // A meeting that was moved stays one until it is over.
        const outcome = isOver && status !== 'booked' ? { status } : {};
        return dataOf(
          heron.PATCH('/v1/meetings/{id}', { params: { path: { id: meeting.id } }, body: { ...fields, ...outcome } }),
        );
      }
      return dataOf(
        heron.POST('/v1/meetings', {
          body: {
            ...fields,
            ...(contact ? { contact_id: contact } : { invitee_email: email }),
            status: isOver ? status : 'booked',
          },
        }),
      );
    },
    { stale: [['meetings'], ['contacts']], isShown: true, done: t(meeting ? 'saved' : 'meetings.logged'), onDone },
  );
  return (
    <Form act={save} submit={t(meeting ? 'save' : 'meetings.log')}>
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
        value={what}
        onChange={(event) => setWhat(event.currentTarget.value)}
        required
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput
          type="datetime-local"
          label={t('meetings.begins', { zone: HERE })}
          value={begins}
          onChange={(event) => setBegins(event.currentTarget.value)}
          required
        />
        <NumberInput label={t('meetings.minutes')} value={minutes} onChange={setMinutes} min={0} max={1440} />
      </SimpleGrid>
      <TextInput
        label={t('meetings.where')}
        value={location}
        onChange={(event) => setLocation(event.currentTarget.value)}
      />
      <TextInput
        type="url"
        label={t('meetings.link')}
        value={link}
        onChange={(event) => setLink(event.currentTarget.value)}
      />
      {isOver ? (
        <Select
          label={t('meetings.outcome')}
          data={STATUSES.map((value) => ({
            value,
            label: t(value === 'booked' ? 'meetings.outcome.open' : `meetings.status.${value}`),
          }))}
          value={status}
          onChange={(value) => setStatus((value ?? 'booked') as Status)}
          allowDeselect={false}
        />
      ) : null}
      {meeting ? null : (
        <Text size="sm" c="dimmed">
          {t('meetings.log.why')}
        </Text>
      )}
    </Form>
  );
}

/** A moment as a field for a date and a time takes it, in the zone of the browser. */
function toLocal(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}

function minutesOf(meeting: Meeting | undefined): number | string {
  if (!meeting) return 30;
  if (!meeting.scheduled_for || !meeting.end_time) return '';
  return Math.round((Date.parse(meeting.end_time) - Date.parse(meeting.scheduled_for)) / MINUTE_MS);
}
