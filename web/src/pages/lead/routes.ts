import { pagesOf } from '../../app/page-route.ts';

const page = pagesOf('lead');

export const leadPages = [page('/campaigns/$id/leads/$contactId', () => import('./page.tsx'))] as const;
