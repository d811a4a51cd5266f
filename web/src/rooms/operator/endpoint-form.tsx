import { Checkbox, MultiSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type BodyOf } from '../../app/api.ts';
import { useAct } from '../../parts/act.ts';
import { SecretOnce } from '../../parts/copy.tsx';
import { Form } from '../../parts/form.tsx';
import { useText } from '../../text/index.ts';
import type { Endpoint } from './endpoint-state.tsx';

type Types = NonNullable<BodyOf<'/v1/webhooks', 'post'>['event_types']>;

/** Address, description and events of an endpoint; a new one's secret is shown before anything else happens. */
export function EndpointForm({ endpoint, onSaved }: { endpoint?: Endpoint; onSaved: (id: string) => void }) {
  const t = useText();
  const [url, setUrl] = useState(endpoint?.url ?? '');
  const [description, setDescription] = useState(endpoint?.description ?? '');
  const [types, setTypes] = useState<string[]>(endpoint?.event_types ?? []);
  const [enabled, setEnabled] = useState(endpoint?.enabled ?? true);
  const catalogue = useQuery({
    queryKey: ['operator', 'event-types'],
    queryFn: () => dataOf(heron.GET('/v1/webhooks/event-types')),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const save = useAct(
    async (): Promise<{ id: string; secret?: string }> => {
      const body = { url, description, event_types: types as Types, enabled };
      return endpoint
        ? dataOf(heron.PATCH('/v1/webhooks/{id}', { params: { path: { id: endpoint.id } }, body }))
        : dataOf(heron.POST('/v1/webhooks', { body }));
    },
    {
      stale: [['operator', 'webhooks']],
      isShown: true,
      onDone: ({ id, secret }) => {
        if (!secret) onSaved(id);
      },
    },
  );
  const made = save.data;
  if (made?.secret)
    return <SecretOnce name={t('operator.webhook.secret')} value={made.secret} onDone={() => onSaved(made.id)} />;
  return (
    <Form act={save} submit={t(endpoint ? 'save' : 'operator.webhook.create')}>
      <TextInput
        label={t('operator.webhook.url')}
        description={t('operator.webhook.url.why')}
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
        placeholder="https://hooks.example.com/heron"
        required
        data-autofocus
      />
      <TextInput
        label={t('operator.webhook.description')}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <MultiSelect
        label={t('operator.webhook.types')}
        description={t('operator.webhook.types.why')}
        data={catalogue.data?.event_types.map(({ type }) => type) ?? types}
        value={types}
        onChange={setTypes}
        searchable
        clearable
        nothingFoundMessage={t('nothingFound')}
      />
      <Checkbox
        label={t('operator.webhook.enabled')}
        checked={enabled}
        onChange={(event) => setEnabled(event.currentTarget.checked)}
      />
    </Form>
  );
}
