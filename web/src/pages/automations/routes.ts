import { pagesOf } from '../../app/page-route.ts';

const page = pagesOf('automations');

export const automationsPages = [
  page('/automations', () => import('./list.tsx')),
  page('/automations/$id', () => import('./page.tsx')),
] as const;
