import { Button, Text } from '@mantine/core';
import { Suspense, useState } from 'react';
import { lazyPart } from '../../app/lazy-part.ts';
import { usePerson } from '../../app/person.ts';
import { Section } from '../../components/section.tsx';
import { useText } from '../../text/index.ts';

const Confirm = lazyPart('deletion', () => import('../deletion/account.tsx'));

/** Section in which the person can delete their account. Hidden once the deletion is scheduled. */
export default function DeleteAccount() {
  const t = useText();
  const { person } = usePerson();
  const [isOpen, open] = useState(false);
  if (person.deletion_scheduled_for) return null;
  return (
    <Section
      title={t('deletion.danger')}
      action={
        <Button color="red.9" onClick={() => open(true)}>
          {t('deletion.account.start')}
        </Button>
      }
    >
      <Text size="sm" c="dimmed">
        {t('deletion.account.why')}
      </Text>
      {isOpen ? (
        <Suspense>
          <Confirm email={person.email} onClose={() => open(false)} />
        </Suspense>
      ) : null}
    </Section>
  );
}
