import { Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { useText } from '../../text/index.ts';

/** Dialog that confirms the deletion of the selected workspace. */
export default function Confirm({ name, onClose }: { name: string; onClose: () => void }) {
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
      <Form act={remove} submit={t('deletion.workspace.do')} color="red.9">
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
