import { Button, Text } from '@mantine/core';
import { Suspense, useState } from 'react';
import { lazyPart } from '../../app/lazy-part.ts';
import { usePerson } from '../../app/person.ts';
import { Section } from '../../components/section.tsx';
import { useText } from '../../text/index.ts';

const Confirm = lazyPart('deletion', () => import('../deletion/workspace.tsx'));

/**
 * Section in which an owner can delete the selected workspace. Hidden for all others, and once the deletion is
 * scheduled.
 */
export function DeleteWorkspace() {
  const t = useText();
  const { workspace } = usePerson();
  const [isOpen, open] = useState(false);
  if (!workspace?.role.is_owner || workspace.deletion_scheduled_for) return null;
  return (
    <Section
      title={t('deletion.danger')}
      action={
        <Button color="red.9" onClick={() => open(true)}>
          {t('deletion.workspace.start')}
        </Button>
      }
    >
      <Text size="sm" c="dimmed">
        {t('deletion.workspace.why')}
      </Text>
      {isOpen ? (
        <Suspense>
          <Confirm name={workspace.name} onClose={() => open(false)} />
        </Suspense>
      ) : null}
    </Section>
  );
}
