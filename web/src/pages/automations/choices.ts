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

/** Options by kind of field; absent until loaded. */
export type Choices = Partial<Record<FieldKind, Choice[]>> & {
  connections: (Choice & { provider: string })[];
  actions: string[];
};

/** Loads the options of fields that refer to records of the workspace, once for the whole page. */
export function useChoices(): Choices {
  const { data } = useQuery({
    queryKey: ['automations', 'choices'],
    staleTime: 60_000,
    queryFn: async () => {
      const orNone = <T>(asked: Promise<T[]>) => asked.catch((): T[] => []);
      const [tag, campaign, places, member, automation, connected, catalog] = await Promise.all([
        orNone(fetchTags()),
        orNone(
          dataOf(heron.GET('/v1/campaigns', { params: { query: { limit: 100 } } })).then(({ data: rows }) =>
            choicesOf(rows),
          ),
        ),
        fetchStages().catch(() => ({})),
        orNone(fetchMembers()),
        orNone(fetchAutomations()),
        orNone(
          dataOf(heron.GET('/v1/integrations/connections')).then(({ connections }) =>
            connections.map(({ id, provider, label, external_account_name }) => ({
              value: id,
              label: label || external_account_name || provider,
              provider,
            })),
          ),
        ),
        orNone(dataOf(heron.GET('/v1/integrations/catalog')).then(({ catalog: rows }) => rows)),
      ]);
      return {
        tag,
        campaign,
        ...places,
        member,
        automation,
        connections: connected,
        actions: catalog
          .filter(({ provider }) => connected.some((one) => one.provider === provider))
          .flatMap(({ action_types }) => action_types)
          .filter((action) => !action.startsWith('sendsets.')),
      };
    },
  });
  return data ?? { connections: [], actions: [] };
}
