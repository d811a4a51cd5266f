import { queryOptions, useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';

/** Interval (ms) of refetching the counts. They cost more than a list, so they are not refetched after every event. */
const FLOW_EVERY_MS = 15_000;

/** Query of one campaign. */
export const campaignQuery = (id: string) =>
  queryOptions({
    queryKey: ['campaigns', id],
    queryFn: () => dataOf(heron.GET('/v1/campaigns/{id}', { params: { path: { id } } })),
  });

/** Query of the steps of a campaign, in order. */
export const stepsQuery = (id: string) =>
  queryOptions({
    queryKey: ['campaigns', id, 'steps'],
    queryFn: () => dataOf(heron.GET('/v1/campaigns/{id}/steps', { params: { path: { id } } })),
  });

/** Query of a campaign's test runs, newest first. */
export const testRunsQuery = (id: string) =>
  queryOptions({
    queryKey: ['campaigns', id, 'test-runs'],
    queryFn: () => dataOf(heron.GET('/v1/campaigns/{id}/test-runs', { params: { path: { id }, query: { limit: 5 } } })),
  });

/** Query of the campaign folders of the workspace, in order. */
export const foldersQuery = queryOptions({
  queryKey: ['folders'],
  queryFn: async () => (await dataOf(heron.GET('/v1/folders'))).data,
});

/** Loads the first leads of a campaign, for email previews and tests. */
export function useLeads(id: string) {
  return useQuery({
    queryKey: ['campaigns', id, 'leads'],
    queryFn: () => dataOf(heron.GET('/v1/campaigns/{id}/leads', { params: { path: { id }, query: { limit: 100 } } })),
  });
}

/** Loads the counts of leads per step; refetched while the campaign runs. */
export function useFlow(id: string, isRunning: boolean) {
  return useQuery({
    queryKey: ['flow', id],
    queryFn: () => dataOf(heron.GET('/v1/campaigns/{id}/flow', { params: { path: { id } } })),
    refetchInterval: isRunning ? FLOW_EVERY_MS : false,
  });
}
