import { Select, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { Dialog } from '../../components/dialog.tsx';
import { useAction } from '../../components/action.ts';
import { Form } from '../../components/form.tsx';
import { textOf, useText } from '../../text/index.ts';

/** Dialog that invites a person by email. */
export default function Invite({ roles, onClose }: { roles: { id: string; name: string }[]; onClose: () => void }) {
  const t = useText();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<string | null>(
    roles.find(({ name }) => name === 'Member')?.id ?? roles[0]?.id ?? null,
  );
  const send = useAction(
    () =>
      dataOf(
        heron.POST('/v1/organizations/current/invitations', {
          body: { email, role_id: role! },
        }),
      ),
    { stale: [['team']], done: t('team.sent', { email }), isShown: true, onDone: onClose },
  );
  return (
    <Dialog onClose={onClose} title={t('team.invite')}>
      <Form act={send} submit={t('team.invite')}>
        <Text size="sm" c="dimmed">
          {t('team.how')}
        </Text>
        <TextInput
          label={t('team.email')}
          type="email"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          data-autofocus
        />
        <Select
          label={t('team.role')}
          data={roles.map(({ id, name }) => ({ value: id, label: textOf('role', name) }))}
          value={role}
          onChange={setRole}
          allowDeselect={false}
        />
      </Form>
    </Dialog>
  );
}
