import { ActionIcon, Button, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import IconX from '@tabler/icons-react/dist/esm/icons/IconX.mjs';
import { useState, type ChangeEvent } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useAct } from '../../parts/act.ts';
import { Form } from '../../parts/form.tsx';
import { useText } from '../../text/index.ts';

type Contact = AnswerOf<'/v1/contacts/{id}'>;
const FIELDS = ['first_name', 'last_name', 'company', 'phone'] as const;

/** The fields of a contact, those of the workspace's own included; all are saved together. */
export function EditContact({ contact, mayWrite }: { contact: Contact; mayWrite: boolean }) {
  const t = useText();
  const [email, setEmail] = useState(contact.email);
  const [fields, setFields] = useState(Object.fromEntries(FIELDS.map((name) => [name, contact[name]])));
  const [custom, setCustom] = useState(Object.entries(contact.custom_fields));
  const save = useAct(
    () =>
      dataOf(
        heron.PATCH('/v1/contacts/{id}', {
          params: { path: { id: contact.id } },
          body: {
            ...fields,
            ...(email === contact.email ? {} : { email }),
            custom_fields: Object.fromEntries(custom.filter(([key]) => key.trim() !== '')),
          },
        }),
      ),
    { stale: [['contacts']], done: t('saved'), isShown: true },
  );
  const labels = {
    first_name: t('leads.firstName'),
    last_name: t('leads.lastName'),
    company: t('leads.company'),
    phone: t('leads.phone'),
  };
  const change = (at: number, pair: [string, string]) =>
    setCustom(custom.map((before, index) => (index === at ? pair : before)));
  const inputs = (
    <>
      <TextInput
        label={t('team.email')}
        type="email"
        required
        readOnly={!mayWrite}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {FIELDS.map((name) => (
          <TextInput
            key={name}
            label={labels[name]}
            readOnly={!mayWrite}
            value={fields[name] ?? ''}
            onChange={(event: ChangeEvent<HTMLInputElement>) =>
              setFields({ ...fields, [name]: event.currentTarget.value })
            }
          />
        ))}
      </SimpleGrid>
      {custom.length > 0 ? (
        <Text size="sm" fw={500}>
          {t('leads.custom')}
        </Text>
      ) : null}
      {custom.map(([key, value], at) => (
        <Group key={at} gap="xs" wrap="nowrap">
          <TextInput
            aria-label={t('leads.custom.name')}
            placeholder={t('leads.custom.name')}
            readOnly={!mayWrite}
            maxLength={100}
            value={key}
            onChange={(event) => change(at, [event.currentTarget.value, value])}
            flex={1}
          />
          <TextInput
            aria-label={t('leads.custom.value', { name: key })}
            placeholder={t('leads.custom.value', { name: key })}
            readOnly={!mayWrite}
            value={value}
            onChange={(event) => change(at, [key, event.currentTarget.value])}
            flex={2}
          />
          {mayWrite ? (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('leads.custom.remove', { name: key })}
              onClick={() => setCustom(custom.filter((_, index) => index !== at))}
            >
              <IconX size={16} />
            </ActionIcon>
          ) : null}
        </Group>
      ))}
    </>
  );
  if (!mayWrite) return <Stack>{inputs}</Stack>;
  return (
    <Form act={save} submit={t('save')}>
      {inputs}
      <Group>
        <Button size="xs" variant="default" onClick={() => setCustom([...custom, ['', '']])}>
          {t('leads.custom.add')}
        </Button>
      </Group>
    </Form>
  );
}
