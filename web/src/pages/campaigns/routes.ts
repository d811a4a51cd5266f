import { pagesOf } from '../../app/page-route.ts';

const page = pagesOf('campaigns');

export const campaignsPages = [
  page('/campaigns', () => import('./list.tsx')),
  page('/campaigns/new', () => import('./new.tsx')),
  page('/campaigns/$id', () => import('./page.tsx')),
] as const;
