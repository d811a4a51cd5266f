import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../app/api.ts';
import { nameOf } from './name.ts';

/** Option of a select: an id and its label. */
export interface Choice {
  value: string;
  label: string;
  /** Only for a stage: its pipeline, and the name of the stage without the name of the pipeline. */
  at?: { pipeline: string; pipelineName: string; name: string };
}

/** Converts rows with names to options. */
export function choicesOf(rows: readonly { id: string; name: string }[]): Choice[] {
  return rows.map(({ id, name }) => ({ value: id, label: name }));
}

/** Fetches the tags of the workspace. */
export async function fetchTags(): Promise<Choice[]> {
  const { data } = await dataOf(heron.GET('/v1/categories', {}));
  return data.map(({ id, title }) => ({ value: id, label: title }));
}

/** Returns the tags of the workspace as options. They are fetched once, when `isWanted` is first true. */
export function useTags(isWanted: boolean) {
  return useQuery({ queryKey: ['choices', 'tags'], queryFn: fetchTags, enabled: isWanted });
}

/** Fetches the automations of the workspace. */
export async function fetchAutomations(): Promise<Choice[]> {
  return choicesOf((await dataOf(heron.GET('/v1/automations', {}))).automations);
}

/** Fetches the pipelines of the workspace and their stages, whose labels begin with the pipeline's name. */
export async function fetchStages(): Promise<{ pipeline: Choice[]; stage: Choice[] }> {
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

/** Fetches the members of the workspace as options, sorted by name. */
export async function fetchMembers(): Promise<Choice[]> {
  const { data } = await dataOf(heron.GET('/v1/organizations/current/members', { params: { query: { limit: 100 } } }));
  return data.map((member) => ({ value: member.user_id, label: nameOf(member) }));
}

/** Returns the members of the workspace by name, cached while the page is open. */
export function useMembers(isWanted = true) {
  return useQuery({ queryKey: ['team', 'members'], queryFn: fetchMembers, enabled: isWanted, staleTime: 5 * 60_000 });
}

/** Returns the campaigns of the workspace by name, with their status. */
export function useCampaigns(isWanted = true) {
  return useQuery({
    queryKey: ['campaigns', 'all'],
    queryFn: () => dataOf(heron.GET('/v1/campaigns', { params: { query: { limit: 100 } } })),
    enabled: isWanted,
  });
}
