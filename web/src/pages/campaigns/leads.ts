import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';

/** Loads the first leads of a campaign, for its list and for email previews. */
export function useLeads(id: string) {
  return useQuery({
    queryKey: ['campaigns', id, 'leads'],
    queryFn: () => dataOf(heron.GET('/v1/campaigns/{id}/leads', { params: { path: { id }, query: { limit: 100 } } })),
  });
}
