import { Button, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { usePerson } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { Section } from '../../components/section.tsx';
import { useText } from '../../text/index.ts';

/** Section by which an owner deletes the selected workspace. Absent for others, and once the deletion is scheduled. */
export function DeleteWorkspace() {
  const t = useText();
  const { workspace } = usePerson();
  const [isOpen, open] = useState(false);
  if (!workspace?.role.is_owner || workspace.deletion_scheduled_for) return null;
  return (
    <Section
      title={t('deletion.danger')}
      action={
        <Button color="red.9" variant="light" onClick={() => open(true)}>
          {t('deletion.workspace.start')}
        </Button>
      }
    >
      <Text size="sm" c="dimmed">
        {t('deletion.workspace.why')}
      </Text>
      {isOpen ? <Confirm name={workspace.name} onClose={() => open(false)} /> : null}
    </Section>
  );
}

function Confirm({ name, onClose }: { name: string; onClose: () => void }) {
  const t = useText();
  const [typed, setTyped] = useState('');
  const remove = useAction(() => dataOf(heron.DELETE('/v1/organizations/current', { body: { name: typed } })), {
    stale: [['person'], ['campaigns'], ['approvals'], ['automations'], ['mailboxes'], ['runs']],
    done: t('deletion.workspace.scheduled'),
    isShown: true,
    onDone: onClose,
  });
  return (
    <Dialog onClose={onClose} title={t('deletion.workspace.ask', { name })}>
      <Form act={remove} submit={t('deletion.workspace.start')} color="red.9">
        <Text size="sm">{t('deletion.workspace.what')}</Text>
        <TextInput
          label={t('deletion.workspace.type', { name })}
          required
          maxLength={200}
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </Form>
    </Dialog>
  );
}
