import type { AnswerOf } from '../../app/api.ts';

type Dashboard = AnswerOf<'/v1/analytics/dashboard'>;

/** Sums sends and replies of the last `count` UTC days, including today. */
export function ofLastDays({ daily_trend: days }: Dashboard, count: number): { sent: number; replies: number } {
  const last = days.slice(-count);
  return {
    sent: last.reduce((sum, day) => sum + day.sent, 0),
    replies: last.reduce((sum, day) => sum + day.replies, 0),
  };
}
