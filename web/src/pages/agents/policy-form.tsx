import { Alert, Checkbox, MultiSelect, NumberInput, Select, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf, type RowOf } from '../../app/api.ts';
import { DAY_MS } from '../../components/day.ts';
import { useAction } from '../../components/action.ts';
import { isConflict } from '../../components/draft.ts';
import { Form } from '../../components/form.tsx';
import { WholeNumber } from '../../components/whole-number.tsx';
import { text, useText } from '../../text/index.ts';

type Policy = RowOf<'/v1/agent-policies'>;
const CAPABILITIES = ['campaign.launch', 'email.compose', `inbox.reply`, 'mailbox.provision'] as const;
const NINETY_DAYS_MS = 90 * DAY_MS;
/** API key or grant of an application. */
export type Holder = AnswerOf<'/v1/agent-policies/holders'>['data'][number];

/** Returns the display name of a key or an application's grant. */
export function nameOfHolder({ kind, name, granted_by: by }: Holder): string {
  return kind === 'api_key'
    ? text('agents.policy.ofKey', { name })
    : text('agents.policy.ofGrant', { name, by: by ?? '' });
}

/** Form of a policy: actions, mailboxes, limits, maximum spend and end. */
export function PolicyForm({
  policy,
  holders,
  onDone,
}: {
  policy: Policy | undefined;
  holders: readonly Holder[];
  onDone: () => void;
}) {
  const t = useText();
  const [name, setName] = useState(policy?.name ?? '');
  // A credential has at most one policy.
  const free = holders.filter((one) => one.policy_id === null || one.policy_id === policy?.id);
  const [holder, setHolder] = useState(policy ? (policy.api_key_id ?? policy.oauth_grant_id) : (free[0]?.id ?? null));
  const [capabilities, setCapabilities] = useState<string[]>(policy?.capabilities ?? [`inbox.reply`]);
  const [mailboxIds, setMailboxIds] = useState(policy?.mailbox_ids ?? []);
  const [perRun, setPerRun] = useState<number | string>(policy?.max_recipients_per_run ?? 50);
  const [perDay, setPerDay] = useState<number | string>(policy?.max_recipients_per_day ?? 100);
  const [actions, setActions] = useState<number | string>(policy?.max_actions_per_day ?? 20);
  const [spend, setSpend] = useState<number | string>(
    typeof policy?.max_monthly_mailbox_spend_cents === 'number' ? policy.max_monthly_mailbox_spend_cents / 100 : '',
  );
  const [until, setUntil] = useState(
    (policy?.expires_at ?? new Date(Date.now() + NINETY_DAYS_MS).toISOString()).slice(0, 10),
  );
  const [enabled, setEnabled] = useState(policy?.enabled ?? true);
  const mailboxes = useQuery({
    queryKey: ['mailboxes', 'all'],
    queryFn: () => dataOf(heron.GET('/v1/emails', { params: { query: { limit: 100 } } })),
  });
  const isGrant = policy
    ? policy.oauth_grant_id !== null
    : free.find(({ id }) => id === holder)?.kind === 'oauth_grant';
  const mayOrder = capabilities.includes('mailbox.provision');
  const save = useAction(
    () => {
      const body = {
        name,
        enabled,
        ...(isGrant ? { oauth_grant_id: holder } : { api_key_id: holder }),
        capabilities: capabilities as (typeof CAPABILITIES)[number][],
        mailbox_ids: mailboxIds,
        max_recipients_per_run: Number(perRun),
        max_recipients_per_day: Number(perDay),
        max_actions_per_day: Number(actions),
        max_monthly_mailbox_spend_cents: mayOrder && spend !== '' ? Math.round(Number(spend) * 100) : null,
        expires_at: `${until}T23:59:59Z`,
      };
      return policy
        ? dataOf(
            heron.PUT('/v1/agent-policies/{id}', {
              params: { path: { id: policy.id } },
              body: { ...body, expected_updated_at: policy.updated_at },
            }),
          ).catch((error: unknown) => {
            throw isConflict(error) ? new Error(t('agents.policy.meanwhile')) : error;
          })
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
      {!policy && free.length === 0 ? (
        <Alert color="blue" variant="light" role="note">
          {t('agents.policy.nobody')}
        </Alert>
      ) : (
        <Select
          label={t('agents.policy.for')}
          description={t('agents.policy.for.why')}
          data={free.map((one) => ({ value: one.id, label: nameOfHolder(one) }))}
          value={holder}
          onChange={setHolder}
          disabled={policy !== undefined}
          allowDeselect={false}
          searchable
          required
        />
      )}
      <Checkbox.Group label={t('agents.may')} value={capabilities} onChange={setCapabilities}>
        <Stack gap="xs" mt="xs">
          {CAPABILITIES.map((one) => (
            <Checkbox
              key={one}
              value={one}
              label={t(`agents.capability.${one}`)}
              description={t(`agents.capabilityMeans.${one}`)}
            />
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
        <WholeNumber label={t('agents.perRun')} why={t('agents.perRun.why')} value={perRun} onChange={setPerRun} />
        <WholeNumber label={t('agents.perDay')} why={t('agents.perDay.why')} value={perDay} onChange={setPerDay} />
        <WholeNumber label={t('agents.actions')} why={t('agents.actions.why')} value={actions} onChange={setActions} />
      </SimpleGrid>
      {mayOrder ? (
        <NumberInput
          label={t('agents.spend')}
          description={t('agents.spend.why')}
          value={spend}
          onChange={setSpend}
          min={0}
          decimalScale={2}
          allowNegative={false}
        />
      ) : null}
      <TextInput
        type="date"
        label={t('agents.expiresOn')}
        description={t('agents.expiresOn.why')}
        value={until}
        onChange={(event) => setUntil(event.currentTarget.value)}
        required
      />
      <Checkbox
        label={t('agents.policy.enabled')}
        description={t('agents.policy.enabled.why')}
        checked={enabled}
        onChange={(event) => setEnabled(event.currentTarget.checked)}
      />
    </Form>
  );
}
