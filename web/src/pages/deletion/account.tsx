import { PasswordInput, Text } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { useText } from '../../text/index.ts';

/** Dialog that confirms the deletion of the account. */
export default function Confirm({ email, onClose }: { email: string; onClose: () => void }) {
  const t = useText();
  const [password, setPassword] = useState('');
  const remove = useAction(() => dataOf(heron.DELETE('/v1/auth/me', { body: { password } })), {
    stale: [['person']],
    done: t('deletion.account.scheduled'),
    isShown: true,
    onDone: onClose,
  });
  return (
    <Dialog onClose={onClose} title={t('deletion.account.ask')}>
      <Form act={remove} submit={t('deletion.account.do')} color="red.9">
        <Text size="sm">{t('deletion.account.what')}</Text>
        {/* Names the account for password managers. */}
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <PasswordInput
          label={t('deletion.account.password')}
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
      </Form>
    </Dialog>
  );
}
