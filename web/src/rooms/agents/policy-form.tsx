import { Checkbox, MultiSelect, NumberInput, Select, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useAct } from '../../parts/act.ts';
import { Form } from '../../parts/form.tsx';
import { useText } from '../../text/index.ts';

type Policy = RowOf<'/v1/agent-policies'>;
const CAPABILITIES = ['campaign.launch', 'email.compose', `inbox.reply`, 'mailbox.provision'] as const;
const NINETY_DAYS_MS = 90 * 86_400_000;

/** What a key may do alone, from which mailboxes, how much, and until when. */
export function PolicyForm({
  policy,
  keys,
  onDone,
}: {
  policy: Policy | undefined;
  keys: readonly { id: string; name: string }[];
  onDone: () => void;
}) {
  const t = useText();
  const [name, setName] = useState(policy?.name ?? '');
  const [key, setKey] = useState(policy ? policy.api_key_id : (keys[0]?.id ?? null));
  const [capabilities, setCapabilities] = useState<string[]>(policy?.capabilities ?? [`inbox.reply`]);
  const [mailboxIds, setMailboxIds] = useState(policy?.mailbox_ids ?? []);
  const [perRun, setPerRun] = useState<number | string>(policy?.max_recipients_per_run ?? 50);
  const [perDay, setPerDay] = useState<number | string>(policy?.max_recipients_per_day ?? 100);
  const [actions, setActions] = useState<number | string>(policy?.max_actions_per_day ?? 20);
  const [until, setUntil] = useState(
    (policy?.expires_at ?? new Date(Date.now() + NINETY_DAYS_MS).toISOString()).slice(0, 10),
  );
  const [enabled, setEnabled] = useState(policy?.enabled ?? true);
  const mailboxes = useQuery({
    queryKey: ['mailboxes', 'all'],
    queryFn: () => dataOf(heron.GET('/v1/emails', { params: { query: { limit: 100 } } })),
  });
  const save = useAct(
    () => {
      const body = {
        name,
        enabled,
        ...(policy?.oauth_grant_id ? { oauth_grant_id: policy.oauth_grant_id } : { api_key_id: key }),
        capabilities: capabilities as (typeof CAPABILITIES)[number][],
        mailbox_ids: mailboxIds,
        max_recipients_per_run: Number(perRun),
        max_recipients_per_day: Number(perDay),
        max_actions_per_day: Number(actions),
        max_monthly_mailbox_spend_cents: policy?.max_monthly_mailbox_spend_cents ?? null,
        expires_at: `${until}T23:59:59Z`,
      };
      return policy
        ? dataOf(heron.PUT('/v1/agent-policies/{id}', { params: { path: { id: policy.id } }, body }))
        : dataOf(heron.POST('/v1/agent-policies', { body }));
    },
    { stale: [['policies']], isShown: true, done: t('saved'), onDone },
  );
  return (
    <Form act={save} submit={t('save')}>
      <TextInput
        label={t('agents.name')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        required
        data-autofocus
      />
      {policy?.oauth_grant_id ? null : (
        <Select
          label={t('agents.policy.key')}
          data={keys.map(({ id, name: label }) => ({ value: id, label }))}
          value={key}
          onChange={setKey}
          disabled={policy !== undefined}
          allowDeselect={false}
          required
        />
      )}
      <Checkbox.Group label={t('agents.may')} value={capabilities} onChange={setCapabilities}>
        <Stack gap="xs" mt="xs">
          {CAPABILITIES.map((one) => (
            <Checkbox key={one} value={one} label={t(`agents.capability.${one}`)} />
          ))}
        </Stack>
      </Checkbox.Group>
      <MultiSelect
        label={t('agents.mailboxes')}
        description={t('agents.mailboxes.why')}
        data={(mailboxes.data?.data ?? []).map(({ id, email }) => ({ value: id, label: email }))}
        value={mailboxIds}
        onChange={setMailboxIds}
        searchable
      />
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <NumberInput label={t('agents.perRun')} min={0} value={perRun} onChange={setPerRun} required />
        <NumberInput label={t('agents.perDay')} min={0} value={perDay} onChange={setPerDay} required />
        <NumberInput label={t('agents.actions')} min={0} value={actions} onChange={setActions} required />
      </SimpleGrid>
      <TextInput
        type="date"
        label={t('agents.expiresOn')}
        value={until}
        onChange={(event) => setUntil(event.currentTarget.value)}
        required
      />
      <Checkbox
        label={t('agents.policy.enabled')}
        checked={enabled}
        onChange={(event) => setEnabled(event.currentTarget.checked)}
      />
    </Form>
  );
}
