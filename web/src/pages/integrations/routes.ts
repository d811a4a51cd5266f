import { pagesOf } from '../../app/page-route.ts';

const page = pagesOf('integrations');

export const integrationsPages = [
  page('/integrations', () => import('./list.tsx')),
  page('/integrations/$id', () => import('./connection.tsx')),
] as const;
