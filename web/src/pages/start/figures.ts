import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';

type Dashboard = AnswerOf<'/v1/analytics/dashboard'>;

/** Loads the figures of the workspace's last ninety days, once for all parts of the first page. */
export function useFigures() {
  return useQuery({
    queryKey: ['checklist', 'figures'],
    queryFn: () => dataOf(heron.GET('/v1/analytics/dashboard', { params: { query: { period: '90d' } } })),
    enabled: useCan('view_analytics'),
  });
}

/** Sums sends and replies of the last `count` UTC days, including today. */
export function ofLastDays({ daily_trend: days }: Dashboard, count: number): { sent: number; replies: number } {
  const last = days.slice(-count);
  return {
    sent: last.reduce((sum, day) => sum + day.sent, 0),
    replies: last.reduce((sum, day) => sum + day.replies, 0),
  };
}
