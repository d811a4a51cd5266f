import { Checkbox, MultiSelect, NumberInput, Stack, TagsInput, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { DraftForm } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { useText } from '../../text/index.ts';
import { hasPermission, type Key } from './key-state.tsx';

type Edited = Pick<
  Key,
  | 'name'
  | 'description'
  | 'permissions'
  | 'allowed_ips'
  | 'allowed_email_accounts'
  | 'rate_limit_per_minute'
  | 'updated_at'
>;
const editedOf = (key: Key): Edited => ({
  name: key.name,
  description: key.description,
  permissions: key.permissions,
  allowed_ips: key.allowed_ips,
  allowed_email_accounts: key.allowed_email_accounts,
  rate_limit_per_minute: key.rate_limit_per_minute,
  updated_at: key.updated_at,
});

/** Form of a key's name, permissions, source addresses, mailboxes and rate. */
export function KeyForm({ one, onDone }: { one: Key; onDone: () => void }) {
  const t = useText();
  const path = { params: { path: { id: one.id } } };
  const known = useQuery({
    queryKey: ['keys', 'permissions'],
    queryFn: () => dataOf(heron.GET('/v1/api-keys/permissions')),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const mailboxes = useQuery({
    queryKey: ['mailboxes', 'all'],
    queryFn: () => dataOf(heron.GET('/v1/emails', { params: { query: { limit: 100 } } })),
  });
  const draft = useDraft<Edited>({
    stored: editedOf(one),
    write: ({ updated_at: _, ...body }) => dataOf(heron.PATCH('/v1/api-keys/{id}', { ...path, body })),
    readAgain: async () => editedOf(await dataOf(heron.GET('/v1/api-keys/{id}', path))),
    stale: [['keys']],
    done: t('saved'),
    onDone,
  });
  const { value, change } = draft;
  const permissions = known.data?.permissions ?? [];
  return (
    <DraftForm
      draft={draft}
      names={{
        description: t('agents.description'),
        permissions: t('agents.key.permissions'),
        allowed_ips: t('agents.key.ips'),
        allowed_email_accounts: t('agents.mailboxes'),
        rate_limit_per_minute: t('agents.key.rate'),
      }}
    >
      <TextInput
        label={t('agents.name')}
        required
        maxLength={255}
        value={value.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        data-autofocus
      />
      <TextInput
        label={t('agents.description')}
        maxLength={2000}
        value={value.description}
        onChange={(event) => change({ description: event.currentTarget.value })}
      />
      <TagsInput
        label={t('agents.key.ips')}
        description={t('agents.key.ips.why')}
        value={value.allowed_ips}
        onChange={(allowed_ips) => change({ allowed_ips })}
        maxTags={100}
      />
      <MultiSelect
        label={t('agents.mailboxes')}
        description={t('agents.key.mailboxes.why')}
        data={(mailboxes.data?.data ?? []).map(({ id, email }) => ({ value: id, label: email }))}
        value={value.allowed_email_accounts}
        onChange={(allowed_email_accounts) => change({ allowed_email_accounts })}
        searchable
      />
      <NumberInput
        label={t('agents.key.rate')}
        description={t('agents.key.rate.why')}
        min={0}
        max={1_000_000}
        allowDecimal={false}
        value={value.rate_limit_per_minute}
        onChange={(rate) => (rate === '' ? undefined : change({ rate_limit_per_minute: Number(rate) }))}
      />
      <Checkbox.Group
        label={t('agents.key.permissions')}
        value={permissions.filter((each) => hasPermission(value, each.value)).map(({ name }) => name)}
        onChange={(chosen) =>
          change({
            permissions: permissions
              .filter(({ name }) => chosen.includes(name))
              .reduce((sum, { value: bit }) => sum + bit, 0),
          })
        }
      >
        <Stack gap="xs" mt="xs">
          {permissions.map(({ name, description }) => (
            <Checkbox key={name} value={name} label={name} description={description} />
          ))}
        </Stack>
      </Checkbox.Group>
    </DraftForm>
  );
}
