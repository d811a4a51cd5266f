import { Button, Modal, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState, type ChangeEvent } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAct } from '../../parts/act.ts';
import { Form } from '../../parts/form.tsx';
import { useText } from '../../text/index.ts';

const NOBODY = { email: '', first_name: '', company: '' };

/** Adds one person to a campaign: a contact that is there, by its address, or a new one. */
export function AddLeads({ id }: { id: string }) {
  const t = useText();
  const [isOpen, dialog] = useDisclosure();
  const [person, setPerson] = useState(NOBODY);
  const add = useAct(
    async () => {
      const { contact } = await dataOf(
        heron.GET('/v1/contacts/lookup', { params: { query: { email: person.email } } }),
      );
      const contactId = contact?.id ?? (await dataOf(heron.POST('/v1/contacts', { body: [person] })))[0]!.id;
      return dataOf(
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
