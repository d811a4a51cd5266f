import { Checkbox, PasswordInput, Text } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { usePerson } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { Form } from '../../components/form.tsx';
import { Section } from '../../components/section.tsx';
import { useText } from '../../text/index.ts';

/** Form that changes the password. Other browsers are signed out unless the person keeps them. */
export function Password() {
  const t = useText();
  const { person } = usePerson();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [isKept, keep] = useState(false);
  const change = useAction(
    () =>
      dataOf(
        heron.POST('/v1/auth/me/password', {
          body: { current_password: current, new_password: next, keep_other_sessions: isKept },
        }),
      ),
    {
      stale: [['person', 'sessions']],
      isShown: true,
      done: t('settings.password.done'),
      onDone: () => {
        setCurrent('');
        setNext('');
      },
    },
  );
  return (
    <Section title={t('settings.password')}>
      <Form act={change} submit={t('settings.password.change')}>
        {/* Names the account for password managers. */}
        <input type="hidden" name="username" autoComplete="username" value={person.email} readOnly />
        <PasswordInput
          label={t('settings.password.current')}
          autoComplete="current-password"
          required
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
        />
        <PasswordInput
          label={t('settings.password.new')}
          autoComplete="new-password"
          required
          value={next}
          onChange={(event) => setNext(event.currentTarget.value)}
        />
        <Checkbox
          label={t('settings.password.keep')}
          checked={isKept}
          onChange={(event) => keep(event.currentTarget.checked)}
        />
        <Text size="sm" c="dimmed">
          {t('settings.password.why')}
        </Text>
      </Form>
    </Section>
  );
}
