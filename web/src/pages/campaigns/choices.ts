import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, queryClient } from '../../app/api.ts';
import {
  fetchAutomations,
  fetchMembers,
  fetchStages,
  fetchTags,
  choicesOf,
  type Choice,
} from '../../components/choices.ts';
import { text } from '../../text/index.ts';
import { textIn, typeOf, type Action, type Step } from './flow.ts';

/** Fetches pipelines and stages once for both. */
const fetchPlaces = () =>
  queryClient.fetchQuery({ queryKey: ['choices', 'places'], queryFn: fetchStages, staleTime: 60_000 });

/** Queries of the records that steps refer to, by kind. */
const ASK = {
  tags: fetchTags,
  automations: fetchAutomations,
  pipelines: async () => (await fetchPlaces()).pipeline,
  stages: async () => (await fetchPlaces()).stage,
  members: fetchMembers,
  apps: async () => choicesOf((await dataOf(heron.GET('/v1/app-connections', {}))).data),
} satisfies Record<string, () => Promise<Choice[]>>;
export type Choices = keyof typeof ASK;

/** Actions that refer to a record, each with the kind of the record and the field that contains its id. */
const NAMED: Partial<Record<string, [Choices, string]>> = {
  add_tag: ['tags', 'category_id'],
  remove_tag: ['tags', 'category_id'],
  create_deal: ['stages', 'stage_id'],
  move_deal_stage: ['stages', 'stage_id'],
  run_automation: ['automations', 'automation_id'],
  app_action: ['apps', 'app_connection_id'],
};

/** Loads the options of a kind once, when they are needed. */
export function useChoices(of: Choices, isWanted = true) {
  return useQuery<Choice[]>({ queryKey: ['choices', of], queryFn: ASK[of], enabled: isWanted, staleTime: 60_000 });
}

/** Returns the name of the record that a step refers to; empty for other steps and until it is loaded. */
export function useChosenName(step: Pick<Step, 'kind' | 'action'>): string {
  const [of, field] = NAMED[typeOf(step)] ?? [];
  const id = field ? textIn(step.action as Action, field) : '';
  const { data } = useChoices(of ?? 'tags', id !== '');
  if (of && id === '') return text('sequence.notChosen');
  return data?.find(({ value }) => value === id)?.label ?? '';
}
