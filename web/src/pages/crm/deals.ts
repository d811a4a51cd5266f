import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, queryClient, type AnswerOf, type BodyOf, type RowOf } from '../../app/api.ts';

export type Pipeline = AnswerOf<'/v1/crm/pipelines'>[number];
export type Stage = Pipeline['stages'][number];
export type Deal = RowOf<'/v1/crm/deals'>;
export type Task = RowOf<'/v1/crm/tasks'>;
export type TaskFilters = BodyOf<'/v1/crm/tasks/search', 'post'>;

/** Priorities of tasks, the lowest first. */
export const PRIORITIES = ['low', 'medium', 'high', 'urgent'] as const;

/** Returns true if nothing is left to do for a task. */
export const isDone = ({ status }: Pick<Task, 'status'>) => status === 'completed' || status === 'cancelled';

/** Loads all pipelines with their stages. */
export function usePipelines() {
  return useQuery({ queryKey: ['deals', 'pipelines'], queryFn: () => dataOf(heron.GET('/v1/crm/pipelines')) });
}

/** Sums the values of deals per currency. Deals without a value are ignored. */
export function sums(deals: readonly Pick<Deal, 'value' | 'currency'>[]): [currency: string, value: number][] {
  const totals = new Map<string, number>();
  for (const { value, currency } of deals)
    if (value !== null) totals.set(currency, (totals.get(currency) ?? 0) + value);
  return [...totals].toSorted(([a], [b]) => a.localeCompare(b));
}

/** Query of the board: the 200 most recently changed open deals of a pipeline. */
export const boardQuery = (pipelineId: string) => ({
  queryKey: ['deals', 'board', pipelineId] as const,
  queryFn: () =>
    dataOf(
      heron.POST('/v1/crm/deals/search', {
        params: { query: { limit: 200 } },
        body: { pipeline_ids: [pipelineId], statuses: ['open'], sort_by: 'updated_at' },
      }),
    ),
});

type Board = Awaited<ReturnType<ReturnType<typeof boardQuery>['queryFn']>>;

/**
 * Moves a deal on the board immediately, and then through the API. Reverts the board if the API refuses.
 * @throws HeronError
 */
export async function moveDeal(pipelineId: string, dealId: string, stage: Stage): Promise<void> {
  const { queryKey } = boardQuery(pipelineId);
  await queryClient.cancelQueries({ queryKey });
  const before = queryClient.getQueryData<Board>(queryKey);
  queryClient.setQueryData<Board>(
    queryKey,
    (board) =>
      board && {
        ...board,
        data: board.data.map((deal) => (deal.id === dealId ? { ...deal, stage_id: stage.id, stage } : deal)),
      },
  );
  try {
    await dataOf(heron.PATCH('/v1/crm/deals/{id}', { params: { path: { id: dealId } }, body: { stage_id: stage.id } }));
  } catch (error) {
    queryClient.setQueryData(queryKey, before);
    throw error;
  } finally {
    void queryClient.invalidateQueries({ queryKey: ['deals'] });
  }
}
