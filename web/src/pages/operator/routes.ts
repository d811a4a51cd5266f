import { pagesOf } from '../../app/page-route.ts';

const page = pagesOf('operator');

export const operatorPages = [
  page('/operations', () => import('./health.tsx')),
  page('/operations/stuck', () => import('./stuck.tsx')),
  page('/operations/webhooks', () => import('./webhooks.tsx')),
  page('/operations/webhooks/$id', () => import('./webhook.tsx')),
  page('/operations/audit', () => import('./audit.tsx')),
  page('/operations/settings', () => import('./settings.tsx')),
] as const;
