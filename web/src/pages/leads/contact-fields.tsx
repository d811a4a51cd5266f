import { ActionIcon, Button, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import IconX from 'tabler:x';
import type { ChangeEvent } from 'react';
import { dataOf, heron, queryClient, type AnswerOf } from '../../app/api.ts';
import { DraftForm } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { useText } from '../../text/index.ts';

type Contact = AnswerOf<'/v1/contacts/{id}'>;
const FIELDS = ['first_name', 'last_name', 'company', 'phone'] as const;
/** Contact as an editable draft. Custom fields may have no name yet while a person types. */
type Edited = Pick<Contact, 'email' | 'updated_at' | (typeof FIELDS)[number]> & { custom: [string, string][] };
const editedOf = ({ email, first_name, last_name, company, phone, custom_fields, updated_at }: Contact): Edited => ({
  email,
  first_name,
  last_name,
  company,
  phone,
  custom: Object.entries(custom_fields),
  updated_at,
});

/** Editor of a contact's fields, including custom fields, saved together. */
export function EditContact({ contact, mayWrite }: { contact: Contact; mayWrite: boolean }) {
  const t = useText();
  const { id } = contact;
  const path = { params: { path: { id } } };
  const draft = useDraft<Edited>({
    stored: editedOf(contact),
    write: async ({ custom: pairs, ...changes }, { updated_at: expected_updated_at }) => {
      const custom_fields = pairs && Object.fromEntries(pairs.filter(([key]) => key.trim() !== ''));
      const stored = await dataOf(
        heron.PATCH('/v1/contacts/{id}', {
          ...path,
          body: { ...changes, ...(custom_fields ? { custom_fields } : {}), expected_updated_at },
        }),
      );
      queryClient.setQueryData<Contact>(['contacts', id], (before) => before && { ...before, ...stored });
    },
    readAgain: async () => {
      const stored = await dataOf(heron.GET('/v1/contacts/{id}', path));
      queryClient.setQueryData(['contacts', id], stored);
      return editedOf(stored);
    },
    stale: [['contacts']],
    done: t('saved'),
  });
  const { value: fields, change: edit } = draft;
  const { custom } = fields;
  const setCustom = (pairs: [string, string][]) => edit({ custom: pairs });
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
        value={fields.email}
        onChange={(event) => edit({ email: event.currentTarget.value })}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {FIELDS.map((name) => (
          <TextInput
            key={name}
            label={labels[name]}
            readOnly={!mayWrite}
            value={fields[name] ?? ''}
            onChange={(event: ChangeEvent<HTMLInputElement>) =>
              edit({ [name]: event.currentTarget.value } as Partial<Edited>)
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
    <DraftForm draft={draft} say={{ custom: (pairs) => pairs.map(([key, value]) => `${key}: ${value}`).join('\n') }}>
      {inputs}
      <Group>
        <Button size="xs" variant="default" onClick={() => setCustom([...custom, ['', '']])}>
          {t('leads.custom.add')}
        </Button>
      </Group>
    </DraftForm>
  );
}
