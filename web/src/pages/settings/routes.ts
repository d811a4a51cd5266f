import { pagesOf } from '../../app/page-route.ts';

const page = pagesOf('settings');

export const settingsPages = [
  page('/settings', () => import('./profile.tsx')),
  page('/settings/workspace', () => import('./workspace.tsx')),
  page('/settings/members', () => import('./members.tsx')),
  page('/settings/roles', () => import('./roles.tsx')),
  page('/settings/teams', () => import('./teams.tsx')),
  page('/settings/labels', () => import('./labels.tsx')),
  page('/settings/templates', () => import('./templates.tsx')),
  page('/settings/outreach', () => import('./outreach.tsx')),
  page('/settings/domains', () => import('./domains.tsx')),
  page('/settings/apps', () => import('./apps.tsx')),
  page('/settings/usage', () => import('./usage.tsx')),
] as const;
