import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { askAutomations, askTags, choicesOf, type Choice } from '../../parts/choices.ts';
import type { FieldKind } from './actions.ts';

/** What can be named, by the kind of the field; nothing until it is known. */
export type Choices = Partial<Record<FieldKind, Choice[]>> & {
  connections: (Choice & { provider: string })[];
  actions: string[];
};

/** What fields that name something of the workspace offer; asked once for the whole page. */
export function useChoices(): Choices {
  const { data } = useQuery({
    queryKey: ['automations', 'choices'],
    staleTime: 60_000,
    queryFn: async () => {
      const orNone = <T>(asked: Promise<T[]>) => asked.catch((): T[] => []);
      const [tag, campaign, pipelines, member, automation, connected, catalog] = await Promise.all([
        orNone(askTags()),
        orNone(
          dataOf(heron.GET('/v1/campaigns', { params: { query: { limit: 100 } } })).then(({ data: rows }) =>
            choicesOf(rows),
          ),
        ),
        orNone(dataOf(heron.GET('/v1/crm/pipelines'))),
        orNone(
          dataOf(heron.GET('/v1/organizations/current/members', { params: { query: { limit: 100 } } })).then(
            ({ data: rows }) => rows.map(({ user_id, email }) => ({ value: user_id, label: email })),
          ),
        ),
        orNone(askAutomations()),
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
        pipeline: choicesOf(pipelines),
        stage: pipelines.flatMap(({ name, stages }) =>
          stages.map((stage) => ({ value: stage.id, label: `${name}: ${stage.name}` })),
        ),
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
