import { Checkbox, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { selectWorkspace } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { Form } from '../../components/form.tsx';
import { Section } from '../../components/section.tsx';
import { useText } from '../../text/index.ts';

/** Section in which a person can create another workspace, for real emails or for tests. */
export function NewWorkspace() {
  const t = useText();
  const [name, setName] = useState('');
  const [isTest, setIsTest] = useState(false);
  const create = useAction(() => dataOf(heron.POST('/v1/organizations', { body: { name, is_test: isTest } })), {
    isShown: true,
    onDone: ({ id }) => void selectWorkspace(id),
  });
  return (
    <Section title={t('workspace.new')}>
      <Form act={create} submit={t('workspace.create')}>
        <Text size="sm" c="dimmed">
          {t('workspace.new.why')}
        </Text>
        <TextInput
          label={t('workspace.name')}
          required
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Checkbox
          label={t('workspace.test')}
          description={t('workspace.test.why')}
          checked={isTest}
          onChange={(event) => setIsTest(event.currentTarget.checked)}
        />
      </Form>
    </Section>
  );
}
