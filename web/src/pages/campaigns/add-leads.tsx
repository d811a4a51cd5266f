import { Button, Group, Modal, Select, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ChangeEvent } from 'react';
import { dataOf, executedOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { Form } from '../../components/form.tsx';
import { PageLink, PageLinkButton } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';

const NOBODY = { email: '', first_name: '', company: '' };

/** Adds people to a campaign: one by address, all contacts of a segment, or a file. */
export function AddLeads({ id }: { id: string }) {
  const t = useText();
  const maySeeContacts = useCan('view_contacts');
  const mayImport = useCan('manage_contacts');
  return (
    <Group gap="xs">
      {maySeeContacts ? <AddSegment id={id} /> : null}
      {mayImport ? (
        <PageLinkButton to={`/leads/imports/new?campaign=${id}`} size="xs" variant="default">
          {t('campaign.leads.import')}
        </PageLinkButton>
      ) : null}
      <AddOne id={id} />
    </Group>
  );
}

/** Adds one person: the contact with that address, or a new one. */
function AddOne({ id }: { id: string }) {
  const t = useText();
  const [isOpen, dialog] = useDisclosure();
  const [person, setPerson] = useState(NOBODY);
  const add = useAction(
    async () => {
      const { contact } = await dataOf(
        heron.GET('/v1/contacts/lookup', { params: { query: { email: person.email } } }),
      );
      const contactId = contact?.id ?? (await executedOf(heron.POST('/v1/contacts', { body: [person] })))[0]!.id;
      return executedOf(
        heron.POST('/v1/campaigns/{id}/leads', { params: { path: { id } }, body: { contact_ids: [contactId] } }),
      );
    },
    {
      stale: [['campaigns', id], ['checklist']],
      done: t('campaign.leads.added'),
      isShown: true,
      onDone: () => {
        setPerson(NOBODY);
        dialog.close();
      },
    },
  );
  const field = (name: keyof typeof NOBODY) => ({
    value: person[name],
    onChange: (event: ChangeEvent<HTMLInputElement>) => setPerson({ ...person, [name]: event.currentTarget.value }),
  });
  return (
    <>
      <Button size="xs" variant="default" aria-haspopup="dialog" onClick={dialog.open}>
        {t('campaign.leads.add')}
      </Button>
      <Modal opened={isOpen} onClose={dialog.close} title={t('campaign.leads.add')}>
        <Form act={add} submit={t('campaign.leads.do')}>
          <Text size="sm" c="dimmed">
            {t('campaign.leads.how')}
          </Text>
          <TextInput label={t('team.email')} type="email" required data-autofocus {...field('email')} />
          <TextInput label={t('campaign.leads.firstName')} {...field('first_name')} />
          <TextInput label={t('campaign.leads.company')} {...field('company')} />
        </Form>
      </Modal>
    </>
  );
}

/** Adds all current contacts of a segment. */
function AddSegment({ id }: { id: string }) {
  const t = useText();
  const [isOpen, dialog] = useDisclosure();
  const [segment, setSegment] = useState<string | null>(null);
  const segments = useQuery({
    queryKey: ['segments', 'names'],
    enabled: isOpen,
    queryFn: () => dataOf(heron.GET('/v1/segments', { params: { query: { limit: 100 } } })),
  });
  const size = useQuery({
    queryKey: ['contacts', 'segment-size', segment],
    enabled: segment !== null,
    placeholderData: keepPreviousData,
    queryFn: () => dataOf(heron.POST('/v1/lead-database/coverage', { body: { segment_id: segment! } })),
  });
  const add = useAction(
    () =>
      executedOf(
        heron.POST('/v1/campaigns/{id}/leads', { params: { path: { id } }, body: { segment_ids: [segment!] } }),
      ),
    {
      stale: [['campaigns', id], ['checklist']],
      isShown: true,
      onDone: ({ added, already }) => {
        notifications.show({
          message: [
            t('campaign.leads.segment.added', { count: added }),
            already > 0 ? t('campaign.leads.segment.already', { count: already }) : '',
          ].join(' '),
          color: 'teal',
          autoClose: 4_000,
        });
        setSegment(null);
        dialog.close();
      },
    },
  );
  return (
    <>
      <Button size="xs" variant="default" aria-haspopup="dialog" onClick={dialog.open}>
        {t('campaign.leads.segment')}
      </Button>
      <Modal opened={isOpen} onClose={dialog.close} title={t('campaign.leads.segment')}>
        <Form act={add} submit={t('campaign.leads.do')}>
          <Text size="sm" c="dimmed">
            {t('campaign.leads.segment.why')}{' '}
            <PageLink to="/leads/segments/new" inherit underline="always">
              {t('campaign.leads.segment.new')}
            </PageLink>
          </Text>
          <Select
            label={t('campaign.leads.segment.which')}
            data={(segments.data?.data ?? []).map(({ id: value, name }) => ({ value, label: name }))}
            value={segment}
            onChange={setSegment}
            nothingFoundMessage={t('campaign.leads.segment.none')}
            searchable
            required
          />
          {segment && size.data ? (
            <Text size="sm" role="status">
              {t('campaign.leads.segment.size', { count: size.data.total })}
            </Text>
          ) : null}
        </Form>
      </Modal>
    </>
  );
}
