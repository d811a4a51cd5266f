import { pagesOf } from '../../app/page-route.ts';

const page = pagesOf('start');

export const startPages = [page('/', () => import('./page.tsx'))] as const;
