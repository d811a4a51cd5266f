import { pagesOf } from '../../app/page-route.ts';

const page = pagesOf('reports');

export const reportsPages = [
  page('/reports', () => import('./overview.tsx')),
  page('/reports/people', () => import('./people.tsx')),
  page('/reports/deliverability', () => import('./deliverability.tsx')),
  page('/reports/campaigns', () => import('./campaigns.tsx')),
  page('/reports/attribution', () => import('./attribution.tsx')),
  page('/reports/prospects', () => import('./prospects.tsx')),
  page('/reports/events', () => import('./events.tsx')),
  page('/reports/goals', () => import('./goals.tsx')),
  page('/reports/goals/$id', () => import('./goal.tsx')),
  page('/reports/funnels', () => import('./funnels.tsx')),
] as const;
