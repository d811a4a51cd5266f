import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../app/api.ts';
import { nameOf } from './name.ts';

/** What can be chosen: an id, and what it is called. */
export interface Choice {
  value: string;
  label: string;
  /** Of a stage: the pipeline that it belongs to, and what it is called there. */
  at?: { pipeline: string; pipelineName: string; name: string };
}

/** Things with a name as choices. */
export function choicesOf(rows: readonly { id: string; name: string }[]): Choice[] {
  return rows.map(({ id, name }) => ({ value: id, label: name }));
}

/** The tags of the workspace. */
export async function askTags(): Promise<Choice[]> {
  const { data } = await dataOf(heron.GET('/v1/categories', {}));
  return data.map(({ id, title }) => ({ value: id, label: title }));
}

/** The automations of the workspace. */
export async function askAutomations(): Promise<Choice[]> {
  return choicesOf((await dataOf(heron.GET('/v1/automations', {}))).automations);
}

/** The pipelines of the workspace, and their stages, whose names begin with that of their pipeline. */
export async function askPlaces(): Promise<{ pipeline: Choice[]; stage: Choice[] }> {
  const pipelines = await dataOf(heron.GET('/v1/crm/pipelines'));
  return {
    pipeline: choicesOf(pipelines),
    stage: pipelines.flatMap(({ id, name, stages }) =>
      stages.map((stage) => ({
        value: stage.id,
        label: `${name}: ${stage.name}`,
        at: { pipeline: id, pipelineName: name, name: stage.name },
      })),
    ),
  };
}

/** The members of the workspace, by name. */
export async function askMembers(): Promise<Choice[]> {
  const { data } = await dataOf(heron.GET('/v1/organizations/current/members', { params: { query: { limit: 100 } } }));
  return data.map((member) => ({ value: member.user_id, label: nameOf(member) }));
}

/** The members of the workspace, by name, for as long as the page is open. */
export function useMembers(isWanted = true) {
  return useQuery({ queryKey: ['team', 'members'], queryFn: askMembers, enabled: isWanted, staleTime: 5 * 60_000 });
}

/** The names of the workspace's campaigns, with what they are. */
export function useCampaigns(isWanted = true) {
  return useQuery({
    queryKey: ['campaigns', 'all'],
    queryFn: () => dataOf(heron.GET('/v1/campaigns', { params: { query: { limit: 100 } } })),
    enabled: isWanted,
  });
}
