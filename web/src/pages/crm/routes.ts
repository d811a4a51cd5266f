import { pagesOf } from '../../app/page-route.ts';

const page = pagesOf('crm');

export const crmPages = [
  page('/crm', () => import('./board.tsx')),
  page('/crm/list', () => import('./list.tsx')),
  page('/crm/deals/$id', () => import('./deal.tsx')),
  page('/tasks', () => import('./tasks.tsx')),
] as const;
