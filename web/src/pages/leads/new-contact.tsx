import { Button, Modal, SimpleGrid, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconPlus from 'tabler:plus';
import { useState, type ChangeEvent } from 'react';
import { executedOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { Form } from '../../components/form.tsx';
import { useGoTo } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';

const NOBODY = { email: '', first_name: '', last_name: '', company: '' };

/** Dialog that adds one contact and opens it. If the address is known, opens its contact instead. */
export function NewContact() {
  const t = useText();
  const go = useGoTo();
  const [isOpen, dialog] = useDisclosure();
  const [person, setPerson] = useState(NOBODY);
  const add = useAction(() => executedOf(heron.POST('/v1/contacts', { body: [person] })), {
    stale: [['contacts'], ['checklist']],
    done: t('leads.new.done'),
    isShown: true,
    onDone: ([contact]) => {
      setPerson(NOBODY);
      dialog.close();
      if (contact) go(`/leads/${contact.id}`);
    },
  });
  const field = (name: keyof typeof NOBODY) => ({
    value: person[name],
    onChange: (event: ChangeEvent<HTMLInputElement>) => setPerson({ ...person, [name]: event.currentTarget.value }),
  });
  return (
    <>
      <Button variant="default" leftSection={<IconPlus size={16} />} aria-haspopup="dialog" onClick={dialog.open}>
        {t('leads.new')}
      </Button>
      <Modal opened={isOpen} onClose={dialog.close} title={t('leads.new')}>
        <Form act={add} submit={t('leads.new')}>
          <TextInput label={t('team.email')} type="email" required data-autofocus {...field('email')} />
          <SimpleGrid cols={2}>
            <TextInput label={t('leads.firstName')} {...field('first_name')} />
            <TextInput label={t('leads.lastName')} {...field('last_name')} />
          </SimpleGrid>
          <TextInput label={t('leads.company')} {...field('company')} />
        </Form>
      </Modal>
    </>
  );
}
