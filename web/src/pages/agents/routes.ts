import { pagesOf } from '../../app/page-route.ts';

const page = pagesOf('agents');

export const agentsPages = [
  page('/agents', () => import('./runs.tsx')),
  page('/agents/runs/$id', () => import('./run.tsx')),
  page('/agents/policies', () => import('./policies.tsx')),
  page('/agents/keys', () => import('./keys.tsx')),
  page('/agents/keys/$id', () => import('./key.tsx')),
  page('/agents/applications', () => import('./applications.tsx')),
  page('/agents/applications/$id', () => import('./application.tsx')),
  page('/agents/events', () => import('./events.tsx')),
  page('/agents/connect', () => import('./connect.tsx')),
] as const;
