import { Checkbox, MultiSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, queryClient, type AnswerOf, type BodyOf } from '../../app/api.ts';
import { SecretOnce } from '../../components/copy.tsx';
import { DraftForm } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { useText } from '../../text/index.ts';
import type { Endpoint } from './endpoint-state.tsx';

type Types = NonNullable<BodyOf<'/v1/webhooks', 'post'>['event_types']>;
type Edited = Pick<Endpoint, 'url' | 'description' | 'event_types' | 'enabled' | 'updated_at'>;
const NEW: Edited = { url: '', description: '', event_types: [], enabled: true, updated_at: '' };
const editedOf = ({ url, description, event_types, enabled, updated_at }: Endpoint): Edited => ({
  url,
  description,
  event_types,
  enabled,
  updated_at,
});
const queryKey = ['operator', 'webhooks'] as const;

/** Form of an endpoint's URL, description and events. The secret of a new endpoint is shown first. */
export function EndpointForm({ endpoint, onSaved }: { endpoint?: Endpoint; onSaved: (id: string) => void }) {
  const t = useText();
  const [made, setMade] = useState<{ id: string; secret: string }>();
  const catalogue = useQuery({
    queryKey: ['operator', 'event-types'],
    queryFn: () => dataOf(heron.GET('/v1/webhooks/event-types')),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const draft = useDraft<Edited>({
    stored: endpoint ? editedOf(endpoint) : NEW,
    write: async (changes, { updated_at: expected_updated_at, ...before }) => {
      const { updated_at: _, event_types, ...rest } = { ...before, ...changes };
      const body = { ...rest, event_types: event_types as Types };
      if (!endpoint) return setMade(await dataOf(heron.POST('/v1/webhooks', { body })));
      const { id } = endpoint;
      const stored = await dataOf(
        heron.PATCH('/v1/webhooks/{id}', { params: { path: { id } }, body: { ...body, expected_updated_at } }),
      );
      queryClient.setQueryData<AnswerOf<'/v1/webhooks'>>(
        queryKey,
        (list) => list && { ...list, endpoints: list.endpoints.map((one) => (one.id === id ? stored : one)) },
      );
    },
    readAgain: async () => {
      const list = await dataOf(heron.GET('/v1/webhooks'));
      queryClient.setQueryData(queryKey, list);
      const stored = list.endpoints.find(({ id }) => id === endpoint?.id);
      return stored && editedOf(stored);
    },
    stale: [queryKey],
    onDone: () => (endpoint ? onSaved(endpoint.id) : undefined),
  });
  if (made)
    return <SecretOnce name={t('operator.webhook.secret')} value={made.secret} onDone={() => onSaved(made.id)} />;
  const { value, change } = draft;
  return (
    <DraftForm
      draft={draft}
      submit={endpoint ? undefined : t('operator.webhook.create')}
      names={{
        url: t('operator.webhook.url'),
        description: t('operator.webhook.description'),
        event_types: t('operator.webhook.types'),
        enabled: t('operator.webhook.enabled'),
      }}
      say={{ event_types: (types) => types.join('\n') || t('operator.webhook.types.all') }}
    >
      <TextInput
        label={t('operator.webhook.url')}
        description={t('operator.webhook.url.why')}
        value={value.url}
        onChange={(event) => change({ url: event.currentTarget.value })}
        placeholder="https://hooks.example.com/heron"
        required
        data-autofocus
      />
      <TextInput
        label={t('operator.webhook.description')}
        value={value.description}
        onChange={(event) => change({ description: event.currentTarget.value })}
      />
      <MultiSelect
        label={t('operator.webhook.types')}
        description={t('operator.webhook.types.why')}
        data={catalogue.data?.event_types.map(({ type }) => type) ?? value.event_types}
        value={value.event_types}
        onChange={(event_types) => change({ event_types })}
        searchable
        clearable
        nothingFoundMessage={t('nothingFound')}
      />
      <Checkbox
        label={t('operator.webhook.enabled')}
        checked={value.enabled}
        onChange={(event) => change({ enabled: event.currentTarget.checked })}
      />
    </DraftForm>
  );
}
