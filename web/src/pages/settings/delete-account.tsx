import { Button, PasswordInput, Text } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { usePerson } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { Section } from '../../components/section.tsx';
import { useText } from '../../text/index.ts';

/** Section by which the person deletes their account. Absent once the deletion is scheduled. */
export function DeleteAccount() {
  const t = useText();
  const { person } = usePerson();
  const [isOpen, open] = useState(false);
  if (person.deletion_scheduled_for) return null;
  return (
    <Section
      title={t('deletion.danger')}
      action={
        <Button color="red.9" variant="light" onClick={() => open(true)}>
          {t('deletion.account.start')}
        </Button>
      }
    >
      <Text size="sm" c="dimmed">
        {t('deletion.account.why')}
      </Text>
      {isOpen ? <Confirm email={person.email} onClose={() => open(false)} /> : null}
    </Section>
  );
}

function Confirm({ email, onClose }: { email: string; onClose: () => void }) {
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
      <Form act={remove} submit={t('deletion.account.start')} color="red.9">
        <Text size="sm">{t('deletion.account.what')}</Text>
        {/* Tells password managers whose password it is. */}
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <PasswordInput
          label={t('settings.password.current')}
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
      </Form>
    </Dialog>
  );
}
