import { pagesOf } from '../../app/page-route.ts';

const page = pagesOf('inbox');

export const inboxPages = [page('/inbox', () => import('./page.tsx'))] as const;
