import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';

/** The first leads of a campaign: its page lists them, and letters are previewed for the first of them. */
export function useLeads(id: string) {
  return useQuery({
    queryKey: ['campaigns', id, 'leads'],
    queryFn: () => dataOf(heron.GET('/v1/campaigns/{id}/leads', { params: { path: { id }, query: { limit: 100 } } })),
  });
}
