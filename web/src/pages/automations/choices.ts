import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import type { FieldKind } from '../../components/action-field.tsx';
import {
  fetchAutomations,
  fetchMembers,
  fetchStages,
  fetchTags,
  choicesOf,
  type Choice,
} from '../../components/choices.ts';
import { fieldsOf } from './actions.ts';
import type { Draft, FlowNode } from './flow.ts';

/** Options by kind of field; absent until loaded. */
export type Choices = Partial<Record<FieldKind, Choice[]>> & {
  connections: (Choice & { provider: string })[];
  actions: string[];
};

/**
 * Loads the options of fields that refer to records of the workspace, once for the whole page. It loads only kinds that
 * the nodes name, and those of the node that is being edited.
 */
export function useChoices({ graph, filter }: Pick<Draft, 'graph' | 'filter'>, edited: FlowNode | undefined): Choices {
  const isAction = edited?.type === 'action';
  const named = graph.nodes.flatMap(({ action, config }) =>
    (fieldsOf(action ?? '') ?? []).flatMap(({ name, kind }) => (config?.[name] ? kind : [])),
  );
  const wanted = new Set<FieldKind>([...named, ...(fieldsOf(edited?.action ?? '') ?? []).map(({ kind }) => kind)]);
  const hasCampaign = wanted.has('campaign') || filter.campaign_ids !== undefined || edited?.type === 'trigger';
  const tag = useOptions('tag', wanted.has('tag'), fetchTags);
  const campaign = useOptions('campaign', hasCampaign, async () =>
    choicesOf((await dataOf(heron.GET('/v1/campaigns', { params: { query: { limit: 100 } } }))).data),
  );
  const places = useOptions('place', wanted.has('stage') || wanted.has('pipeline'), fetchStages);
  const member = useOptions('member', wanted.has('member'), fetchMembers);
  const automation = useOptions('automation', wanted.has('automation'), fetchAutomations);
  const connections = useOptions(
    'connections',
    isAction || graph.nodes.some((node) => node.connection_id),
    fetchConnections,
  );
  const catalog = useOptions(
    'catalog',
    isAction,
    async () => (await dataOf(heron.GET('/v1/integrations/catalog'))).catalog,
  );
  return {
    ...(tag ? { tag } : {}),
    ...(campaign ? { campaign } : {}),
    ...places,
    ...(member ? { member } : {}),
    ...(automation ? { automation } : {}),
    connections: connections ?? [],
    actions: (catalog ?? [])
      .filter(({ provider }) => connections?.some((one) => one.provider === provider))
      .flatMap(({ action_types: types }) => types)
      .filter((action) => !action.startsWith('sendsets.')),
  };
}

/** Loads options of one kind once they are wanted; undefined until then, and if the role may not read them. */
function useOptions<T>(kind: string, isWanted: boolean, queryFn: () => Promise<T>): T | undefined {
  const { data } = useQuery({
    queryKey: ['automations', 'choices', kind],
    enabled: isWanted,
    staleTime: 60_000,
    queryFn,
  });
  return data;
}

async function fetchConnections(): Promise<Choices['connections']> {
  const { connections } = await dataOf(heron.GET('/v1/integrations/connections'));
  return connections.map(({ id, provider, label, external_account_name: account }) => ({
    value: id,
    label: label || account || provider,
    provider,
  }));
}
